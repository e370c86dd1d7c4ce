import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import type { BoxSpace, Episode, Space } from "@bellman/types";
import fc from "fast-check";
import { assertRefused } from "../../tests/testdata/refused.ts";
import { testRandom } from "../testdata/random.ts";
import { Dataset, type DatasetOptions } from "./dataset.ts";

const box = (size: number, bound = Infinity): BoxSpace => ({
  type: "box",
  shape: [size],
  low: -bound,
  high: bound,
  dtype: "float32",
});

const SPACES = { observationSpace: box(2), actionSpace: box(1, 1) };

/** An episode whose numbers tell its own and the step's. */
function episode(number: number, steps: number, end = "terminated"): Episode {
  const flags = new Uint8Array(steps);
  flags[steps - 1] = 1;
  const none = new Uint8Array(steps);
  const at = (step: number) => 1000 * number + step;
  return {
    observations: Float32Array.from(
      { length: 2 * steps + 2 },
      (_, i) => i % 2 === 0 ? at(i >> 1) : -at(i >> 1),
    ),
    actions: Float32Array.from({ length: steps }, (_, i) => i % 3 - 1),
    rewards: Float64Array.from({ length: steps }, (_, i) => at(i)),
    terminations: end === "terminated" ? flags : none,
    truncations: end === "truncated" ? flags : none,
  };
}

const make = (options: Partial<DatasetOptions> = {}, count = 10) =>
  new Dataset(
    Array.from({ length: count }, (_, i) => episode(i, i % 4 + 1)),
    { ...SPACES, ...options },
  );

const LENGTHS = fc.array(fc.integer({ min: 1, max: 9 }), {
  minLength: 2,
  maxLength: 12,
});

Deno.test("episodes are on one side each, and every step is where it belongs", () => {
  fc.assert(fc.property(
    LENGTHS,
    fc.integer({ min: 0, max: 60 }),
    fc.nat(9),
    (lengths, percent, seed) => {
      const ends = ["terminated", "truncated", "cut off"];
      const episodes = lengths.map((it, i) => episode(i, it, ends[i % 3]));
      const data = new Dataset(episodes, {
        ...SPACES,
        holdout: percent / 100,
        seed,
      });
      const sides = [data.training, data.heldOut];
      const numbers = sides.flatMap((it) => it.episodes);
      assertEquals(numbers.toSorted((a, b) => a - b), [...lengths.keys()]);
      assertEquals(data.heldOut.episodes.length > 0, percent > 0);
      for (const side of sides) {
        const steps = side.episodes.flatMap((it) =>
          Array.from({ length: lengths[it] }, (_, step) => [it, step])
        );
        assertEquals(side.numSteps, steps.length);
        const batch = side.allocate(steps.length);
        side.read([...steps.keys()], batch);
        steps.forEach(([number, step], i) => {
          const id = 1000 * number + step;
          const isEnd = step === lengths[number] - 1;
          const seen = batch.observations as Float32Array;
          const next = batch.nextObservations as Float32Array;
          assertEquals(seen.slice(2 * i, 2 * i + 2), Float32Array.of(id, -id));
          assertEquals([next[2 * i], batch.rewards[i]], [id + 1, id]);
          const terminated = isEnd && number % 3 === 0;
          assertEquals(batch.terminated[i], Number(terminated));
          assertEquals(batch.starts[i], Number(step === 0));
          assertEquals((batch.actions as Float32Array)[i], step % 3 - 1);
        });
      }
    },
  ));
});

Deno.test("sequences follow the steps, and start anew with episodes", () => {
  fc.assert(fc.property(LENGTHS, fc.integer({ min: 1, max: 7 }), fc.nat(), (
    lengths,
    numSteps,
    seed,
  ) => {
    const { training } = new Dataset(
      lengths.map((it, i) => episode(i, it)),
      { ...SPACES, holdout: 0 },
    );
    const ids = lengths.flatMap((it, number) =>
      Array.from({ length: it }, (_, step) => 1000 * number + step)
    );
    const random = testRandom(seed), count = 5;
    const batch = training.allocate(count * numSteps);
    assertEquals(training.sample(random, batch, { numSteps }), batch);
    for (let row = 0; row < count * numSteps; row++) {
      const id = batch.rewards[row], isFirst = row % numSteps === 0;
      assertEquals(batch.starts[row], Number(isFirst || id % 1000 === 0));
      if (isFirst) continue;
      const before = ids.indexOf(batch.rewards[row - 1]);
      assertEquals(id, ids[(before + 1) % ids.length]);
    }
  }));
});

