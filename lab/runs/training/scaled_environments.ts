/** Wrappers and normalization of a run's environments. They work in browsers too. */
import {
  channelAxis,
  ChannelsLast,
  ClipReward,
  flattenedParts,
  FlattenObservation,
  FrameStack,
  NormalizeObservation,
  NormalizeReward,
  ObservationNormalizer,
  RewardNormalizer,
} from "@bellman/envs";
import type { Space, VecEnv } from "@bellman/types";
import type { RunConfig } from "../settings/run_config.ts";

/** Normalization of observations and rewards, with the statistics of training. */
export interface Normalization {
  /** Normalization of observations, if configured. */
  observations?: ObservationNormalizer;
  /** Normalization of rewards, if configured. */
  rewards?: RewardNormalizer;
}

/** Settings of wrappers, and kind of algorithm. */
interface Scaling extends
  Pick<
    RunConfig,
    "frameStack" | "clipReward" | "normalizeObservation" | "normalizeReward"
  > {
  /** Discount factor, if the algorithm has one. */
  gamma?: unknown;
  /** True for off-policy algorithms, which normalize replayed transitions themselves. */
  hasReplay: boolean;
}

/** Wrapped environments of a run. */
export interface ScaledEnvironments {
  /**
   * Training environments. Observations and rewards are normalized as configured,
   * except for algorithms with a replay buffer.
   */
  training: VecEnv;
  /** Normalization that an algorithm with a replay buffer applies itself. */
  normalization?: Normalization;
  /** Normalization by wrappers or the algorithm. */
  scales: Normalization;
  /**
   * Wraps an environment for evaluation: observations are normalized with frozen
   * statistics of training, rewards are raw.
   */
  wrapped(env: VecEnv): VecEnv;
}

/** Returns true for tuples and for nested dicts, which networks do not support. */
function isNested(space: Space): boolean {
  return space.type === "tuple" ||
    space.type === "dict" &&
      Object.values(space.spaces)
        .some(({ type }) => type === "dict" || type === "tuple");
}

/**
 * Describes the vectors that observations are flattened to, if they are: each part with
 * the index of its first element and the one after its last.
 */
export function flattenedText(space: Space): string | undefined {
  if (!isNested(space)) return undefined;
  return flattenedParts(space)
    .map(({ name, offset, size }) => `${name} [${offset}:${offset + size}]`)
    .join(", ");
}

/**
 * Describes the images of a space whose channels are moved last, if there are some,
 * each with its shape.
 */
export function turnedText(space: Space): string | undefined {
  const parts = space.type === "dict" ? space.spaces : { "": space };
  const shapes = Object.entries(parts).flatMap(([name, part]) =>
    part.type === "box" && channelAxis(part.shape) !== undefined
      ? [`${name} [${part.shape.join(", ")}]`.trim()]
      : []
  );
  return shapes.length > 0 ? shapes.join(", ") : undefined;
}

/** Returns true for float boxes and dicts with one: other spaces need no normalization. */
function hasScale(space: Space): boolean {
  return space.type === "box" ||
    space.type === "dict" &&
      Object.values(space.spaces)
        .some((it) => it.type === "box" && it.dtype.startsWith("float"));
}

/**
 * Wraps environments as a run's settings require.
 *
 * @param env Training environments without wrappers.
 * @param scaling Settings of the wrappers.
 */
export function scaledEnvironments(
  env: VecEnv,
  { hasReplay, ...config }: Scaling,
): ScaledEnvironments {
  const { frameStack } = config;
  const flat = (env: VecEnv): VecEnv =>
    isNested(env.observationSpace)
      ? new FlattenObservation(env)
      : turnedText(env.observationSpace)
      ? new ChannelsLast(env)
      : env;
  const stacked = (env: VecEnv): VecEnv =>
    frameStack > 1 ? new FrameStack(env, { size: frameStack }) : env;

  let training = flat(env);
  if (config.clipReward) training = new ClipReward(training);
  const gamma = typeof config.gamma === "number" ? config.gamma : 0.99;
  const scaledRewards = config.normalizeReward && !hasReplay
    ? new NormalizeReward(training, { gamma })
    : undefined;
  training = scaledRewards ?? training;
  const scales = config.normalizeObservation &&
    hasScale(training.observationSpace);
  const normalized = scales && !hasReplay
    ? new NormalizeObservation(training)
    : undefined;
  training = stacked(normalized ?? training);

  const wrapped = (inner: VecEnv): VecEnv => {
    const env = flat(inner);
    if (normalized === undefined) return stacked(env);
    const frozen = new NormalizeObservation(env, {
      statistics: normalized.normalizer.statistics,
      training: false,
    });
    return stacked(frozen);
  };
  const normalization = !hasReplay ? undefined : {
    observations: scales
      ? new ObservationNormalizer(training.observationSpace)
      : undefined,
    rewards: config.normalizeReward
      ? new RewardNormalizer(training.numEnvs, { gamma })
      : undefined,
  };
  return {
    training,
    normalization,
    scales: normalization ?? {
      observations: normalized?.normalizer,
      rewards: scaledRewards?.normalizer,
    },
    wrapped,
  };
}
