// deno-lint-ignore-file no-console -- a program that prints
/** Environment steps per second of PPO in one program of XLA, one thread. */
import { DeviceAgent } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import { tensorVecEnv } from "@bellman/envs/tensor";
import { ppo } from "@bellman/ppo";
import { medianRate } from "./device_rate.ts";
import { PPO_TASK, ppoConfig } from "./ppo_config.ts";

const task = {
  ...PPO_TASK,
  engine: "xla",
  steps: 65_536,
  repeats: 3,
  ...JSON.parse(Deno.args[0]),
};
await selectBackend("cpu");
const { numEnvs, numSteps } = task;
const agent = new DeviceAgent(ppo, tensorVecEnv("CartPole-v1"), {
  numEnvs,
  updatesPerCall: Math.max(1, Math.floor(task.steps / (numEnvs * numSteps))),
  config: ppoConfig(task),
  seed: task.seed,
  totalTimesteps: 1e12,
  engine: task.engine,
  threads: 1,
});
console.log(medianRate(agent, task));
agent.close();
