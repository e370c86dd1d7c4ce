import type { StateTree } from "@bellman/types";
import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import type { FieldArray } from "../fields.ts";
import { NaiveReplay } from "../testdata/naive_replay.ts";
import { testRandom } from "../testdata/random.ts";
import {
  NStepAccumulator,
  type NStepAccumulatorOptions,
} from "./n_step_accumulator.ts";

const flag = { shape: [], dtype: "uint8" } as const;
const options: NStepAccumulatorOptions = {
  fields: {
    seen: { shape: [3], dtype: "float32" },
    reward: { shape: [], dtype: "float64" },
    terminated: flag,
    truncated: flag,
    after: { camera: { shape: [3], dtype: "int32" } },
  },
  last: ["after"],
  steps: 3,
  gamma: 0.5,
};

type Rows = ReturnType<NaiveReplay["step"]>;

/** A step in which each environment sees which it is and how late it is. */
function stepOf(rows: Rows, step: number) {
  return {
    seen: rows.flatMap((_, env) => [env, step, 7]),
    reward: rows.map(({ reward }) => reward),
    terminated: rows.map(({ terminated }) => terminated),
    truncated: rows.map(({ truncated }) => truncated),
    after: { camera: rows.flatMap(({ next }) => next.camera) },
  };
}

/** The first rows of an accumulator, one record each. */
function finished({ rows }: NStepAccumulator, count: number) {
  const { after, ...flat } = rows as Record<string, FieldArray>;
  const { camera } = after as unknown as { camera: FieldArray };
  const arrays = { ...flat, camera };
  return Array.from({ length: count }, (_, row) =>
    Object.fromEntries(
      Object.entries(arrays).map(([name, array]) => {
        const size = name === "seen" || name === "camera" ? 3 : 1;
        return [name, [...array.slice(row * size, (row + 1) * size)]];
      }),
    ));
}

const setups = fc.record({
  numEnvs: fc.integer({ min: 1, max: 3 }),
  steps: fc.integer({ min: 1, max: 5 }),
  length: fc.integer({ min: 1, max: 30 }),
  endings: fc.constantFrom(0, 0.1, 0.5),
  seed: fc.nat(),
});

Deno.test("each step becomes a row once, in order, with its return", () => {
  fc.assert(fc.property(setups, ({ numEnvs, steps, length, endings, seed }) => {
    const random = testRandom(seed);
    const naive = new NaiveReplay({
      numEnvs,
      steps: length,
      frames: 1,
      zeroPadding: false,
      nStep: steps,
      gamma: 0.5,
      lag: 0,
      frameSize: 3,
      channels: 1,
      jointSize: 1,
    });
    const make = () => new NStepAccumulator({ ...options, numEnvs, steps });
    let accumulator = make();
    const rows = [];
    for (let step = 0; step < length; step++) {
      const count = accumulator.add(
        stepOf(naive.step(random, endings), step),
      );
      rows.push(...finished(accumulator, count));
      const saved = accumulator.save();
      accumulator = make();
      accumulator.load(saved);
    }
    rows.push(...finished(accumulator, accumulator.flush()));
    assertEquals(accumulator.flush(), 0);

    for (let env = 0; env < numEnvs; env++) {
      const own = rows.filter(({ seen }) => seen[0] === env);
      const wanted = Array.from({ length }, (_, step) => {
        const row = naive.row(step, env);
        return {
          seen: [env, step, 7],
          reward: [...row.reward],
          terminated: [...row.terminated],
          truncated: [...row.truncated],
          camera: [...row.nextCamera],
          discount: [...row.discount],
        };
      });
      assertEquals(own, wanted);
    }
  }));
});

Deno.test("what was cleared is not finished", () => {
  const accumulator = new NStepAccumulator(options);
  const step = {
    seen: [1, 2, 3],
    reward: [1],
    terminated: [0],
    truncated: [0],
    after: { camera: [2, 3, 4] },
  };
  accumulator.add(step);
  accumulator.clear();
  assertEquals(accumulator.flush(), 0);
  assertEquals([1, 2, 3, 4].map(() => accumulator.add(step)), [0, 0, 1, 1]);
});

Deno.test("fields, names and steps have to fit", () => {
  const make = (changes: object) => () =>
    new NStepAccumulator({ ...options, ...changes });
  assertThrows(
    make({ last: ["afte"] }),
    RangeError,
    "Cannot take unknown field 'afte': did you mean 'after'?",
  );
  assertThrows(make({ numEnvs: 0 }), RangeError, "numEnvs 0");
  assertThrows(make({ steps: 0 }), RangeError, "Cannot sum 0 steps");
  assertThrows(make({ reward: "seen" }), TypeError, "Cannot sum 'seen'");
  assertThrows(
    make({ discount: "seen" }),
    RangeError,
    "Cannot name a field 'seen'",
  );
  assertThrows(
    () => new NStepAccumulator(options).add({ seen: [1, 2] }),
    RangeError,
    "Cannot add 2 numbers as 'seen': expected 3",
  );
});

Deno.test("states of other accumulators change nothing", () => {
  const accumulator = new NStepAccumulator(options);
  const state = accumulator.save();
  const other = new NStepAccumulator({ ...options, steps: 4 }).save();
  const steps = state.steps as Record<string, StateTree>;
  const states = [
    other,
    {},
    null,
    { ...state, counts: Int32Array.of(3) },
    { ...state, starts: Int32Array.of(-1) },
    { ...state, starts: Int32Array.of(0, 0) },
    { ...state, steps: { ...steps, reward: new Float32Array(3) } },
  ];
  for (const it of states) {
    assertThrows(
      () => accumulator.load(it as StateTree),
      TypeError,
      "Cannot load an accumulator",
    );
  }
  assertEquals(accumulator.save(), state);
});
