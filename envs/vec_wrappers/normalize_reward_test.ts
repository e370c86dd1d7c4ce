import { assertAlmostEquals, assertEquals } from "@std/assert";
import { makeVec } from "../mod.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { playVec } from "../testdata/play.ts";
import { testVecWrapper } from "../testdata/wrapper_contract.ts";
import { chainOf } from "../testdata/chain_of.ts";
import { TimeLimit } from "../wrappers/time_limit.ts";
import { VecNormalizeReward } from "./normalize_reward.ts";

const pendulums = () =>
  makeVec("Pendulum-v1", { numEnvs: 3, maxEpisodeSteps: 9 });

Deno.test("returns start anew after ends of either kind, in each copy", () => {
  // One copy terminates after two steps, the other is truncated after two.
  const env = new VecNormalizeReward(
    new SyncVecEnv([
      () => chainOf(2),
      () => new TimeLimit(chainOf(9), 2),
    ]),
    { gamma: 1 },
  );
  const { statistics } = env;
  statistics.count = 0;
  env.reset({ seed: 0 });
  for (let i = 0; i < 8; i++) env.step(new Int32Array(2));
  // Returns of 1 and 2 in turn.
  assertAlmostEquals(statistics.mean[0], 1.5, 1e-9);
  assertAlmostEquals(statistics.variance[0], 0.25, 1e-9);
});

Deno.test("episodes are told by the environment's own rewards", () => {
  const scaled = new VecNormalizeReward(pendulums()), plain = pendulums();
  scaled.reset({ seed: 0 });
  plain.reset({ seed: 0 });
  for (let i = 0; i < 9; i++) {
    const a = scaled.step(new Float32Array(3));
    const b = plain.step(new Float32Array(3));
    assertEquals(a.rewards.some((it, row) => it !== b.rewards[row]), true);
    assertEquals(a.episodes, b.episodes);
  }
});

Deno.test("frozen statistics do not change", () => {
  const env = new VecNormalizeReward(pendulums(), { training: false });
  const before = env.statistics.save();
  env.reset({ seed: 0 });
  playVec(env, 20);
  assertEquals(env.statistics.save(), before);
});

testVecWrapper(
  "VecNormalizeReward",
  () => new VecNormalizeReward(pendulums()),
);
