import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { type DataSetArray, episodesFromArrays } from "./arrays.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

const row = (...data: number[]): DataSetArray => ({
  data: Float32Array.from(data),
  shape: [data.length],
});

/** Six steps: one that ends, one that is cut off, and one that the data end in. */
const arrays = {
  observations: {
    data: Float32Array.of(0, 0, 1, 1, 2, 2, 10, 10, 11, 11, 20, 20, 21, 21),
    shape: [7, 2],
  },
  actions: row(5, 6, 7, 8, 9, 10, 11),
  rewards: row(0.5, 1, 1.5, 2, 2.5, 3, 3.5),
  terminals: row(0, 0, 1, 0, 0, 0, 0),
  timeouts: row(0, 0, 0, 0, 1, 0, 0),
};

/** Observations, actions, rewards, terminations and truncations of episodes. */
function numbersOf(arrays: Record<string, DataSetArray>): number[][][] {
  return [...episodesFromArrays(arrays)].map((it) =>
    [it.observations, it.actions, it.rewards, it.terminations, it.truncations]
      .map((array) => [...array as Float32Array])
  );
}

Deno.test("without next observations, steps whose outcome is unknown are left out", () => {
  assertEquals(numbersOf(arrays), [
    [[0, 0, 1, 1, 2, 2, 2, 2], [5, 6, 7], [0.5, 1, 1.5], [0, 0, 1], [0, 0, 0]],
    [[10, 10, 11, 11], [8], [2], [0], [1]],
    [[20, 20, 21, 21], [10], [3], [0], [1]],
  ]);
});

Deno.test("with next observations, every step is there", () => {
  const next_observations = {
    data: [1, 1, 2, 2, 3, 3, 11, 11, 12, 12, 21, 21, 22, 22],
    shape: [7, 2],
  };
  const { terminals, timeouts, ...rest } = arrays;
  const renamed = { terminations: terminals, truncations: timeouts };
  assertEquals(numbersOf({ ...rest, ...renamed, next_observations }), [
    [[0, 0, 1, 1, 2, 2, 3, 3], [5, 6, 7], [0.5, 1, 1.5], [0, 0, 1], [0, 0, 0]],
    [[10, 10, 11, 11, 12, 12], [8, 9], [2, 2.5], [0, 0], [0, 1]],
    [[20, 20, 21, 21, 22, 22], [10, 11], [3, 3.5], [0, 0], [0, 1]],
  ]);
});

Deno.test("no step runs into another episode", () => {
  const steps = fc.array(
    fc.record({ terminal: fc.boolean(), timeout: fc.boolean() }),
    { maxLength: 40 },
  );
  fc.assert(fc.property(steps, fc.boolean(), (steps, hasNext) => {
    const ends = steps.map(({ terminal, timeout }) => terminal || timeout);
    const numbers = steps.map((_, i) => i);
    const list = (data: number[]) => ({ data, shape: [data.length] });
    const episodes = [...episodesFromArrays({
      observations: list(numbers),
      actions: list(numbers),
      rewards: list(numbers),
      terminals: list(steps.map(({ terminal }) => Number(terminal))),
      timeouts: list(steps.map(({ timeout }) => Number(timeout))),
      ...hasNext && { next_observations: list(numbers.map((i) => i + 0.5)) },
    })];
    const seen = new Set<number>();
    for (const { observations, actions, terminations, ...it } of episodes) {
      const all = [...actions as number[]];
      assertEquals((observations as number[]).length, all.length + 1);
      for (const [i, step] of all.entries()) {
        assertEquals(step, all[0] + i);
        seen.add(step);
        const isLast = i === all.length - 1;
        const flags = terminations[i] + it.truncations[i];
        assertEquals(flags, isLast ? 1 : 0);
        if (!isLast) assertEquals(ends[step], false);
        if (terminations[i]) assertEquals(steps[step].terminal, true);
      }
    }
    const left = numbers.filter((step) => !seen.has(step));
    for (const step of left) {
      assertEquals(hasNext || steps[step].terminal, false);
      assertEquals(ends[step] || step === numbers.at(-1), true);
    }
  }));
});

Deno.test("arrays that are missing or of other lengths are named", () => {
  const { rewards, ...rest } = arrays;
  assertRefused({
    "RangeError: Cannot read episodes without 'rewards': there are observations, ":
      () => episodesFromArrays(rest),
    "RangeError: Cannot read episodes without 'rewards': there are no arrays":
      () => episodesFromArrays({}),
    "RangeError: did you mean 'reward'?": () =>
      episodesFromArrays({ ...rest, reward: rewards }),
    "RangeError: Cannot read episodes with 2 rows of 'timeouts': expected 7 as there are rewards":
      () => episodesFromArrays({ ...arrays, timeouts: row(0, 1) }),
  });
});
