// deno-lint-ignore-file no-console -- a program that prints
/**
 * Environment steps per second of this A2C on an Atari game, all included, on
 * all cores: half of the copies are stepped by this thread, half by a worker.
 */
import { A2C } from "@bellman/a2c";
import { selectBackend } from "@bellman/compute";
import "@bellman/envs/atari";
import { WorkerVecEnv } from "@bellman/envs/workers";
import { trainRate } from "./train_rate.ts";

const task = {
  env: "PongNoFrameskip-v4",
  numEnvs: 16,
  warmup: 800,
  steps: 8000,
  seed: 0,
  ...JSON.parse(Deno.args[0] ?? "{}"),
};
await selectBackend("cpu");
const env = new WorkerVecEnv({
  id: task.env,
  kwargs: { preprocessing: "baselines" },
}, { numEnvs: task.numEnvs, workers: 1, callerShare: true });
const { observationSpace, actionSpace, numEnvs } = env;
const algorithm = new A2C(
  { observationSpace, actionSpace, numEnvs },
  {
    config: {
      network: "cnn",
      numSteps: 5,
      gaeLambda: 1,
      normalizeAdvantage: false,
      optimizer: "rmsprop",
      learningRate: 7e-4,
      valueNetwork: "shared",
    },
    seed: task.seed,
    engine: "onnx",
  },
);
console.log(await trainRate(algorithm, env, task));
env.close();
