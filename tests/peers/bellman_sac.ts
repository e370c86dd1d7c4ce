// deno-lint-ignore-file no-console -- a program that prints
/** Environment steps per second of this SAC, by any method, or TD3, one thread. */
import { selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { SAC } from "@bellman/sac";
import { TD3 } from "@bellman/td3";
import { train } from "@bellman/training";

const task = {
  algorithm: "SAC",
  engine: "onnx",
  warmup: 600,
  steps: 1000,
  repeats: 3,
  seed: 0,
  ...JSON.parse(Deno.args[0]),
};
await selectBackend("cpu");
const env = makeVec("Pendulum-v1", { numEnvs: 1 });
const { observationSpace, actionSpace } = env;
const Algorithm = task.algorithm === "TD3" ? TD3 : SAC;
const algorithm = new Algorithm(
  { observationSpace, actionSpace, numEnvs: 1 },
  {
    config: {
      hiddenSizes: [256, 256],
      batchSize: 256,
      learningRate: 3e-4,
      learningStarts: 100,
      bufferSize: 1_000_000,
      ...task.config,
    },
    seed: task.seed,
    engine: task.engine,
    threads: 1,
  },
);
await train(algorithm, env, { totalTimesteps: task.warmup, seed: task.seed });
const rates: number[] = [];
for (let i = 0; i < task.repeats; i++) {
  const started = performance.now();
  await train(algorithm, env, { totalTimesteps: task.steps });
  rates.push(task.steps / ((performance.now() - started) / 1000));
}
rates.sort((a, b) => a - b);
console.log(rates[rates.length >> 1]);
