// deno-lint-ignore-file no-console -- for programs that print
import type { SteppingAlgorithm } from "@bellman/types";

/**
 * Steps a second of a loop in one program, the median of all calls but the first,
 * which compiles.
 */
export function medianRate(
  agent: Pick<SteppingAlgorithm, "advance">,
  { repeats }: { repeats: number },
): number {
  const rates: number[] = [];
  for (let i = 0; i < repeats; i++) {
    const started = performance.now();
    const { steps, episodes } = agent.advance();
    rates.push(steps / ((performance.now() - started) / 1000));
    const length = Math.round(steps / Math.max(1, episodes.length));
    console.log(`${steps} steps, ${length} to an episode`);
  }
  const [, ...warm] = rates;
  return warm.toSorted((a, b) => a - b)[Math.floor(warm.length / 2)];
}