Deno.test("each step is drawn about as often", () => {
  const { training } = make({ holdout: 0 });
  const batch = training.allocate(1000), counts = new Map<number, number>();
  for (let i = 0; i < 25; i++) {
    for (const id of training.sample(testRandom(i), batch).rewards) {
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  assertEquals(counts.size, training.numSteps);
  const mean = 25_000 / training.numSteps;
  const square = [...counts.values()]
    .reduce((sum, it) => sum + (it - mean) ** 2 / mean, 0);
  // 22 degrees of freedom: above 48 in 1 of 1000 cases.
  assert(square < 48, `chi square ${square}`);
});

Deno.test("the seed and the number of an episode say if it is held out", () => {
  const held = (seed: number) =>
    make({ seed, holdout: 0.3 }).heldOut.episodes.join();
  assertEquals(held(1), held(1));
  assert(new Set([1, 2, 3, 4, 5].map(held)).size > 2);
  const counts = new Int32Array(10);
  for (let seed = 0; seed < 400; seed++) {
    for (const it of make({ seed }).heldOut.episodes) counts[it]++;
  }
  assert(counts.every((it) => it > 15 && it < 75), `${counts}`);
});

Deno.test("the best episodes come first, by discounted return", () => {
  const rewards = [[0, 9], [5, 0], [1, 1], [8, -9]];
  const episodes = rewards.map((it, i) => ({ ...episode(i, 2), rewards: it }));
  const best = (bestFraction: number, gamma: number) =>
    new Dataset(episodes, { ...SPACES, holdout: 0, bestFraction, gamma })
      .training.episodes;
  assertEquals(best(0.5, 1), [0, 1]);
  assertEquals(best(0.75, 0.5), [1, 0, 3]);
  assertEquals(best(0.01, 0), [3]);
  assertEquals(best(1, 0), [0, 1, 2, 3]);
});

Deno.test("returns, their range, and statistics of what is learned from", () => {
  const data = make({ holdout: 0 }, 3);
  assertEquals(data.returns, Float64Array.of(0, 2001, 6003));
  assertEquals(data.discountedReturns[1], 1000 + 0.99 * 1001);
  assertEquals(data.bestReturn, 6003);
  assertEquals(data.meanReturn, 2668);
  assertEquals(data.rewardScale, 1000 / 6003);
  assertRefused({
    "RangeError: Cannot scale rewards by the range of returns: all 1 episodes have the return 0":
      () => make({ holdout: 0 }, 1).rewardScale,
  });
  const best = make({ holdout: 0, bestFraction: 0.4 }, 3);
  const { mean, deviation } = best.observationStatistics;
  assertEquals(mean, Float64Array.of(2001, -2001));
  const [first] = deviation as Float64Array;
  assertAlmostEquals(first, Math.sqrt(2 / 3), 1e-12);
});

Deno.test("nested observations, whole numbers, masks and their checks", () => {
  const observationSpace: Space = {
    type: "dict",
    spaces: {
      place: box(2),
      lamps: { type: "tuple", spaces: [{ type: "discrete", n: 3 }] },
      bits: { type: "multiBinary", n: 2 },
    },
  };
  const actionSpace: Space = { type: "multiDiscrete", nvec: [2, 3] };
  const masked: Episode = {
    observations: {
      place: [1, 2, 3, 4, 5, 6],
      lamps: [BigInt64Array.of(0n, 2n, 1n)].map((it) => Array.from(it, Number)),
      bits: Int8Array.of(0, 1, 1, 1, 0, 0),
      unused: [0],
    },
    actions: Float64Array.of(1, 2, 0, 1),
    rewards: [1, 2],
    terminations: [0, 0],
    truncations: [0, 0],
    actionMasks: [0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1],
  };
  const options = { observationSpace, actionSpace, holdout: 0 };
  const { training } = new Dataset([masked], options);
  const batch = training.read([1], training.allocate(1));
  assertEquals(batch.nextObservations, {
    place: Float32Array.of(5, 6),
    lamps: [Int32Array.of(1)],
    bits: Uint8Array.of(0, 0),
  });
  assertEquals(batch.actions, Int32Array.of(0, 1));
  assertEquals(batch.actionMasks, Uint8Array.of(1, 1, 0, 1, 0));
  assertEquals(batch.nextActionMasks, Uint8Array.of(1, 1, 1, 1, 1));
  assertEquals(batch.terminated, Uint8Array.of(0));
  const { mean } = new Dataset([masked], options).observationStatistics;
  assertEquals(mean, {
    place: Float64Array.of(2, 3),
    lamps: [Float64Array.of(1)],
    bits: Float64Array.of(0.5, 1),
  });
  const with_ = (changes: object) => () =>
    new Dataset([masked, { ...masked, ...changes }], options);
  const { observations } = masked as { observations: object };
  assertRefused({
    "RangeError: Cannot use episode 1: its actions at step 1 have 0, which the action mask forbids":
      with_({ actions: [1, 2, 0, 0] }),
    "RangeError: Cannot use episode 1: its actions at step 0 have 3, expected a whole number from 0 to 2":
      with_({ actions: [1, 3, 0, 0] }),
    "RangeError: Cannot use episode 1: its actionMasks have no numbers, expected 3 rows of shape [5]":
      with_({ actionMasks: undefined }),
    "RangeError: Cannot use episode 1: its actionMasks have 12 numbers, expected 3 rows of shape [5]":
      with_({ actionMasks: new Uint8Array(12) }),
    "RangeError: Cannot use episode 1: its observations.lamps.0 at step 2 have 3, expected a whole number from 0 to 2":
      with_({ observations: { ...observations, lamps: [[0, 1, 3]] } }),
    "RangeError: Cannot use episode 1: its observations.place have no numbers, expected 3 rows of shape [2]":
      with_({ observations: { ...observations, place: undefined } }),
  });
});

Deno.test("wrong data is one line with field, episode and step", () => {
  const changed = (changes: object, options = {}) => () =>
    new Dataset([episode(0, 3), { ...episode(1, 3), ...changes }], {
      ...SPACES,
      ...options,
    });
  const rewards = [0, NaN, 0];
  assertRefused({
    "RangeError: Cannot learn from data without episodes: expected one or more":
      () => new Dataset([], SPACES),
    "RangeError: Cannot use episode 1: its rewards at step 1 have NaN, expected a finite number":
      changed({ rewards }),
    "RangeError: Cannot use episode 1: its observations at step 3 have Infinity, expected a finite number of 32 bits":
      changed({ observations: [0, 0, 0, 0, 0, 0, 0, Infinity] }),
    "RangeError: Cannot use episode 1: its rewards at step 2 have 1e+39, expected a finite number of 32 bits":
      changed({ rewards: [0, 1, 1e39] }),
    "RangeError: Cannot use episode 1: its observations at step 0 have 1e+300, expected a finite number":
      changed({ observations: [1e300, 0, 0, 0, 0, 0, 0, 0] }),
    "RangeError: Cannot use episode 1: its terminations at step 1 have NaN, expected 0 or 1":
      changed({ terminations: [0, NaN, 1] }),
    "RangeError: Cannot use episode 1: its actions at step 2 have -1.5, expected a finite number from -1 to 1":
      changed({ actions: [1, 0, -1.5] }),
    "RangeError: Cannot use episode 1: its observations have 12 numbers, expected 4 rows of shape [2]":
      changed({ observations: new Float32Array(12) }),
    "RangeError: Cannot use episode 1: its actions have 4 numbers, expected 3 rows of shape [1]":
      changed({ actions: [0, 0, 0, 0] }),
    "RangeError: Cannot use episode 1: its observations have no numbers, expected 4 rows of shape [2]":
      changed({ observations: { x: [0] } }),
    "RangeError: Cannot use episode 1: it has 2 truncations, expected 3":
      changed({ truncations: [0, 1] }),
    "RangeError: Cannot use episode 1: step 0 of 3 ends it": changed({
      terminations: [1, 0, 1],
    }),
    "RangeError: Cannot use episode 1: it has no steps": changed({
      rewards: [],
      terminations: [],
      truncations: [],
    }),
    "RangeError: Cannot use masks of actions that are a box: expected none":
      () => new Dataset([{ ...episode(0, 1), actionMasks: [1, 1] }], SPACES),
    "RangeError: Cannot hold out 0.9 of 2 episodes: none is left to learn from, expected a smaller share or 0":
      changed({}, { holdout: 0.9 }),
    "RangeError: Cannot hold out 0.1 of 1 episode: none is left": () =>
      new Dataset([episode(0, 1)], SPACES),
    "RangeError: Cannot make a data set with holdout 2: expected a number from 0 to 1":
      changed({}, { holdout: 2 }),
    "RangeError: Cannot make a data set with bestFraction 0: expected a number above 0, up to 1":
      changed({}, { bestFraction: 0 }),
    "TypeError: Unknown option 'holdOut' of a data set: did you mean 'holdout'?":
      changed({}, { holdOut: 0 }),
  });
  // Whole numbers are not rounded, nor cut to their bits.
  const whole: [Space, number][] = [
    [{ type: "discrete", n: 3 }, 0.5],
    [{ type: "multiDiscrete", nvec: [3] }, 1.5],
    [{ type: "multiBinary", n: 1 }, 0.5],
    [{ ...box(1), low: 0, high: 255, dtype: "uint8" }, 300],
    [{ ...box(1), low: -9, high: 2 ** 40, dtype: "int32" }, 2 ** 40],
    [{ type: "discrete", n: 3 }, Infinity],
  ];
  for (const [actionSpace, odd] of whole) {
    assertRefused({
      [`RangeError: Cannot use episode 0: its actions at step 2 have ${odd}, expected a whole number`]:
        () =>
          new Dataset([{ ...episode(0, 3), actions: [0, 1, odd] }], {
            ...SPACES,
            actionSpace,
            holdout: 0,
          }),
    });
  }
  // Rounding to 32 bits is not out of bounds.
  const actionSpace = { ...box(1, 0.1), dtype: "float64" as const };
  changed({ actions: Float32Array.of(0.1, -0.1, 0) }, { actionSpace });
});

Deno.test("data is checked against spaces, part by part", () => {
  const data = make();
  data.checkSpaces({ ...SPACES, observationSpace: box(2, 1) });
  const nested = { type: "dict", spaces: { x: box(2) } } as const;
  assertRefused({
    "RangeError: Cannot use the data: its observations are a box of shape [2], expected a box of shape [17]":
      () => data.checkSpaces({ ...SPACES, observationSpace: box(17) }),
    "RangeError: Cannot use the data: its actions are a box of shape [1], expected a discrete space from 0 to 2":
      () =>
        data.checkSpaces({
          ...SPACES,
          actionSpace: { type: "discrete", n: 3 },
        }),
    "RangeError: it has observations, actions, rewards, terminated, expected observations.x: a box of shape [2]":
      () => data.checkSpaces({ ...SPACES, observationSpace: nested }),
  });
});

Deno.test("reading and drawing of steps that are not there", () => {
  const { training } = make({ holdout: 0 });
  const batch = training.allocate(2);
  assertRefused({
    "RangeError: Cannot read 1 steps into 2 rows: expected one for each": () =>
      training.read([0], batch),
    "RangeError: Cannot read step 99 of 23: expected 0 to 22": () =>
      training.read([0, 99], batch),
    "RangeError: Cannot draw sequences of 3 steps into 2 rows": () =>
      training.sample(testRandom(0), batch, { numSteps: 3 }),
  });
});

Deno.test("the hash is that of the numbers, not of their arrays or the split", () => {
  const { sha256 } = make();
  assertEquals(sha256.length, 64);
  assertEquals(make({ seed: 5, holdout: 0, bestFraction: 0.2 }).sha256, sha256);
  const episodes = Array.from({ length: 10 }, (_, i) => episode(i, i % 4 + 1));
  const lists = episodes.map((it) => ({
    ...it,
    observations: Array.from(it.observations as Float32Array),
    rewards: [...Array.from(it.rewards)],
    terminations: Array.from(it.terminations, (flag) => flag * 2),
  }));
  assertEquals(new Dataset(lists, SPACES).sha256, sha256);
  const hashes = [
    { actions: [0.5] },
    { rewards: [1e-9] },
    { observations: [1e-9, 0, 0, 0] },
    { terminations: [0] },
  ].map((change) =>
    new Dataset([{ ...episodes[0], ...change }, ...episodes.slice(1)], SPACES)
      .sha256
  );
  assertEquals(new Set([sha256, ...hashes]).size, 5);
  assert(new Dataset(episodes.toReversed(), SPACES).sha256 !== sha256);
});
