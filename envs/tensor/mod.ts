/**
 * Environments as pure functions of tensors: whole batches of them can be traced
 * and compiled together with what acts in them. They have the rules of the
 * environments of the same ids, in float32.
 *
 * @example
 * ```ts
 * import { beginEpisodes, stepEpisodes, tensorEnv } from "@bellman/envs/tensor";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
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
import { closest } from "fastest-levenshtein";
import { CLASSIC_CONTROL } from "./classic_control.ts";
import type { TensorEnv } from "./episodes.ts";
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
    }, such as '${closest(id, tensorEnvIds)}'`,
  );
}
