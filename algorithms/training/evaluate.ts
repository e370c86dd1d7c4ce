import type { Actor, VecEnv } from "@bellman/types";
import { EpisodeTracker, mean } from "./episodes.ts";
import { EventLoopBreak } from "./event_loop.ts";
import { checkObservations, checkStep } from "./checks.ts";

/** Options of {@link evaluate}. */
export interface EvaluateOptions {
  /**
   * Number of episodes, exactly.
   *
   * @default 10
   */
  episodes?: number;
  /**
   * Seed of the environment's reset.
   *
   * @default the environment's own
   */
  seed?: number;
  /** Ends the evaluation with an `AbortError` when aborted. */
  signal?: AbortSignal;
}

/** Seeds of a run's evaluations, as {@link evaluationSeeds} gives them. */
export interface EvaluationSeeds {
  /** Evaluations during training: the same episodes each time. */
  readonly during: number;
  /** Evaluation at the end, of the policy that those chose. */
  readonly final: number;
  /** Episodes that are played later with the trained policy. */
  readonly later: number;
}

/**
 * Gives the seeds of a run's evaluations: 10,000 during training, 20,000 at the
 * end, 30,000 later, and one more where training has that number. No two are
 * the same, and none is training's, so a policy is never evaluated on episodes
 * that it learned from or was chosen by.
 *
 * @param seed Seed of the training environment.
 * @returns Three seeds.
 *
 * @example
 * ```ts
 * import { evaluationSeeds } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const usual = { during: 10_000, final: 20_000, later: 30_000 };
 * assertEquals(evaluationSeeds(7), usual);
 * assertEquals(evaluationSeeds(20_000), { ...usual, final: 20_001 });
 * ```
 */
export function evaluationSeeds(seed: number): EvaluationSeeds {
  const other = (base: number) => base === seed ? base + 1 : base;
  return { during: other(10_000), final: other(20_000), later: other(30_000) };
}

/** Returns and lengths of evaluation episodes, with their summary. */
export interface EvaluationResult {
  /** Return of each episode, ordered by environment, then by time. */
  readonly returns: readonly number[];
  /** Length of each episode in steps, in the same order. */
  readonly lengths: readonly number[];
  /** Mean of the returns. */
  readonly meanReturn: number;
  /** Standard deviation of the returns (of the population). */
  readonly stdReturn: number;
  /** Lowest return. */
  readonly minReturn: number;
  /** Highest return. */
  readonly maxReturn: number;
  /** Median of the returns. */
  readonly medianReturn: number;
  /** Mean of the lengths. */
  readonly meanLength: number;
}

/** Times that an environment may be lost in an evaluation. */
const MOST_LOSSES = 5;

function lostTooOften(copy: number): Error {
  return new Error(
    `Cannot evaluate in copy ${copy} of the environment: its host failed over the same episodes ${
      MOST_LOSSES + 1
    } times`,
  );
}

/**
 * Runs an actor for an exact number of episodes.
 *
 * Each of the environments has a fixed quota of episodes; what it does beyond is
 * not counted. Taking the first episodes to end, of whichever environment, would
 * favour short ones.
 *
 * An environment that is lost over its episodes, as its host crashed or hung,
 * plays all of them again from its seed: where actions are deterministic, the result is that of
 * an evaluation in which nothing fails.
 *
 * @param actor Chooses the actions.
 * @param env The environment; it is reset first and not closed.
 * @param options Number of episodes, seed, abort signal.
 * @returns Returns, lengths and their summary.
 * @throws {RangeError} When `episodes` is not a whole number of at least 1.
 * @throws {Error} When an environment is lost for the sixth time.
 *
 * @example
 * ```ts
 * import { evaluate } from "@bellman/training";
 * import type { VecEnv } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * // Each step gives a reward of 1 and ends the episode.
 * const env: VecEnv = {
 *   numEnvs: 1,
 *   observationSpace: { type: "multiBinary", n: 1 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   reset: () => new Float32Array(1),
 *   step: () => ({
 *     observations: new Float32Array(1),
 *     finalObservations: new Float32Array(1),
 *     rewards: new Float64Array([1]),
 *     terminated: new Uint8Array([1]),
 *     truncated: new Uint8Array([0]),
 *   }),
 *   save: () => null,
 *   load: () => {},
 *   observations: () => new Float32Array(1),
 *   close: () => {},
 * };
 * const actor = { act: () => new Int32Array(1) };
 * const result = await evaluate(actor, env, { episodes: 3 });
 * assertEquals(result.returns, [1, 1, 1]);
 * assertEquals(result.meanReturn, 1);
 * ```
 */
