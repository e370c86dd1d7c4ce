/** What every wrapper must keep to, as tests that each one's file calls. */
import type { Env, VecEnv } from "@bellman/types";
import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { deriveSeed, SeededRandom } from "../random.ts";
import { playEnv, playVec, randomActions } from "./play.ts";

/** A snapshot in mid-course restores an environment exactly, also others. */
export function testSnapshot(
  name: string,
  make: () => Env,
  { ignore = false, tag = "" } = {},
): void {
  Deno.test(`${name}: a snapshot restores it exactly${tag}`, { ignore }, () => {
    const env = make(), other = make(), fresh = make();
    env.reset({ seed: 3 });
    other.reset({ seed: 9 });
    playEnv(env, 25, 1);
    const snapshot = env.save();
    const expected = playEnv(env, 60, 2);
    for (const it of [env, other, fresh]) {
      it.load(snapshot);
      assertEquals(playEnv(it, 60, 2), expected);
      it.close();
    }
  });
}

/** The same of a vector environment; and nothing is allocated in a step. */
export function testVecWrapper(
  name: string,
  make: () => VecEnv,
  { ignore = false, tag = "" } = {},
): void {
  const test = (what: string, fn: () => void) =>
    Deno.test({ name: `${name}: ${what}${tag}`, ignore, fn });

  test("a snapshot restores it exactly", () => {
    const env = make();
    env.reset({ seed: 3 });
    playVec(env, 25, 1);
    const snapshot = env.save();
    const shown = structuredClone(env.observations());
    const expected = playVec(env, 60, 2);
    for (const it of [env, make()]) {
      it.load(snapshot);
      assertEquals(it.observations(), shown);
      assertEquals(playVec(it, 60, 2), expected);
    }
  });

  test("seeds of single copies are passed on", () => {
    const env = make();
    env.reset({ seed: 3 });
    const expected = playVec(env, 60, 1);
    const seeds = Array.from(
      { length: env.numEnvs },
      (_, copy) => deriveSeed(3, copy),
    );
    const other = make();
    other.reset({ seed: seeds });
    assertEquals(playVec(other, 60, 1), expected);
    const before = other.save();
    assertThrows(() => other.reset({ seed: [...seeds, 0] }), RangeError);
    assertEquals(other.save(), before);
  });

  test("steps reuse their arrays", () => {
    const env = make();
    env.reset({ seed: 0 });
    const random = new SeededRandom(0);
    const step = env.step(randomActions(env, random));
    const first = { ...step };
    const second = env.step(randomActions(env, random));
    assertStrictEquals(second, step);
    assertStrictEquals(second.terminated, first.terminated);
    assertStrictEquals(second.truncated, first.truncated);
    assertStrictEquals(second.observations, first.observations);
    assertStrictEquals(second.rewards, first.rewards);
    assertStrictEquals(second.finalObservations, first.finalObservations);
    assertStrictEquals(env.observations(), second.observations);
  });
}
