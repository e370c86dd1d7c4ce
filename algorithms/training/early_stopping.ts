import { type Callback, stop } from "./callback.ts";

/** Options of {@link stopOnNoImprovement}. */
export interface NoImprovementOptions {
  /**
   * Evaluations without an improvement after which to stop.
   *
   * @default 5
   */
  patience?: number;
  /**
   * How much higher than the best one a mean return must be to count, in units of return.
   *
   * @default 0
   */
  minDelta?: number;
}

/**
 * Ends training when an evaluation's mean return reaches a threshold.
 *
 * @param threshold The mean return that is enough.
 * @returns A callback for {@link train}.
 *
 * @example
 * ```ts
 * import { stopOnRewardThreshold, summarizeEpisodes } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const callback = stopOnRewardThreshold(475);
 * const ask = (value: number) =>
 *   callback.onEvaluation!({} as never, summarizeEpisodes([value], [1]));
 * assertEquals(ask(474), undefined);
 * assertEquals(ask(475), { action: "stop", reason: "mean return 475 reached 475" });
 * ```
 */
export function stopOnRewardThreshold(threshold: number): Callback {
  return {
    name: "reward threshold",
    onEvaluation: (_context, { meanReturn }) =>
      meanReturn >= threshold
        ? stop(`mean return ${short(meanReturn)} reached ${threshold}`)
        : undefined,
  };
}

/**
 * Ends training when evaluations no longer improve. The count goes on over a
 * resume.
 *
 * @param options Patience and smallest improvement.
 * @returns A callback for {@link train}.
 * @throws {RangeError} When the patience is not a whole number of at least 1.
 *
 * @example
 * ```ts
 * import { stopOnNoImprovement, summarizeEpisodes } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const callback = stopOnNoImprovement({ patience: 2 });
 * const ask = (value: number) =>
 *   callback.onEvaluation!({} as never, summarizeEpisodes([value], [1]));
 * assertEquals([ask(10), ask(9)], [undefined, undefined]);
 * assertEquals(ask(10), {
 *   action: "stop",
 *   reason: "no improvement over 10 in 2 evaluations",
 * });
 * ```
 */
export function stopOnNoImprovement(
  options: NoImprovementOptions = {},
): Callback {
  const { patience = 5, minDelta = 0 } = options;
  if (!Number.isInteger(patience) || patience < 1) {
    throw new RangeError(
      `Cannot stop with patience ${patience}: it must be a whole number of at least 1`,
    );
  }
  let best = -Infinity;
  let misses = 0;
  return {
    name: "no improvement",
    onEvaluation(_context, { meanReturn }) {
      if (meanReturn > best + (best === -Infinity ? 0 : minDelta)) {
        best = meanReturn;
        misses = 0;
      } else if (++misses >= patience) {
        return stop(
          `no improvement over ${short(best)} in ${misses} evaluations`,
        );
      }
    },
    save: () => ({ best, misses }),
    load(state) {
      ({ best, misses } = state as { best: number; misses: number });
    },
  };
}

/**
 * Ends training after a time, that before a resume included.
 *
 * @param seconds How long, in seconds.
 * @returns A callback for {@link train}.
 *
 * @example
 * ```ts
 * import { stopAfterSeconds, type TrainContext } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const callback = stopAfterSeconds(60);
 * const ask = (elapsedSeconds: number) =>
 *   callback.onStep!({ elapsedSeconds } as TrainContext, {} as never);
 * assertEquals(ask(59), undefined);
 * assertEquals(ask(60), { action: "stop", reason: "60 seconds are over" });
 * ```
 */
export function stopAfterSeconds(seconds: number): Callback {
  return {
    name: "time limit",
    onStep: ({ elapsedSeconds }) =>
      elapsedSeconds >= seconds
        ? stop(`${seconds} seconds are over`)
        : undefined,
  };
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}
