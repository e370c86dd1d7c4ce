/** How much later than asked a wait may end, in milliseconds. */
const LATE_MS = 1_000;

/**
 * How long this process itself stood still during a wait, as when it is stopped
 * or its machine is: nobody could have answered then.
 */
export function stoodStill(
  { since, timeoutMs }: { since: number; timeoutMs: number },
): number {
  const late = performance.now() - since - timeoutMs;
  return late > LATE_MS ? late : 0;
}
