import type { GroupRange } from "./group_hosts.ts";

/**
 * Divides copies among groups as evenly as possible, in their order; the first
 * groups have one more where it does not come out even.
 *
 * @param numEnvs How many copies.
 * @param groups How many groups.
 * @returns The copies of each group.
 * @throws {RangeError} If one is not a whole number of at least 1, or there are
 * more groups than copies.
 * @example
 * ```ts
 * import { splitCopies } from "@bellman/envs/workers";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(splitCopies(5, 2), [
 *   { first: 0, numEnvs: 3 },
 *   { first: 3, numEnvs: 2 },
 * ]);
 * ```
 */
export function splitCopies(numEnvs: number, groups: number): GroupRange[] {
  for (const [count, what] of [[numEnvs, "copies"], [groups, "groups"]]) {
    if (Number.isSafeInteger(count) && count as number >= 1) continue;
    throw new RangeError(
      `Cannot host ${count} ${what}: expected a whole number of at least 1`,
    );
  }
  if (groups > numEnvs) {
    throw new RangeError(
      `Cannot host ${numEnvs} copies in ${groups} groups: expected at most one group a copy`,
    );
  }
  return Array.from({ length: groups }, (_, group) => {
    const first = Math.ceil(group * numEnvs / groups);
    const end = Math.ceil((group + 1) * numEnvs / groups);
    return { first, numEnvs: end - first };
  });
}
