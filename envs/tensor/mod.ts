/**
 * Environments as pure functions of tensors: whole batches of them can be traced
 * and compiled together with what acts in them. They have the rules of the
 * environments of the same ids, in float32.
 *
 * @example
 * ```ts
 * import { selectBackend } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { beginEpisodes, stepEpisodes, tensorEnv } from "@bellman/envs/tensor";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const env = tensorEnv("CartPole-v1"), numEnvs = 1000;
 * const uniform = () => tf.randomUniform([env.startSize, numEnvs], 0, 1);
 * const { episodes, rewards } = stepEpisodes(
 *   env,
 *   beginEpisodes(env, uniform()),
 *   { actions: tf.zeros([numEnvs], "int32"), uniform: uniform() },
 * );
 * assertEquals(tf.sum(rewards).dataSync()[0], 1000);
 * assertEquals(env.observe(episodes.state).shape, [1000, 4]);
 * ```
 *
 * @module
 */
import { CLASSIC_CONTROL } from "./classic_control.ts";
import {
  beginEpisodes,
  stepEpisodes,
  type StepEpisodesOptions,
  type TensorEnv,
  type TensorEpisodes,
  type TensorStep,
} from "./episodes.ts";
import { GRID_WORLD } from "./grid_world.ts";

export * from "./episodes.ts";

const ENVS: readonly TensorEnv[] = [...CLASSIC_CONTROL, GRID_WORLD];

/** Ids of the environments as tensors. */
export const tensorEnvIds: readonly string[] = ENVS.map(({ id }) => id);

/**
 * Finds an environment as tensors.
 *
 * @param id Name and version, as in the registry.
 * @returns Its rules.
 * @throws {RangeError} If there is none of that id as tensors.
 *
 * @example
 * ```ts
 * import { tensorEnv } from "@bellman/envs/tensor";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(tensorEnv("Acrobot-v1").maxEpisodeSteps, 500);
 * ```
 */
export function tensorEnv(id: string): TensorEnv {
  const found = ENVS.find((it) => it.id === id);
  if (found !== undefined) return found;
  throw new RangeError(
    `Cannot find '${id}' as tensors: expected one of ${
      tensorEnvIds.join(", ")
    }`,
  );
}

/** Environments whose episodes restart by themselves, as tensors. */
export interface TensorVecEnv extends
  Pick<
    TensorEnv,
    "id" | "observationSpace" | "actionSpace" | "startSize" | "observe"
  > {
  /**
   * Begins an episode in each environment; see {@linkcode beginEpisodes}.
   *
   * @param uniform Numbers from 0 to below 1 `[startSize, numEnvs]`.
   */
  begin(uniform: StepEpisodesOptions["uniform"]): TensorEpisodes;
  /**
   * Takes a step in each environment; see {@linkcode stepEpisodes}.
   *
   * @param episodes Episodes before the step.
   * @param options Actions and random numbers.
   */
  step(
    episodes: TensorEpisodes,
    options: Omit<StepEpisodesOptions, "maxEpisodeSteps">,
  ): TensorStep;
}

/**
 * Joins rules with a time limit.
 *
 * @param rules Rules, or their id.
 * @param options Steps after which an episode is truncated, the rules' by
 * default.
 * @returns The environments.
 * @throws {RangeError} If there are none of that id as tensors.
 *
 * @example
 * ```ts
 * import { selectBackend } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { tensorVecEnv } from "@bellman/envs/tensor";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const env = tensorVecEnv("MountainCar-v0", { maxEpisodeSteps: 1 });
 * const uniform = tf.zeros([env.startSize, 3]);
 * const { truncated } = env.step(env.begin(uniform), {
 *   actions: tf.zeros([3], "int32"),
 *   uniform,
 * });
 * assertEquals([...truncated.dataSync()], [1, 1, 1]);
 * ```
 */
export function tensorVecEnv(
  rules: string | TensorEnv,
  { maxEpisodeSteps }: { readonly maxEpisodeSteps?: number } = {},
): TensorVecEnv {
  const env = typeof rules === "string" ? tensorEnv(rules) : rules;
  const { id, observationSpace, actionSpace, startSize } = env;
  return {
    id,
    observationSpace,
    actionSpace,
    startSize,
    observe: (state) => env.observe(state),
    begin: (uniform) => beginEpisodes(env, uniform),
    step: (episodes, options) =>
      stepEpisodes(env, episodes, { ...options, maxEpisodeSteps }),
  };
}
