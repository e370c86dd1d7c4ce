// deno-lint-ignore-file no-console -- a program that prints
/** Environment steps per second of this DQN on CartPole-v1, all included, one thread. */
import { selectBackend } from "@bellman/compute";
import { DQN } from "@bellman/dqn";
import { makeVec } from "@bellman/envs";
import { trainRate } from "./train_rate.ts";

const task = {
  engine: "onnx",
  hidden: [64, 64],
  warmup: 2000,
  steps: 20_000,
  seed: 0,
  ...JSON.parse(Deno.args[0]),
};
await selectBackend("cpu");
const env = makeVec("CartPole-v1", { numEnvs: 1 });
const agent = new DQN(env, {
  config: {
    // The peer has none of two networks, and explores as much from the first step on.
    double: false,
    initialEpsilon: 0.05,
    hiddenSizes: task.hidden,
    batchSize: 64,
    trainFrequency: 2,
    learningStarts: 100,
  },
  seed: task.seed,
  engine: task.engine,
  threads: 1,
});
console.log(await trainRate(agent, env, task));
