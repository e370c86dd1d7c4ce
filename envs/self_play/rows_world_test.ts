import { assertEquals, assertThrows } from "@std/assert";
import { makeVec, Recorder } from "../mod.ts";
import { PageVecEnv } from "../pages/mod.ts";
import type { Player } from "./players.ts";
import { RowsWorld } from "./rows_world.ts";
import { SelfPlayVecEnv } from "./self_play_vec_env.ts";

const DUEL = new URL("./testdata/duel.ts", import.meta.url).pathname;

const PROGRAM = `program:${Deno.execPath()} run -A ${DUEL}`;

/** Takes as much as there were steps. */
const counting: Player = (world, { seat, actions, which }) => {
  const seen = world.observe(seat) as Float32Array;
  which!.forEach((it, env) => {
    if (it === 1) (actions as Int32Array)[env] = seen[4 * env + 1];
  });
};

function duel(numEnvs: number): SelfPlayVecEnv<Float32Array, Int32Array> {
  const env = new PageVecEnv(PROGRAM, { numEnvs: 2 * numEnvs });
  const world = new RowsWorld(env, { seats: 2 });
  return new SelfPlayVecEnv(world, { opponent: counting }) as never;
}

Deno.test("rows of a program are seats, whose games begin and end as others do", () => {
  const env = duel(3), other = duel(3);
  const rows = (batch: Float32Array) =>
    Array.from({ length: 3 }, (_, i) => [...batch.slice(4 * i, 4 * i + 3)]);
  try {
    // The learner takes the seats in turn.
    assertEquals(rows(env.reset({ seed: 1 })), [[0, 0, 0], [1, 0, 0], [
      0,
      0,
      0,
    ]]);
    const kickOff = env.observations().filter((_, i) => i % 4 === 3);
    assertEquals(new Set(kickOff).size, 3);
    env.reset({ seed: 1 });
    assertEquals(env.observations().filter((_, i) => i % 4 === 3), kickOff);
    const actions = Int32Array.of(2, 1, 0);
    assertEquals([...env.step(actions).rewards], [2, 1, 0]);
    assertEquals(rows(env.observations()), [[0, 1, 0], [1, 1, 0], [0, 1, 0]]);
    assertEquals([...env.step(actions).rewards], [1, 0, -1]);
    const saved = env.save();
    const ends = [env, other].map((it) => {
      if (it === other) {
        it.reset({ seed: 5 });
        it.load(saved);
      }
      const step = it.step(actions);
      assertEquals([...step.rewards], [0, -1, -2]);
      assertEquals([...step.terminated], [1, 1, 1]);
      assertEquals(rows(step.finalObservations), [[0, 3, 2], [1, 3, 2], [
        0,
        3,
        2,
      ]]);
      assertEquals(rows(it.observations()), [[1, 0, 0], [0, 0, 0], [1, 0, 0]]);
      return [...it.observations()];
    });
    assertEquals(ends[0], ends[1]);
    // The games before were lost or won: 1 of 3 draws, 2 of 3 by their sums.
    assertEquals(env.statistics()["self_play/win_rate"], 0.5);
  } finally {
    env.close();
    other.close();
  }
});

Deno.test("people who play in a program are recorded", () => {
  const env = new PageVecEnv<Float32Array, Int32Array>(PROGRAM, { numEnvs: 4 });
  try {
    const recorder = new Recorder(env);
    recorder.reset({ seed: 1 });
    while (recorder.episodes.length < 4) recorder.step(env.watch());
    const [red, blue] = recorder.episodes;
    assertEquals(red.actions, Int32Array.of(0, 1, 2));
    assertEquals(blue.actions, Int32Array.of(2, 1, 2));
    assertEquals(red.rewards, Float64Array.of(-2, 0, 0));
    assertEquals(red.terminations, Uint8Array.of(0, 0, 1));
    // An agent goes on from there.
    assertEquals(
      env.step(Int32Array.of(2, 0, 1, 1)).rewards,
      Float64Array.of(2, -2, 0, 0),
    );
  } finally {
    env.close();
  }
});

Deno.test("rows that are no whole worlds, and openings, are refused", () => {
  const rows = makeVec("CartPole-v1", { numEnvs: 5 });
  assertThrows(
    () => new RowsWorld(rows, { seats: 2 }),
    RangeError,
    "a divisor",
  );
  assertThrows(
    () => new RowsWorld(rows, { seats: 1 }),
    RangeError,
    "at least 2",
  );
  const pairs = new RowsWorld(makeVec("CartPole-v1", { numEnvs: 4 }), {
    seats: 2,
  });
  const env = new SelfPlayVecEnv(pairs, { openings: 3 });
  assertThrows(() => env.reset({ seed: 1 }), RangeError, "no random openings");
});

Deno.test("seats that end alone are an error", () => {
  const pairs = new RowsWorld(makeVec("CartPole-v1", { numEnvs: 4 }), {
    seats: 2,
  });
  const env = new SelfPlayVecEnv(pairs);
  env.reset({ seed: 1 });
  assertThrows(
    () => {
      for (;;) env.step(new Int32Array(2));
    },
    Error,
    "expected all of them to end together",
  );
});
