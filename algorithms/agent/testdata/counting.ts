import {
  type Algorithm,
  type Parts,
  randomActions,
  Replay,
  Rollout,
} from "../mod.ts";
import type { Params } from "@bellman/compute";
import { type Policy, stochasticPolicy } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";

/** Settings of {@link counting}. */
export interface CountingConfig {
  memory: "rollout" | "replay";
  numSteps: number;
  nSteps: number;
  learningRate: number;
  gradientSteps: number;
  replay: "uniform" | "proportional";
}

/** State of {@link counting}. */
type CountingState = {
  readonly policy: Params;
  readonly count: Params;
};

/** Batch of {@link counting}. */
type CountingBatch = { readonly rewards: tf.Tensor };

/** Inputs of {@link counting}. */
type CountingInputs = {
  readonly learningRate: tf.Scalar;
  readonly noise: tf.Tensor;
};

/** Records of the calls that an agent made to its parts. */
export interface Trace {
  explored: number;
  refreshed: number[];
}

/**
 * An algorithm that learns nothing: it adds up the rewards of its batches, changes
 * its parameters by noise, and records its inputs.
 */
export function counting(
  trace: Trace = { explored: 0, refreshed: [] },
): Algorithm<CountingConfig> {
  return {
    meta: {
      name: "counting",
      title: "Counting",
      summary: "Adds up rewards",
      runDefaults: { numEnvs: 2 },
      schema: {
        properties: {
          memory: {
            type: "string",
            enum: ["rollout", "replay"],
            default: "rollout",
          },
          numSteps: { type: "integer", minimum: 1, default: 3 },
          nSteps: { type: "integer", minimum: 1, default: 1 },
          learningRate: { type: "number", exclusiveMinimum: 0, default: 0.5 },
          gradientSteps: { type: "integer", minimum: -1, default: 1 },
          replay: {
            type: "string",
            enum: ["uniform", "proportional"],
            default: "uniform",
          },
        },
      },
    },
    check({ memory, numSteps }) {
      if (memory === "rollout" || numSteps === 3) return;
      throw new TypeError(
        "Cannot run Counting with numSteps and memory: replay",
      );
    },
    build(
      config,
      context,
    ): Parts<Policy, CountingState, CountingBatch, CountingInputs> {
      const policy = stochasticPolicy({
        ...context,
        networkOptions: { hiddenSizes: [4] },
      });
      const batchSize = config.memory === "rollout"
        ? config.numSteps * context.numEnvs
        : 4;
      const random = randomActions(context, { steps: 4 });
      const update = (
        state: CountingState,
        batch: CountingBatch,
        { learningRate, noise }: CountingInputs,
      ) => {
        const rewards = tf.sum(batch.rewards);
        const moved = Object.entries(state.policy).map(([path, it]) => [
          path,
          tf.add(it, tf.mul(learningRate, tf.mean(noise))),
        ]);
        const { sum } = state.count;
        return {
          state: {
            policy: Object.fromEntries(moved),
            count: { ...state.count, sum: tf.add(sum, rewards) },
          },
          stats: { rewards, sum },
          results: { tdErrors: tf.abs(batch.rewards) },
        };
      };
      return {
        policy,
        memory: config.memory === "rollout"
          ? new Rollout(context, policy, {
            numSteps: config.numSteps,
            inputs: ["rewards"],
            targets: ({ rewards }) => ({
              inputs: { rewards },
              stats: { first_reward: rewards[0] },
            }),
          })
          : new Replay(context, policy, {
            ...config,
            bufferSize: 20,
            batchSize,
            learningStarts: 6,
            trainFrequency: 2,
          }),
        state: {
          policy: policy.init(context.random),
          count: { sum: tf.scalar(0), refreshed: tf.scalar(0) },
        },
        learn: () => update,
        inputs: ({ updates }, draw) => ({
          learningRate: config.learningRate / (1 + updates),
          noise: draw({ kind: "normal", size: 1 }, batchSize),
        }),
        explore: {
          act(exploration) {
            if (exploration.progress.steps < 4) trace.explored++;
            return random.act(exploration);
          },
        },
        afterUpdate({ progress: { updates }, read }) {
          if (updates % 2 !== 0) return undefined;
          trace.refreshed.push(updates);
          const { count, ...rest } = read();
          const refreshed = { ...count.refreshed };
          refreshed.data = Float32Array.of(updates);
          return { ...rest, count: { ...count, refreshed } };
        },
        qFunction: {
          part: "policy",
          estimate: (params, observations) =>
            policy.apply(params, observations).policy,
        },
      };
    },
  };
}
