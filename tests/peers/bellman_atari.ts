// deno-lint-ignore-file no-console -- a program that prints
/** Steps a second of all copies of Pong, on one thread and on two. */
import { makeVec } from "@bellman/envs";
import "@bellman/envs/atari";
import { WorkerVecEnv } from "@bellman/envs/workers";
import { stepsPerSecond } from "./steps_per_second.ts";

const ID = "ALE/Pong-v5";
const kwargs = { preprocessing: "baselines" };
const task = {
  numEnvs: 8,
  warmup: 200,
  steps: 1500,
  seed: 0,
  ...JSON.parse(Deno.args[0]),
};
const { numEnvs } = task;
const one = stepsPerSecond(
  makeVec(ID, { numEnvs, kwargs, recordEpisodes: false }),
  task,
);
const two = stepsPerSecond(
  new WorkerVecEnv({ id: ID, kwargs }, {
    numEnvs,
    workers: 1,
    callerShare: true,
  }),
  task,
);
console.log(JSON.stringify({ one, two }));
