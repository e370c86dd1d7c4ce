import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { chiSquaredDeviation } from "../testdata/chi_squared.ts";
import { testRandom } from "../testdata/random.ts";
import {
  Hindsight,
  type HindsightOptions,
  type HindsightStrategy,
} from "./hindsight.ts";
import type { FieldArray } from "../fields.ts";
import type { Batch, ReplayBufferOptions } from "./options.ts";
import { ReplayBuffer } from "./replay_buffer.ts";

const STRATEGIES = ["future", "final", "episode", "random"] as const;
const numEnvs = 2;
const capacity = 20;
const goal = { shape: [2], dtype: "float32" } as const;
const flag = { shape: [], dtype: "uint8" } as const;

function makeBuffer(options: Partial<ReplayBufferOptions> = {}): ReplayBuffer {
  return new ReplayBuffer({
    capacity,
    numEnvs,
    fields: {
      achievedGoal: goal,
      desiredGoal: goal,
      reward: { shape: [], dtype: "float32" },
      terminated: flag,
      truncated: flag,
    },
    episodes: { next: { nextAchievedGoal: "achievedGoal" } },
    ...options,
  });
}

/** A row as the definition of hindsight sees it. */
interface Row {
  slot: number;
  env: number;
  episode: number;
  /** What its step led to, different for each row. */
  reached: number;
}

/** Fills a buffer; episodes end where the flags say so: 1 terminated, 2 truncated. */
function fill(buffer: ReplayBuffer, ends: number[][]): Row[] {
  const rows: Row[] = [];
  const episodes = [0, 0];
  const now = [0, 0];
  ends.forEach((flags, step) => {
    const reached = [0, 1].map((env) => 1000 * env + step + 1);
    buffer.add({
      achievedGoal: now.flatMap((it) => [it, -it]),
      nextAchievedGoal: reached.flatMap((it) => [it, -it]),
      desiredGoal: [0.5, 0.5, 0.5, 0.5],
      reward: [0.25, 0.25],
      terminated: flags.map((it) => it === 1 ? 1 : 0),
      truncated: flags.map((it) => it === 2 ? 1 : 0),
    });
    flags.forEach((ended, env) => {
      const slot = (step * numEnvs + env) % capacity;
      rows.push({ slot, env, episode: episodes[env], reached: reached[env] });
      now[env] = ended === 0 ? reached[env] : -500 - step; // Another start.
      if (ended !== 0) episodes[env]++;
    });
  });
  return rows.slice(-capacity);
}

/** What may become a row's goal. */
function allowed(rows: Row[], row: Row, strategy: HindsightStrategy) {
  if (strategy === "random") return rows.map(({ reached }) => reached);
  const same = rows.filter(({ env, episode }) =>
    env === row.env && episode === row.episode
  ).map(({ reached }) => reached);
  if (strategy === "episode") return same;
  if (strategy === "final") return same.slice(-1);
  return same.filter((reached) => reached >= row.reached);
}

/** Tells for each row of two numbers whether both goals are the same. */
function sameGoals(achieved: FieldArray, desired: FieldArray): boolean[] {
  return Array.from(
    { length: achieved.length / 2 },
    (_, row) =>
      achieved[2 * row] === desired[2 * row] &&
      achieved[2 * row + 1] === desired[2 * row + 1],
  );
}

const reward: HindsightOptions["reward"] = (achieved, desired) =>
  sameGoals(achieved, desired).map((same) => same ? 1 : -1);

function goalOf(batch: Batch, i: number): number {
  const goals = batch.desiredGoal as Float32Array;
  assertEquals(goals[2 * i + 1], -goals[2 * i]);
  return goals[2 * i];
}

const ends = fc.array(
  fc.tuple(fc.constantFrom(0, 0, 0, 1, 2), fc.constantFrom(0, 0, 0, 1, 2)),
  { minLength: 1, maxLength: 35, size: "max" },
);

