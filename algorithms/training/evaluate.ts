import { refuseUnknown } from "@bellman/files/options";
import type {
  Actor,
  EpisodeStatistics,
  VecEnv,
  VecResetOptions,
  VecStep,
} from "@bellman/types";
import { checkFree, checkVecEnv, mean } from "./episodes.ts";
import { EventLoopBreak } from "./event_loop.ts";
import { checkObservations, checkStep } from "@bellman/envs/checks";

/** Options of {@link evaluate}. */
export interface EvaluateOptions {
  /**
   * Number of episodes.
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
  /**
   * Step limit: longer episodes are cut, and counted in the result.
   *
   * @default the environment's limit, or 10,000 if it has none
   */
  maxSteps?: number;
  /** Aborts the evaluation with an `AbortError`. */
  signal?: AbortSignal;
}

const OPTIONS: readonly (keyof EvaluateOptions)[] = [
  ...["episodes", "seed", "maxSteps", "signal"] as const,
];

/** Seeds of a run's evaluations, by {@link evaluationSeeds}. */
export interface EvaluationSeeds {
  /** Seed of evaluations during training: the same episodes each time. */
  readonly during: number;
  /** Seed of the final evaluation, of the policy that those selected. */
  readonly final: number;
  /** Seed of later episodes with the trained policy. */
  readonly later: number;
}

/**
 * Returns the seeds of a run's evaluations: 10,000 during training, 20,000 for the
 * final one, 30,000 later, and one more if training has that seed. All differ from each
 * other and from training's, so a policy is never evaluated on episodes that it learned
 * from or was selected by.
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

/** Returns and lengths of evaluation episodes, with summary statistics. */
export interface EvaluationResult {
  /**
   * Return of each episode, ordered by environment, then by time: as the environment
   * recorded it; for cut episodes the sum of the rewards, which wrappers may have
   * clipped or scaled.
   */
  readonly returns: readonly number[];
  /** Length of each episode in steps, in the same order. */
  readonly lengths: readonly number[];
  /**
   * Number of episodes that the step limit cut: neither terminated nor truncated by the
   * environment.
   */
  readonly cut: number;
  /** Mean of the returns. */
  readonly meanReturn: number;
  /** (Population) standard deviation of the returns. */
  readonly stdReturn: number;
  /** Lowest return. */
  readonly minReturn: number;
  /** Highest return. */
  readonly maxReturn: number;
  /** Median of the returns. */
  readonly medianReturn: number;
  /** Mean of the lengths. */
  readonly meanLength: number;
  /**
   * Success rate: mean of `is_success` of `info` at the ends of episodes that report
   * it.
   *
   * @default no episode does
   */
  readonly successRate?: number;
}

/** Step limit of episodes if the environment has none. */
const DEFAULT_MAX_STEPS = 10_000;

/**
 * Returns the default step limit of evaluation episodes: a greedy policy may walk in a
 * circle forever if the environment has no limit. It does not depend on the policy, so
 * that scores within a run are comparable.
 *
 * @param env Environment.
 * @returns The environment's limit, or 10,000.
 *
 * @example
 * ```ts
 * import { evaluationBound } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(evaluationBound({}), 10_000);
 * const spec = { id: "CartPole-v1", maxEpisodeSteps: 500 };
 * assertEquals(evaluationBound({ spec }), 500);
 * ```
 */
export function evaluationBound({ spec }: Pick<VecEnv, "spec">): number {
  const { maxEpisodeSteps = Infinity } = spec ?? {};
  return maxEpisodeSteps === Infinity ? DEFAULT_MAX_STEPS : maxEpisodeSteps;
}

/** Number of times that an environment may crash in an evaluation. */
const MOST_LOSSES = 5;

/** Finished episode of the evaluation. */
interface Played
  extends Pick<EpisodeStatistics, "return" | "length" | "infoStatistics"> {
  readonly isCut: boolean;
}

/** One environment of an evaluation, with its fixed quota of episodes. */
class EvaluatedEnv {
  readonly #quota: number;
  readonly #maxSteps: number;
  readonly #index: number;
  played: Played[] = [];
  #losses = 0;
  #return = 0;
  #length = 0;
  /** True after its episode was cut, until that ends or the environment is reset. */
  #waits = false;

  constructor(
    index: number,
    { quota, maxSteps }: { quota: number; maxSteps: number },
  ) {
    this.#index = index;
    this.#quota = quota;
    this.#maxSteps = maxSteps;
  }

  get isDone(): boolean {
    return this.played.length === this.#quota;
  }

  get isPlaying(): boolean {
    return !this.isDone && !this.#waits;
  }

  begin(): void {
    this.#return = this.#length = 0;
    this.#waits = false;
  }

  step(reward: number): void {
    this.#return += reward;
    this.#length++;
  }

  /** Ends the episode, with the environment's record or else its own sums. */
  end(
    recorded: Omit<Played, "isCut"> = {
      return: this.#return,
      length: this.#length,
    },
  ): void {
    this.#add({ ...recorded, isCut: false });
    this.begin();
  }

  /** Cuts the episode if it goes on after the step limit. */
  bound(): void {
    if (this.#length < this.#maxSteps) return;
    this.#add({ return: this.#return, length: this.#length, isCut: true });
    this.#waits = true;
  }

  #add(episode: Played): void {
    if (this.isPlaying) this.played.push(episode);
  }

