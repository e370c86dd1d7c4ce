import { closest } from "fastest-levenshtein";
import type { EnvRegistration, EnvRegistry } from "./registration.ts";

const versionOf = (id: string): number => Number(id.match(/-v(\d+)$/)?.[1]);

function nearest(id: string, ids: string[]): string {
  const lower = ids.map((it) => it.toLowerCase());
  return ids[lower.indexOf(closest(id.toLowerCase(), lower))];
}

/** The registration of an id, or an error with what could have been meant. */
export function findRegistration(
  id: string,
  registry: EnvRegistry,
): EnvRegistration {
  const found = registry.get(id);
  if (found !== undefined) return found;
  const ids = [...registry.keys()];
  if (ids.length === 0) {
    throw new RangeError(`Unknown environment '${id}': none is registered`);
  }
  const name = id.replace(/-v\d*$/, "");
  const versions = ids.filter((it) => it.replace(/-v\d+$/, "") === name)
    .sort((a, b) => versionOf(a) - versionOf(b));
  const guess = versions.at(-1) ?? nearest(id, ids);
  const others = versions.length > 1 ? ` There are ${versions.join(", ")}` : "";
  throw new RangeError(
    `Unknown environment '${id}': did you mean '${guess}'?${others}`,
  );
}
