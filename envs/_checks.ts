import { hintAt } from "@bellman/files/options";
import { countCopies } from "./spaces/_action_rows.ts";

/** Throws that the action cannot be done, unless the number is whole and so large. */
export function checkWhole(n: number, least: number, action: string): void {
  if (Number.isInteger(n) && n >= least) return;
  throw new RangeError(
    `Cannot ${action}: expected a whole number of at least ${least}`,
  );
}

/** Checks the index of a world of a game, or of one of its seats. */
export function checkIndex(
  name: string,
  what: "world" | "seat",
  { index, count }: { index: number; count: number },
): void {
  if (Number.isInteger(index) && index >= 0 && index < count) return;
  throw new RangeError(
    `Cannot find ${what} ${index} of ${name}: expected a whole number from 0 to ${
      count - 1
    }`,
  );
}

/** Checks the number of environments to make. */
export function checkNumEnvs(id: string, numEnvs: number): void {
  checkWhole(numEnvs, 1, `make ${numEnvs} copies of ${id}`);
}

/** Checks the number of environments in a snapshot. */
export function checkSavedEnvs(numEnvs: number, saved: number): void {
  if (saved === numEnvs) return;
  throw new RangeError(
    `Cannot restore ${countCopies(numEnvs)} from a snapshot of ${saved}`,
  );
}

/** Checks the number of steps after which episodes are truncated. */
export function checkStepLimit(maxEpisodeSteps: number): void {
  if (maxEpisodeSteps === Infinity) return;
  checkWhole(maxEpisodeSteps, 1, `limit episodes to ${maxEpisodeSteps} steps`);
}

/** Checks the size of a picture to draw. */
export function checkPictureSize(
  width: number,
  height: number,
  most: number,
): void {
  for (const size of [width, height]) {
    if (Number.isInteger(size) && size >= 1 && size <= most) continue;
    throw new RangeError(
      `Cannot draw a picture of ${width} by ${height} pixels: expected whole numbers from 1 to ${most}`,
    );
  }
}

const versionOf = (id: string): number => Number(id.match(/-v(\d+)$/)?.[1]);

/** Makes the error of an unknown id, with the nearest one. */
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
  // A name may lack its group, as Pong that of ALE/Pong-v5.
  const versions = exact !== undefined ? [] : ids.filter((it) => {
    const named = it.toLowerCase().replace(/-v\d+$/, "");
    return named === name || named.endsWith(`/${name}`);
  }).sort((a, b) =>
    // Of equal versions, one without a group comes last.
    versionOf(a) - versionOf(b) || +b.includes("/") - +a.includes("/")
  );
  const known = exact ?? versions.at(-1);
  // Of names that are as near, the first is taken: the newest version.
  const hint = known === undefined
    ? hintAt(id, [...ids].sort((a, b) => versionOf(b) - versionOf(a)))
    : `did you mean '${known}'?`;
  const others = versions.length > 1 ? ` There are ${versions.join(", ")}` : "";
  return new RangeError(`Unknown environment '${id}': ${hint}${others}`);
}
