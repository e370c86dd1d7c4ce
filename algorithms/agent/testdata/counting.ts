import {
  type AgentParts,
  type Algorithm,
  randomActions,
  replay,
  rollout,
} from "../mod.ts";
import { stochasticPolicy } from "@bellman/policies";
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
    name: "counting",
    title: "Counting",
    summary: "Adds up rewards",
    presets: {},
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
    check({ memory, numSteps }) {
      if (memory === "rollout" || numSteps === 3) return;
      throw new TypeError(
        "Cannot run Counting with numSteps and memory: replay",
      );
    },
    build(config, spaces): AgentParts {
      const policy = stochasticPolicy({
        ...spaces,
        networkOptions: { hiddenSizes: [4] },
      });
      const batchSize = config.memory === "rollout"
        ? config.numSteps * spaces.numEnvs
        : 4;
      const random = randomActions(spaces, { steps: 4 });
      return {
        policy,
        experience: config.memory === "rollout"
          ? rollout({
            numSteps: config.numSteps,
            inputs: ["rewards"],
            targets: ({ rewards }) => ({
              inputs: { rewards },
              stats: { first_reward: rewards[0] },
            }),
          })
          : replay({
            ...config,
            bufferSize: 20,
            batchSize,
            learningStarts: 6,
            trainFrequency: 2,
          }),
        state: {
          policy: policy.init(spaces.random),
          count: { sum: tf.scalar(0), refreshed: tf.scalar(0) },
        },
        programs: {
          learn(state, batch, { learningRate, noise }) {
            const rewards = tf.sum(batch.rewards);
            const moved = Object.entries(state.policy).map(([path, it]) => [
              path,
              tf.add(it, tf.mul(learningRate, tf.mean(noise))),
            ]);
            return {
              state: {
                policy: Object.fromEntries(moved),
                count: {
                  ...state.count,
                  sum: tf.add(state.count.sum, rewards),
                },
              },
              stats: { rewards, sum: state.count.sum },
              results: { tdErrors: tf.abs(batch.rewards) },
            };
          },
        },
        inputs: {
          learningRate: ({ updates }) => config.learningRate / (1 + updates),
          noise: { kind: "normal", size: 1, rows: batchSize },
        },
        explore: {
          act(exploration) {
            if (exploration.moment.steps < 4) trace.explored++;
            return random.act(exploration);
          },
        },
        sync(when, { updates }, read) {
          if (when === "action" || updates % 2 !== 0) return undefined;
          trace.refreshed.push(updates);
          const { count, ...rest } = read();
          const refreshed = { ...count.refreshed };
          refreshed.data = Float32Array.of(updates);
          return { ...rest, count: { ...count, refreshed } };
        },
        actionValues: {
          part: "policy",
          estimate: (params, observations) =>
            policy.apply(params, observations).policy,
        },
      };
    },
  };
}
