// deno-lint-ignore-file no-console -- a program that prints
/**
 * Steps of the learner per second in games against snapshots of itself, all included,
 * one thread; and the share of the time in which the snapshots choose their moves.
 */
import { Agent, type Algorithm } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import { dqn } from "@bellman/dqn";
import { makeVec } from "@bellman/envs";
import { gameOf } from "@bellman/envs/games";
import { ppo } from "@bellman/ppo";
import type { Actor, PolicyOptions, VecEnv } from "@bellman/types";
import { train } from "@bellman/training";

const task = {
  algorithm: "ppo",
  env: "ConnectFour-v0",
  numEnvs: 64,
  warmup: 8192,
  steps: 65_536,
  config: {},
  opponents: {},
  ...JSON.parse(Deno.args[0]),
};
await selectBackend("cpu");
// deno-lint-ignore no-explicit-any -- algorithms of any settings
const ALGORITHMS: Record<string, Algorithm<any>> = { ppo, dqn };
const env: VecEnv = makeVec(task.env, {
  numEnvs: task.numEnvs,
  kwargs: task.opponents,
});
const agent = new Agent(ALGORITHMS[task.algorithm], env, {
  config: task.config,
  totalTimesteps: 1e9,
  seed: 0,
  engine: "onnx",
  threads: 1,
});
let acting = 0;

/** An actor whose time is counted. */
function timed(actor: Actor): Actor {
  return {
    ...actor,
    save: () => actor.save!(),
    load: (state) => actor.load!(state),
    act: (observations, masks) => {
      const started = performance.now();
      const actions = actor.act(observations, masks);
      acting += performance.now() - started;
      return actions;
    },
  };
}
gameOf(env)!.play({
  policy: (options?: PolicyOptions) => timed(agent.policy(options)),
});
await train(agent, env, { totalTimesteps: task.warmup, seed: 0 });
acting = 0;
const started = performance.now();
await train(agent, env, { totalTimesteps: task.steps });
const milliseconds = performance.now() - started;
console.log(JSON.stringify({
  value: 1000 * task.steps / milliseconds,
  opponents_ms: acting,
  opponents_share: acting / milliseconds,
}));
