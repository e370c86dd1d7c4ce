import type { GroupHosts } from "./group_hosts.ts";

/** Usual delay of the end of a wait, in milliseconds. */
export const LATE_MS = 1_000;

/**
 * Computes how long this process itself stood still during a wait, as when it
 * is stopped or its machine is: nobody could have answered then.
 */
export function stoodStill(
  { since, timeoutMs }: { since: number; timeoutMs: number },
): number {
  const late = performance.now() - since - timeoutMs;
  return late > LATE_MS ? late : 0;
}

/** Waits until groups are ready or silent for a time. */
export function waitForAll(
  hosts: GroupHosts,
  groups: readonly number[],
  timeoutMs: number,
): void {
  const count = groups.length;
  for (;;) {
    const since = performance.now();
    const ready = hosts.waitFor(groups, { count, timeoutMs });
    if (ready.length === count) return;
    if (stoodStill({ since, timeoutMs }) === 0) return;
  }
}

/** Throws unless an option is a whole number of at least `least`, or infinite. */
export function checkCount(name: string, value: number, least: number): void {
  if (value === Infinity || Number.isSafeInteger(value) && value >= least) {
    return;
  }
  throw new RangeError(
    `Cannot host environments with ${name} ${value}: expected a whole number of at least ${least}`,
  );
}