Deno.test("goals are what the right rows reached, and rewards follow", () => {
  fc.assert(
    fc.property(
      ends,
      fc.constantFrom(...STRATEGIES),
      fc.nat(),
      (ends, strategy, seed) => {
        const buffer = makeBuffer();
        const hindsight = new Hindsight(buffer, {
          strategy,
          reward,
          k: Infinity,
        });
        const rows = fill(buffer, ends);
        const batch = buffer.gather(rows.map(({ slot }) => slot));
        const before = structuredClone(batch);
        hindsight.relabel(batch, testRandom(seed));
        rows.forEach((row, i) => {
          const goal = goalOf(batch, i);
          const choices = allowed(rows, row, strategy);
          assertEquals(choices.includes(goal), true, `${goal} of ${choices}`);
          const expected = goal === row.reached ? 1 : -1;
          assertEquals((batch.reward as Float32Array)[i], expected);
        });
        for (const name of ["terminated", "truncated", "nextAchievedGoal"]) {
          assertEquals(batch[name], before[name]);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

for (const strategy of STRATEGIES) {
  Deno.test(`${strategy}: each goal that may be chosen is as likely`, () => {
    const buffer = makeBuffer();
    const ends = Array.from({ length: 13 }, (_, step) => [
      [3, 10].includes(step) ? 1 : 0,
      [2, 8].includes(step) ? 2 : 0,
    ]);
    const rows = fill(buffer, ends);
    const hindsight = new Hindsight(buffer, { strategy, reward, k: 1e9 });
    const random = testRandom(5);
    const batch = buffer.batch(1);
    for (const row of rows.filter(({ env }) => env === 0)) {
      const choices = allowed(rows, row, strategy);
      const counts = choices.map(() => 0);
      for (let i = 0; i < 1000; i++) {
        hindsight.relabel(buffer.gather([row.slot], batch), random);
        counts[choices.indexOf(goalOf(batch, 0))]++;
      }
      if (choices.length === 1) assertEquals(counts, [1000]);
      else {
        const even = choices.map(() => 1 / choices.length);
        const deviation = chiSquaredDeviation(counts, even);
        assertEquals(Math.abs(deviation) < 4, true, `${deviation}`);
      }
    }
  });
}

Deno.test("k rows of k + 1 are relabelled, the others stay as they are", () => {
  const buffer = makeBuffer();
  fill(buffer, Array(8).fill([0, 0]));
  for (const [k, expected] of [[undefined, 0.8], [1, 0.5], [0, 0]] as const) {
    const hindsight = new Hindsight(buffer, { reward, k });
    const random = testRandom(3);
    let relabelled = 0;
    for (let i = 0; i < 200; i++) {
      const batch = hindsight.relabel(
        buffer.sample(random, { size: 50 }),
        random,
      );
      for (let row = 0; row < 50; row++) {
        const own = goalOfAny(batch, row) === 0.5;
        assertEquals((batch.reward as Float32Array)[row] === 0.25, own);
        if (!own) relabelled++;
      }
    }
    const slack = 4 * Math.sqrt(expected * (1 - expected) / 10_000);
    assertEquals(Math.abs(relabelled / 10_000 - expected) <= slack, true);
  }
});

function goalOfAny(batch: Batch, i: number): number {
  return (batch.desiredGoal as Float32Array)[2 * i];
}

Deno.test("flags follow from the goal where a function says so", () => {
  const buffer = makeBuffer();
  const rows = fill(buffer, [[0, 0], [0, 0], [1, 2]]);
  const hindsight = new Hindsight(buffer, {
    strategy: "final",
    k: Infinity,
    reward,
    terminated: (achieved, desired) => sameGoals(achieved, desired).map(Number),
  });
  const batch = buffer.gather(rows.map(({ slot }) => slot));
  hindsight.relabel(batch, testRandom(1));
  assertEquals(batch.terminated, Uint8Array.of(0, 0, 0, 0, 1, 1));
  assertEquals(batch.truncated, Uint8Array.of(0, 0, 0, 0, 0, 1));
});

Deno.test("goals inside of observations are replaced wherever they are", () => {
  const scalar = { shape: [], dtype: "float32" } as const;
  const buffer = new ReplayBuffer({
    capacity: 8,
    fields: {
      observation: { position: scalar, achieved: scalar, desired: scalar },
      reward: scalar,
      done: flag,
      cut: flag,
    },
    episodes: {
      next: { nextObservation: "observation" },
      terminated: "done",
      truncated: "cut",
    },
  });
  for (let step = 0; step < 4; step++) {
    const at = (it: number) => ({
      position: [it],
      achieved: [it],
      desired: [99],
    });
    const cut = [step === 3 ? 1 : 0];
    buffer.add({
      observation: at(step),
      nextObservation: at(step + 1),
      reward: [-1],
      done: [0],
      cut,
    });
  }
  const hindsight = new Hindsight(buffer, {
    strategy: "final",
    k: Infinity,
    reward: (achieved, desired) =>
      Array.from(achieved, (it, row) => desired[row] - it),
    achieved: "nextObservation.achieved",
    desired: ["observation.desired", "nextObservation.desired"],
  });
  const batch = hindsight.relabel(buffer.gather([1, 3]), testRandom(1));
  assertEquals(batch.observation, {
    position: Float32Array.of(1, 3),
    achieved: Float32Array.of(1, 3),
    desired: Float32Array.of(4, 4),
  });
  assertEquals(batch.nextObservation, {
    position: Float32Array.of(2, 4),
    achieved: Float32Array.of(2, 4),
    desired: Float32Array.of(4, 4),
  });
  assertEquals(batch.reward, Float32Array.of(2, 0));
});

Deno.test("rows that were not drawn from the buffer are refused", () => {
  const buffer = makeBuffer();
  fill(buffer, [[0, 0]]);
  const hindsight = new Hindsight(buffer, { reward });
  const batch = buffer.gather([0, 1]);
  batch.slots[1] = 2;
  const before = structuredClone(batch);
  assertThrows(
    () => hindsight.relabel(batch, testRandom(1)),
    RangeError,
    "Cannot relabel slot 2: expected one of the 2 rows",
  );
  assertEquals(batch, before);
  const short = new Hindsight(buffer, { reward: () => [1], k: Infinity });
  assertThrows(
    () => short.relabel(buffer.gather([0, 1]), testRandom(1)),
    RangeError,
    "Cannot relabel 2 rows by 1 results of 'reward': expected one for each row",
  );
  const other = { ...batch, reward: new Float64Array(2) };
  assertThrows(() => hindsight.relabel(other, testRandom(1)), TypeError);
});

Deno.test("buffers and options that do not fit are refused", () => {
  const wrong: [Partial<ReplayBufferOptions>, object, string][] = [
    [{}, { strategy: "futur" }, "did you mean 'future'?"],
    [{}, { strategi: "final" }, "did you mean 'strategy'?"],
    [{}, { k: "4" }, 'Cannot make hindsight with k "4": expected a number'],
    [{}, { desired: "desired" }, "expected a list of texts"],
    [{}, { k: -1 }, "Cannot relabel -1 rows for each other one"],
    [{}, { k: NaN }, "Cannot relabel NaN rows"],
    [{}, { achieved: "nextGoal" }, "Cannot relabel unknown field 'nextGoal'"],
    [{}, { desired: ["desired"] }, "did you mean 'desiredGoal'?"],
    [{}, { desired: ["reward"] }, "'reward' of 1 numbers: expected 2"],
    [{ episodes: undefined }, {}, "rows that stand for themselves"],
    [
      {
        episodes: {
          next: { nextAchievedGoal: "achievedGoal" },
          nStep: { steps: 2, gamma: 0.9 },
        },
      },
      {},
      "Cannot relabel returns of several steps",
    ],
  ];
  for (const [buffer, options, message] of wrong) {
    assertThrows(
      () => new Hindsight(makeBuffer(buffer), { reward, ...options }),
      Error,
      message,
    );
  }
});
