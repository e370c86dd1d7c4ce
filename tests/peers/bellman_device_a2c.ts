// deno-lint-ignore-file no-console -- a program that prints
/** Environment steps per second of A2C in one program of XLA, one thread. */
import { a2c } from "@bellman/a2c";
import { DeviceAgent } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import { tensorVecEnv } from "@bellman/envs/tensor";
import { medianRate } from "./device_rate.ts";

const task = {
  engine: "xla",
  numEnvs: 16,
  numSteps: 5,
  steps: 48_000,
  repeats: 3,
  seed: 0,
  ...JSON.parse(Deno.args[0]),
};
await selectBackend("cpu");
const taken = task.numEnvs * task.numSteps;
const agent = new DeviceAgent(a2c, tensorVecEnv("CartPole-v1"), {
  numEnvs: task.numEnvs,
  updatesPerCall: Math.max(1, Math.floor(task.steps / taken)),
  config: {
    numSteps: task.numSteps,
    hiddenSizes: [64, 64],
    activation: "tanh",
    gaeLambda: 1,
    normalizeAdvantage: false,
    optimizer: "rmsprop_tf1",
    valueNetwork: "separate",
    objective: "shared",
    learningRate: 2e-3,
    learningRateSchedule: "constant",
  },
  seed: task.seed,
  totalTimesteps: 1e12,
  engine: task.engine,
  threads: 1,
});
console.log(medianRate(agent, task));
agent.close();
