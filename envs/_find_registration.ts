import { closest } from "fastest-levenshtein";
import type { EnvRegistration, EnvRegistry } from "./registration.ts";

const versionOf = (id: string): number => Number(id.match(/-v(\d+)$/)?.[1]);

function nearest(id: string, ids: readonly string[]): string {
  // Of names that are as near, the first is taken: the newest version.
  const newest = [...ids].sort((a, b) => versionOf(b) - versionOf(a));
  const lower = newest.map((it) => it.toLowerCase());
  return newest[lower.indexOf(closest(id.toLowerCase(), lower))];
}

/** The registration of an id, or an error with what could have been meant. */
export function findRegistration(
  id: string,
  registry: EnvRegistry,
): EnvRegistration {
  const found = registry.get(id);
  if (found !== undefined) return found;
  throw unknownEnvironment(id, [...registry.keys()]);
}

/** The error of an unknown id, with what could have been meant among others. */
export function unknownEnvironment(
  id: string,
  ids: readonly string[],
): RangeError {
  if (ids.length === 0) {
    return new RangeError(`Unknown environment '${id}': none is registered`);
  }
  const lower = id.toLowerCase();
  const exact = ids.find((it) => it.toLowerCase() === lower);
  const name = lower.replace(/-v\d*$/, "");
  const versions = exact !== undefined ? [] : ids
    .filter((it) => it.toLowerCase().replace(/-v\d+$/, "") === name)
    .sort((a, b) => versionOf(a) - versionOf(b));
  const guess = exact ?? versions.at(-1) ?? nearest(id, ids);
  const others = versions.length > 1 ? ` There are ${versions.join(", ")}` : "";
  return new RangeError(
    `Unknown environment '${id}': did you mean '${guess}'?${others}`,
  );
}