export async function evaluate(
  actor: Actor,
  env: VecEnv,
  options: EvaluateOptions = {},
): Promise<EvaluationResult> {
  const { episodes = 10, seed, signal } = options;
  if (!Number.isInteger(episodes) || episodes < 1) {
    throw new RangeError(
      `Cannot evaluate ${episodes} episodes: the number must be a whole number of at least 1`,
    );
  }
  const quotas = Array.from(
    { length: env.numEnvs },
    (_, i) =>
      Math.floor(episodes / env.numEnvs) + +(i < episodes % env.numEnvs),
  );
  const perEnv = quotas.map(() => [] as { return: number; length: number }[]);
  const tracker = new EpisodeTracker(env.numEnvs);
  const turn = new EventLoopBreak();
  let remaining = episodes;
  const { numEnvs } = env;
  const losses = new Uint8Array(numEnvs);
  let steps = 0;
  let observations = env.reset(
    seed === undefined ? undefined : { seed, keepSeeds: true },
  );
  checkObservations(observations, { numEnvs, step: 0 });
  while (remaining > 0) {
    signal?.throwIfAborted();
    const acting = actor.act(observations);
    const step = env.step(acting instanceof Promise ? await acting : acting);
    checkStep(step, { numEnvs, step: steps += numEnvs });
    actor.observe?.(step);
    observations = step.observations;
    for (const episode of tracker.observe(step)) {
      if (perEnv[episode.env].length === quotas[episode.env]) continue;
      if (step.lost?.includes(episode.env)) continue;
      perEnv[episode.env].push(episode);
      remaining--;
    }
    for (const copy of step.lost ?? []) {
      if (perEnv[copy].length === quotas[copy]) continue;
      if (++losses[copy] > MOST_LOSSES) throw lostTooOften(copy);
      // It begins with its seed again, and so with its first episode.
      remaining += perEnv[copy].length;
      perEnv[copy] = [];
    }
    if (turn.due()) await turn.take();
  }
  const ended = perEnv.flat();
  return summarizeEpisodes(
    ended.map((episode) => episode.return),
    ended.map((episode) => episode.length),
  );
}

/**
 * Summarizes episodes by their returns and lengths.
 *
 * @param returns Return of each episode.
 * @param lengths Length of each episode.
 * @returns Both with their summary; NaN for the summary of no episode.
 *
 * @example
 * ```ts
 * import { summarizeEpisodes } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const result = summarizeEpisodes([1, 3, 8], [10, 20, 30]);
 * assertEquals(result.meanReturn, 4);
 * assertEquals(result.medianReturn, 3);
 * assertEquals(result.meanLength, 20);
 * ```
 */
export function summarizeEpisodes(
  returns: readonly number[],
  lengths: readonly number[],
): EvaluationResult {
  const sorted = [...returns].sort((a, b) => a - b);
  const meanReturn = mean(returns);
  const middle = (sorted.length - 1) / 2;
  return {
    returns,
    lengths,
    meanReturn,
    stdReturn: Math.sqrt(mean(returns.map((x) => (x - meanReturn) ** 2))),
    minReturn: sorted[0] ?? NaN,
    maxReturn: sorted[sorted.length - 1] ?? NaN,
    medianReturn: sorted.length === 0
      ? NaN
      : (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2,
    meanLength: mean(lengths),
  };
}
