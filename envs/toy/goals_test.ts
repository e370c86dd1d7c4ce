import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { checkEnv } from "../check_env.ts";
import {
  make,
  makeVec,
  VecNormalizeReward,
  VecTransformReward,
} from "../mod.ts";
import { BitFlipEnv, ReachEnv } from "./goals.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

Deno.test("goal environments hold to the contract", () => {
  for (const id of ["BitFlip-v0", "Reach-v0"]) checkEnv(make(id));
});

Deno.test("flipping each wrong bit once reaches the goal, and no earlier step does", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 }), fc.nat(), (bits, seed) => {
      const env = new BitFlipEnv({ bits });
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
    const env = new ReachEnv();
    let { observation, desired_goal } = env.reset({ seed });
    for (let step = 0; step < 30; step++) {
      const action = observation.map((it, i) =>
        Math.min(Math.max((desired_goal[i] - it) / 0.1, -1), 1)
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
  const paid = new VecTransformReward(env, (it) => 2 * it);
  assertEquals([...paid.computeReward!(achieved, desired) as Float64Array], [
    0,
    -2,
    -2,
  ]);
  assertEquals(new VecNormalizeReward(env).computeReward, undefined);
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

Deno.test("wrong options are refused", () => {
  assertRefused({
    "RangeError: bits": () => new BitFlipEnv({ bits: 0 }),
    "TypeError: did you mean 'bits'": () =>
      new BitFlipEnv({ bit: 3 } as object),
  });
});
