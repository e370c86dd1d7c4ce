import type { Space } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";

/**
 * State of environments as tensors by name, each with an axis of environments
 * first.
 */
export type TensorState = Readonly<Record<string, tf.Tensor>>;

/** Step of environments without time limits. */
export interface TensorTransition {
  /** State after the step; at an end, the episode's last one. */
  readonly state: TensorState;
  /** Rewards `[numEnvs]`. */
  readonly rewards: tf.Tensor;
  /** Truth values `[numEnvs]`: the episode reached an end state. */
  readonly terminated: tf.Tensor;
}

/**
 * Rules of an environment as pure functions of tensors, for any number of
 * environments: they can be traced, so that a whole training loop is one
 * program.
 */
export interface TensorEnv {
  /** Name and version, such as `CartPole-v1`. */
  readonly id: string;
  /** Space of one observation; whole numbers are tensors of `int32`. */
  readonly observationSpace: Space;
  /** Space of one action. */
  readonly actionSpace: Space;
  /** Steps after which an episode is truncated. */
  readonly maxEpisodeSteps?: number;
  /** Uniform random numbers that a first state is made of. */
  readonly startSize: number;
  /**
   * Makes first states.
   *
   * @param uniform Numbers from 0 to below 1 `[startSize, numEnvs]`.
   * @returns One state for each environment.
   */
  start(uniform: tf.Tensor): TensorState;
  /**
   * Takes one step.
   *
   * @param state States.
   * @param actions Actions of the space `[numEnvs, ...]`.
   * @returns The next states, rewards and ends.
   */
  step(state: TensorState, actions: tf.Tensor): TensorTransition;
  /**
   * Shows states.
   *
   * @param state States.
   * @returns Observations `[numEnvs, ...]`.
   */
  observe(state: TensorState): tf.Tensor;
}

/** Running episodes of environments. */
export interface TensorEpisodes {
  /** States of the environments. */
  readonly state: TensorState;
  /** Steps of each episode so far `[numEnvs]`, `int32`. */
  readonly lengths: tf.Tensor;
  /** Sums of rewards so far `[numEnvs]`. */
  readonly returns: tf.Tensor;
}

/** Inputs of {@linkcode stepEpisodes} other than the episodes. */
export interface StepEpisodesOptions {
  /** Actions of the space `[numEnvs, ...]`. */
  readonly actions: tf.Tensor;
  /** Uniform numbers `[startSize, numEnvs]` for the environments that end. */
  readonly uniform: tf.Tensor;
  /**
   * Steps after which an episode is truncated.
   *
   * @default the environment's
   */
  readonly maxEpisodeSteps?: number;
}

/** Step of running episodes; those that end are reset in the same step. */
export interface TensorStep {
  /** Episodes after the step. */
  readonly episodes: TensorEpisodes;
  /** States after the step before any reset: the last ones of episodes. */
  readonly last: TensorState;
  /** Rewards `[numEnvs]`. */
  readonly rewards: tf.Tensor;
  /** Truth values `[numEnvs]`: the episode reached an end state. */
  readonly terminated: tf.Tensor;
  /** Truth values `[numEnvs]`: the time limit cut the episode. */
  readonly truncated: tf.Tensor;
  /** Length of each episode, this step included `[numEnvs]`, `int32`. */
  readonly lengths: tf.Tensor;
  /** Return of each episode, this step included `[numEnvs]`. */
  readonly returns: tf.Tensor;
}

/**
 * Begins an episode in each environment.
 *
 * @param env Rules.
 * @param uniform Numbers from 0 to below 1 `[startSize, numEnvs]`.
 * @returns The episodes: new tensors.
 *
 * @example
 * ```ts
 * import { selectBackend } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { beginEpisodes, tensorEnv } from "@bellman/envs/tensor";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const env = tensorEnv("CartPole-v1");
 * const { state } = beginEpisodes(env, tf.zeros([env.startSize, 16]));
 * assertEquals(env.observe(state).shape, [16, 4]);
 * ```
 */
export function beginEpisodes(
  env: TensorEnv,
  uniform: tf.Tensor,
): TensorEpisodes {
  const numEnvs = uniform.shape[1]!;
  return {
    state: env.start(uniform),
    lengths: tf.zeros([numEnvs], "int32"),
    returns: tf.zeros([numEnvs]),
  };
}

/**
 * Takes a step in each environment. Episodes that end are reset, a time limit
 * truncates them, and their lengths and returns are counted.
 *
 * @param env Rules.
 * @param episodes Episodes before the step.
 * @param options Actions, random numbers, time limit.
 * @returns The step: new tensors.
 *
 * @example
 * ```ts
 * import { selectBackend } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { beginEpisodes, stepEpisodes, tensorEnv } from "@bellman/envs/tensor";
 * import { assertEquals } from "@std/assert";
 *
 * await selectBackend("cpu");
 * const env = tensorEnv("Pendulum-v1");
 * const uniform = tf.fill([env.startSize, 2], 0.5);
 * const { truncated, terminated, lengths } = stepEpisodes(
 *   env,
 *   beginEpisodes(env, uniform),
 *   { actions: tf.zeros([2, 1]), uniform, maxEpisodeSteps: 1 },
 * );
 * assertEquals([...truncated.dataSync()], [1, 1]);
 * assertEquals([...terminated.dataSync()], [0, 0]);
 * assertEquals([...lengths.dataSync()], [1, 1]);
 * ```
 */
export function stepEpisodes(
  env: TensorEnv,
  episodes: TensorEpisodes,
  options: StepEpisodesOptions,
): TensorStep {
  const { maxEpisodeSteps = env.maxEpisodeSteps } = options;
  const { state: last, rewards, terminated } = env.step(
    episodes.state,
    options.actions,
  );
  const lengths = tf.add(episodes.lengths, tf.scalar(1, "int32"));
  const returns = tf.add(episodes.returns, rewards);
  const truncated = maxEpisodeSteps === undefined
    ? tf.zerosLike(terminated)
    : tf.greaterEqual(lengths, tf.scalar(maxEpisodeSteps, "int32"));
  const ended = tf.logicalOr(terminated, truncated);
  const begun = beginEpisodes(env, options.uniform);
  const choose = (yes: tf.Tensor, no: tf.Tensor) => {
    const rows = yes.shape.map((length, axis) => axis === 0 ? length : 1);
    return tf.where(tf.reshape(ended, rows), yes, no);
  };
  const state = Object.fromEntries(
    Object.keys(last).map((name) => [
      name,
      choose(begun.state[name], last[name]),
    ]),
  );
  return {
    episodes: {
      state,
      lengths: choose(begun.lengths, lengths),
      returns: choose(begun.returns, returns),
    },
    last,
    rewards,
    terminated,
    truncated,
    lengths,
    returns,
  };
}
