/** Wrappers and scales of a run's environments. They work in a page as well. */
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

/** Scales of observations and rewards, with the statistics of training. */
export interface Normalization {
  /** Scale of observations, where they are normalized. */
  observations?: ObservationNormalizer;
  /** Scale of rewards, where they are normalized. */
  rewards?: RewardNormalizer;
}

/** Settings of wrappers, and the kind of the algorithm. */
interface Scaling extends
  Pick<
    RunConfig,
    "frameStack" | "clipReward" | "normalizeObservation" | "normalizeReward"
  > {
  /** Discount factor, where the algorithm has one. */
  gamma?: unknown;
  /** True where the algorithm learns from old steps, and scales them itself. */
  hasReplay: boolean;
}

/** Environments of a run in their wrappers. */
export interface ScaledEnvironments {
  /**
   * Environment that the agent trains on. It scales observations and rewards as
   * configured, but for algorithms with a replay buffer.
   */
  training: VecEnv;
  /** Scales that an algorithm with a replay buffer applies itself. */
  normalization?: Normalization;
  /** Scales that are applied, by whomever. */
  scales: Normalization;
  /**
   * Wraps an environment for evaluation: observations are scaled by the frozen
   * statistics of training, rewards are the environment's own.
   */
  wrapped(env: VecEnv): VecEnv;
}

/** True for tuples and for dicts that have others within: networks take neither. */
function isNested(space: Space): boolean {
  return space.type === "tuple" ||
    space.type === "dict" &&
      Object.values(space.spaces)
        .some(({ type }) => type === "dict" || type === "tuple");
}

/**
 * Describes the vectors that observations of a space are flattened to, if they are: each
 * part with the first of its numbers and the one after its last.
 */
export function flattenedText(space: Space): string | undefined {
  if (!isNested(space)) return undefined;
  return flattenedParts(space)
    .map(({ name, offset, size }) => `${name} [${offset}:${offset + size}]`)
    .join(", ");
}

/**
 * Describes the images of a space whose channels are put last, if there are some, each
 * with its shape.
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

/** True for boxes and dicts with one of floats: other spaces are of one scale already. */
function hasScale(space: Space): boolean {
  return space.type === "box" ||
    space.type === "dict" &&
      Object.values(space.spaces)
        .some((it) => it.type === "box" && it.dtype.startsWith("float"));
}

/**
 * Wraps a set of environments as a run's settings say.
 *
 * @param env The set to train on, without wrappers.
 * @param scaling The settings.
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
