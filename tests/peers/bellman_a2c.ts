// deno-lint-ignore-file no-console -- a program that prints
/** Environment steps per second of this A2C, all included, one thread. */
import { A2C } from "@bellman/a2c";
import { selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { trainRate } from "./train_rate.ts";

const task = {
  engine: "onnx",
  numEnvs: 16,
  numSteps: 5,
  warmup: 80_000,
  steps: 480_000,
  seed: 0,
  ...JSON.parse(Deno.args[0]),
};
await selectBackend(task.engine === "eager" ? "wasm" : "cpu");
const env = makeVec("CartPole-v1", { numEnvs: task.numEnvs });
const { observationSpace, actionSpace } = env;
const algorithm = new A2C(
  { observationSpace, actionSpace, numEnvs: task.numEnvs },
  {
    config: {
      numSteps: task.numSteps,
      hiddenSizes: [64, 64],
      activation: "tanh",
      gaeLambda: 1,
      normalizeAdvantage: false,
      optimizer: "rmsprop_tf1",
      learningRate: 7e-4,
      valueNetwork: "separate",
      objective: "shared",
      learningRateSchedule: "constant",
    },
    seed: task.seed,
    engine: task.engine,
    threads: 1,
  },
);
console.log(await trainRate(algorithm, env, task));
