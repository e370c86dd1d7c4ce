// deno-lint-ignore-file no-console -- a program that prints
/** Environment steps per second of this PPO, all included, one thread. */
import { selectBackend } from "@bellman/compute";
import { makeVec, SyncVecEnv } from "@bellman/envs";
import { PPO } from "@bellman/ppo";
import { Frames } from "./frames.ts";
import { PPO_TASK, ppoConfig } from "./ppo_config.ts";
import { trainRate } from "./train_rate.ts";

const task = {
  ...PPO_TASK,
  engine: "onnx",
  env: "CartPole-v1",
  warmup: 16_384,
  steps: 65_536,
  ...JSON.parse(Deno.args[0]),
};
await selectBackend(task.engine === "eager" ? "wasm" : "cpu");
const { numEnvs } = task;
const env = task.env === "frames"
  ? new SyncVecEnv(Array.from({ length: numEnvs }, () => () => new Frames()))
  : makeVec(task.env, { numEnvs });
const algorithm = new PPO(env, {
  config: ppoConfig(task),
  totalTimesteps: 1e9,
  seed: task.seed,
  engine: task.engine,
  threads: 1,
});
console.log(await trainRate(algorithm, env, task));