  /** The environment restarts from its seed, and so with its first episode. */
  lose(): void {
    if (this.isDone) return;
    if (++this.#losses > MOST_LOSSES) {
      throw new Error(
        `Cannot evaluate in environment ${this.#index}: its host failed over the same episodes ${
          MOST_LOSSES + 1
        } times`,
      );
    }
    this.played = [];
    this.begin();
  }
}

/** Adds a step of all environments; returns true while one of them has episodes left. */
function observe(
  envs: readonly EvaluatedEnv[],
  { rewards, terminated, truncated, episodes, lost }: VecStep,
): boolean {
  for (let i = 0; i < envs.length; i++) {
    envs[i].step(rewards[i]);
    if (lost?.includes(i)) envs[i].lose();
    else if (episodes === undefined && (terminated[i] || truncated[i])) {
      envs[i].end();
    }
  }
  for (const episode of episodes ?? []) {
    if (!lost?.includes(episode.env)) envs[episode.env].end(episode);
  }
  let arePlaying = false;
  for (const evaluated of envs) {
    evaluated.bound();
    arePlaying ||= evaluated.isPlaying;
  }
  return arePlaying;
}

/**
 * Evaluates an actor over an exact number of episodes.
 *
 * Each environment has a fixed quota of episodes; further ones are not counted. Taking
 * the episodes that end first would favour short ones.
 *
 * An episode longer than `maxSteps` is cut. Its environment's next one begins when it
 * ends after all, or when all other environments are done: then all are reset.
 *
 * An environment that crashed or hung replays all its episodes from its seed: with
 * deterministic actions the result is the same as without the crash.
 *
 * @param actor Actor to evaluate.
 * @param env Environment; it is reset first and not closed.
 * @param options Number of episodes, step limit, seed, abort signal.
 * @returns Returns, lengths and summary statistics.
 * @throws {RangeError} If `episodes` or `maxSteps` is not a whole number of at least 1,
 * or the actor is for another number of environments.
 * @throws {TypeError} If the environment is a single one, or the actor is an agent that
 * learns while acting.
 * @throws {Error} If an environment crashed for the sixth time.
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
  if ("update" in actor) {
    throw new TypeError(
      "Cannot evaluate an agent that learns, as it would learn from the episodes: expected its policy, as agent.policy({ deterministic: true }) is",
    );
  }
  checkVecEnv(env, "evaluate in");
  checkFree(env);
  refuseUnknown(options, OPTIONS, "evaluate");
  const { episodes = 10, seed, signal } = options;
  const { maxSteps = evaluationBound(env) } = options;
  check(episodes, `${episodes} episodes`);
  check(maxSteps, `with episodes of at most ${maxSteps} steps`);
  const { numEnvs, actionSpace } = env;
  if (actor.numEnvs !== undefined && actor.numEnvs !== numEnvs) {
    throw new RangeError(
      `Cannot evaluate an actor of ${actor.numEnvs} environments in ${numEnvs}: expected one of as many, as agent.policy({ numEnvs: ${numEnvs} }) is`,
    );
  }
  const envs = Array.from({ length: numEnvs }, (_, i) => {
    const quota = Math.floor(episodes / numEnvs) + +(i < episodes % numEnvs);
    return new EvaluatedEnv(i, { quota, maxSteps });
  });
  const turn = new EventLoopBreak();
  const place = { numEnvs, actionSpace, isEvaluation: true };
  // Seeds stay the same if environments are reset once more: their random streams
  // continue.
  let steps = 0,
    start: VecResetOptions | undefined = seed === undefined
      ? undefined
      : { seed, keepSeeds: true };
  while (!envs.every(({ isDone }) => isDone)) {
    let observations = env.reset(start);
    actor.endEpisodes?.();
    start = undefined;
    for (const evaluated of envs) evaluated.begin();
    checkObservations(observations, { ...place, step: steps });
    let arePlaying = true;
    while (arePlaying) {
      signal?.throwIfAborted();
      const acting = actor.act(observations, env.actionMasks);
      const step = env.step(acting instanceof Promise ? await acting : acting);
      checkStep(step, { ...place, step: steps += numEnvs });
      observations = step.observations;
      arePlaying = observe(envs, step);
      actor.observe?.(arePlaying ? step : asEnd(step));
      if (turn.due()) await turn.take();
    }
  }
  const played = envs.flatMap((evaluated) => evaluated.played);
  const successes = played.flatMap(({ infoStatistics }) =>
    infoStatistics?.is_success?.last ?? []
  );
  return {
    ...summarizeEpisodes(
      played.map((episode) => episode.return),
      played.map(({ length }) => length),
      played.filter(({ isCut }) => isCut).length,
    ),
    ...(successes.length > 0 && { successRate: mean(successes) }),
  };
}

function check(count: number, evaluated: string): void {
  if (Number.isInteger(count) && count >= 1) return;
  throw new RangeError(
    `Cannot evaluate ${evaluated}: the number must be a whole number of at least 1`,
  );
}

/** Returns a step at which the episodes of all environments end. */
function asEnd(step: VecStep): VecStep {
  return { ...step, truncated: new Uint8Array(step.truncated.length).fill(1) };
}

/**
 * Summarizes episodes by their returns and lengths.
 *
 * @param returns Return of each episode.
 * @param lengths Length of each episode.
 * @param cut Episodes among them that were cut.
 * @returns The episodes with their summary; NaN for no episodes.
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
  cut = 0,
): EvaluationResult {
  const sorted = [...returns].sort((a, b) => a - b);
  const meanReturn = mean(returns);
  const middle = (sorted.length - 1) / 2;
  return {
    returns,
    lengths,
    cut,
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
