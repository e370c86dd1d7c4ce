// deno-lint-ignore-file no-console -- a program that prints
/** Steps a second of all copies of HalfCheetah, on one thread and on two. */
import { makeVec } from "@bellman/envs";
import "@bellman/envs/mujoco";
import { WorkerVecEnv } from "@bellman/envs/workers";
import { stepsPerSecond } from "./steps_per_second.ts";

const ID = "HalfCheetah-v5";
const task = {
  numEnvs: 16,
  warmup: 200,
  steps: 1000,
  seed: 0,
  ...JSON.parse(Deno.args[0]),
};
const { numEnvs } = task;
const one = stepsPerSecond(
  makeVec(ID, { numEnvs, recordEpisodes: false }),
  task,
);
const two = stepsPerSecond(
  new WorkerVecEnv(ID, { numEnvs, workers: 1, callerShare: true }),
  task,
);
console.log(JSON.stringify({ one, two }));
