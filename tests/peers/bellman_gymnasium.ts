// deno-lint-ignore-file no-console -- a program that prints
/** Steps a second of all copies of Gymnasium's environments over the bridge. */
import { GymnasiumVecEnv } from "@bellman/envs/gymnasium";
import type { DiscreteSpace } from "@bellman/types";
import { stepsPerSecond } from "./steps_per_second.ts";

const BATCHES = 64;
const task = {
  ids: ["CartPole-v1", "LunarLander-v3"],
  numEnvs: 16,
  warmup: 300,
  steps: 1500,
  seed: 0,
  ...JSON.parse(Deno.args[0]),
};

function speedOf(id: string): number {
  const env = new GymnasiumVecEnv(id, { numEnvs: task.numEnvs });
  const { n } = env.actionSpace as DiscreteSpace;
  // The same mixture as the peer takes: every action, in turn.
  const actions = Array.from(
    { length: BATCHES },
    (_, t) => Int32Array.from({ length: task.numEnvs }, (_, i) => (t + i) % n),
  );
  return stepsPerSecond(env, task, actions);
}

const speeds = (task.ids as string[]).map((id) => [id, speedOf(id)]);
console.log(JSON.stringify(Object.fromEntries(speeds)));
