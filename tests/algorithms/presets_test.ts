/** Presets of every algorithm stay what they are where defaults change. */
import { ALGORITHMS } from "@bellman/runs/settings";
import { assert } from "@std/assert";
import { parse } from "@std/yaml";

const Q_LEARNING = [
  ...["maxSteps", "updateInterval", "targetInterval", "epsilonSteps"],
  ...["learningRate", "rmspropEpsilon", "maxGradNorm", "activation"],
];

/** Settings whose defaults were chosen by measurement, and may be chosen anew. */
const CHOSEN: Readonly<Record<string, string[]>> = {
  a2c: [
    ...["normalizeObservation", "normalizeReward", "numSteps", "gaeLambda"],
    ...["normalizeAdvantage", "optimizer", "learningRate", "valueNetwork"],
    "objective",
  ],
  acer: [
    ...["normalizeReward", "optimizer", "learningRate", "qNetwork"],
    ...["bufferSize", "replayStart"],
  ],
  dqn: [
    ...["learningRate", "batchSize", "learningStarts", "targetInterval"],
    ...["tau", "trainFrequency", "gradientSteps", "hiddenSizes", "gamma"],
  ],
  ppo: [
    ...["normalizeObservation", "normalizeReward", "numSteps", "epochs"],
    ...["minibatches", "gamma", "gaeLambda", "learningRate"],
    ...["entropyCoefficient", "valueNetwork"],
  ],
  a3c: [
    ...["maxSteps", "learningRate", "rmspropEpsilon", "maxGradNorm"],
    "valueNetwork",
  ],
  "async-q": Q_LEARNING,
  "async-nstep-q": Q_LEARNING,
  "async-sarsa": Q_LEARNING,
};

/** Settings of every run. */
const OF_RUNS = ["normalizeObservation", "normalizeReward"];

for (const { meta: { name, presets = {}, schema } } of ALGORITHMS) {
  for (const [env, text] of Object.entries(presets)) {
    Deno.test(`the preset ${env} of ${name} stays what it is`, () => {
      const preset = parse(text) as Record<string, unknown>;
      for (const key of CHOSEN[name] ?? []) {
        const isSetting = key in schema.properties || OF_RUNS.includes(key);
        assert(key in preset || !isSetting, key);
      }
    });
  }
}
