import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { checkEnv } from "../check_env.ts";
import type { BoxArray, StateTree } from "@bellman/types";
import {
  make,
  makeVec,
  NormalizeReward,
  readRow,
  RecordEpisodeStatistics,
  sample,
  SeededRandom,
  SyncVecEnv,
  TransformReward,
} from "../mod.ts";
import { bitFlip, GoalEnv, GoalVecEnv, REACH } from "./goals.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

Deno.test("goal environments hold to the contract", () => {
  for (const id of ["BitFlip-v0", "Reach-v0"]) checkEnv(make(id));
});

Deno.test("flipping each wrong bit once reaches the goal, and no earlier step does", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(), (bits, seed) => {
      const env = new GoalEnv(bitFlip({ bits }));
      const { achieved_goal, desired_goal } = env.reset({ seed });
      const wrong = [...desired_goal.keys()]
        .filter((i) => desired_goal[i] !== achieved_goal[i]);
      assert(wrong.length > 0);
      wrong.forEach((bit, i) => {
        const step = env.step(bit), isLast = i === wrong.length - 1;
        assertEquals(step.reward, isLast ? 0 : -1);
        assertEquals(step.terminated, isLast);
        assertEquals(step.info, { is_success: isLast });
        const { achieved_goal: now, observation } = step.observation;
        assertEquals(now, observation);
        assertEquals([...env.computeReward(now, desired_goal)], [step.reward]);
      });
    }),
  );
});

Deno.test("a point that moves straight to its goal stays there, and no episode ends", () => {
  fc.assert(fc.property(fc.nat(), (seed) => {
    const env = new GoalEnv(REACH);
    let { observation, desired_goal } = env.reset({ seed });
    for (let step = 0; step < 30; step++) {
      const action = Float32Array.from(
        observation,
        (it, i) => Math.min(Math.max((desired_goal[i] - it) / 0.1, -1), 1),
      );
      const result = env.step(action);
      assertEquals(result.terminated, false);
      assertEquals(
        [...env.computeReward(result.observation.achieved_goal, desired_goal)],
        [result.reward],
      );
      if (step > 20) assertEquals(result.reward, 0);
      ({ observation } = result.observation);
    }
  }));
});

Deno.test("goals are judged row by row, in vectors and wrappers too", () => {
  const env = makeVec("BitFlip-v0", { numEnvs: 3, kwargs: { bits: 2 } });
  const achieved = Uint8Array.of(0, 1, 1, 1, 0, 0);
  const desired = Uint8Array.of(0, 1, 0, 1, 1, 1);
  const wrapped = make("BitFlip-v0", { kwargs: { bits: 2 } });
  for (const it of [env, wrapped]) {
    assertEquals(Array.from(it.computeReward!(achieved, desired)), [0, -1, -1]);
    assertEquals(Array.from(it.computeTerminated!(achieved, desired)), [
      1,
      0,
      0,
    ]);
  }
  const paid = new TransformReward(env, (it) => 2 * it);
  assertEquals([...paid.computeReward!(achieved, desired) as Float64Array], [
    0,
    -2,
    -2,
  ]);
  assertEquals(new NormalizeReward(env).computeReward, undefined);
  assertEquals(make("Reach-v0").computeTerminated, undefined);
  assertEquals(makeVec("CartPole-v1", { numEnvs: 1 }).computeReward, undefined);
});

Deno.test("episodes tell whether they reached the goal", () => {
  const env = makeVec("BitFlip-v0", { numEnvs: 1, kwargs: { bits: 3 } });
  const { observation, desired_goal } = env.reset({ seed: 1 }) as Record<
    string,
    Uint8Array
  >;
  const wrong = [...desired_goal.keys()]
    .filter((bit) => desired_goal[bit] !== observation[bit]);
  const steps = wrong.map((bit) => {
    const { episodes } = env.step(Int32Array.of(bit));
    return episodes!.map((it) => it.infoStatistics!.is_success.last);
  });
  assertEquals(steps.flat(), [1]);
  assertEquals(steps.at(-1), [1]);
});

Deno.test("batched ones give the numbers of single ones bit for bit, and resume in between", () => {
  for (const id of ["BitFlip-v0", "Reach-v0"]) {
    const kwargs = id === "BitFlip-v0" ? { bits: 3 } : {};
    const options = { maxEpisodeSteps: 7, kwargs };
    let batched = makeVec(id, { numEnvs: 3, ...options });
    const single = new RecordEpisodeStatistics(
      new SyncVecEnv(Array.from({ length: 3 }, () => () => make(id, options))),
    );
    assertEquals(batched.reset({ seed: 4 }), single.reset({ seed: 4 }));
    const random = new SeededRandom(1);
    const act = () => sample(single.actionSpace, random) as number & BoxArray;
    let ended = 0;
    for (let i = 0; i < 60; i++) {
      const rows = [act(), act(), act()];
      const actions = id === "BitFlip-v0"
        ? Int32Array.from(rows)
        : Float32Array.from(rows.flatMap((it) => [...it]));
      const step = batched.step(actions), wanted = single.step(actions);
      const { finalObservations: final, episodes, ...rest } = wanted;
      for (const [key, it] of Object.entries({ episodes, ...rest })) {
        assertEquals(step[key as "episodes"], it, key);
      }
      for (const { env } of episodes!) {
        const row = { batch: step.finalObservations, row: env };
        const space = single.observationSpace;
        assertEquals(
          readRow(space, row),
          readRow(space, { ...row, batch: final }),
        );
        ended++;
      }
      if (i !== 30) continue;
      const state = structuredClone(batched.save());
      batched = makeVec(id, { numEnvs: 3, ...options });
      batched.load(state);
    }
    assert(ended > 20);
  }
});

Deno.test("snapshots of other batches are refused", () => {
  const env = new GoalVecEnv(REACH, { numEnvs: 2 });
  env.reset({ seed: 1 });
  const saved = env.save() as Record<string, StateTree>;
  const observations = saved.observations as Record<string, StateTree>;
  const other = { ...observations, desired_goal: 3 };
  assertRefused({
    "TypeError: observations.desired_goal": () =>
      env.load({ ...saved, observations: other }),
    "TypeError: goals": () => env.load({ ...saved, goals: null }),
  });
});

Deno.test("wrong options are refused", () => {
  assertRefused({
    "RangeError: bits": () => bitFlip({ bits: 0 }),
    "TypeError: did you mean 'bits'": () => bitFlip({ bit: 3 } as object),
  });
});
