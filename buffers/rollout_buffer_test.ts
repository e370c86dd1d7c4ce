import { assertEquals, assertStrictEquals } from "@std/assert";
import fc from "fast-check";
import {
  RolloutBuffer,
  type RolloutBufferState,
  shuffle,
  StepWriter,
} from "./rollout_buffer.ts";
import { testRandom } from "./testdata/random.ts";
import { assertRefused } from "../tests/testdata/refused.ts";

const fields = {
  rewards: { shape: [], dtype: "float64" },
  observations: {
    position: { shape: [2], dtype: "float32" },
    lamps: [{ shape: [], dtype: "uint8" }, { shape: [], dtype: "int32" }],
  },
} as const;

function makeBuffer(): RolloutBuffer {
  return new RolloutBuffer({ numEnvs: 2, numSteps: 3, fields });
}

function step(i: number) {
  return {
    rewards: Float64Array.of(0.1 + i, -0.1 - i),
    observations: {
      position: Float32Array.of(i, i + 0.25, i + 0.5, i + 0.75),
      lamps: [Uint8Array.of(i, 1), Int32Array.of(-i, 7)],
    },
  };
}

Deno.test("steps of an environment lie together", () => {
  const buffer = makeBuffer();
  for (let i = 0; i < 3; i++) {
    assertEquals([buffer.full, buffer.length], [false, i]);
    buffer.add(step(i));
  }
  assertEquals([buffer.full, buffer.length], [true, 3]);
  assertEquals(
    buffer.data("rewards"),
    Float64Array.of(0.1, 1.1, 2.1, -0.1, -1.1, -2.1),
  );
  assertEquals(buffer.data("observations"), {
    position: Float32Array.of(
      ...[0, 0.25, 1, 1.25, 2, 2.25],
      ...[0.5, 0.75, 1.5, 1.75, 2.5, 2.75],
    ),
    lamps: [Uint8Array.of(0, 1, 2, 1, 1, 1), Int32Array.of(0, -1, -2, 7, 7, 7)],
  });
});

Deno.test("values are copied, and read without a copy", () => {
  const buffer = makeBuffer();
  const first = step(1);
  buffer.add(first);
  first.rewards.fill(9);
  const rewards = buffer.data("rewards") as Float64Array;
  assertEquals([rewards[0], rewards[3]], [1.1, -1.1]);
  buffer.clear();
  assertEquals([buffer.full, buffer.length], [false, 0]);
  buffer.add(step(2));
  assertStrictEquals(buffer.data("rewards"), rewards);
  assertEquals([rewards[0], rewards[3]], [2.1, -2.1]);
});

Deno.test("a full buffer takes no step", () => {
  const buffer = makeBuffer();
  for (let i = 0; i < 3; i++) buffer.add(step(i));
  const before = buffer.save();
  assertRefused({
    "RangeError: Cannot add a step to a full buffer: it holds 3 of 3 steps, clear() it first":
      () => buffer.add(step(3)),
  });
  assertEquals(buffer.save(), before);
});

Deno.test("a step that does not fit changes nothing", () => {
  const buffer = makeBuffer();
  buffer.add(step(0));
  const before = buffer.save();
  assertRefused({
    "RangeError: Cannot add 1 numbers as 'observations.position': expected 4":
      () =>
        buffer.add({ ...step(1), observations: { position: [1], lamps: [] } }),
    "RangeError: Cannot add unknown field 'reward': did you mean 'rewards'?":
      () => buffer.add({ ...step(1), reward: [1, 2] }),
    "RangeError: Cannot read unknown field 'observation': did you mean 'observations'?":
      () => buffer.data("observation"),
    "TypeError: Cannot add 'rewards' from nothing: expected 2 numbers": () =>
      buffer.add({ observations: step(1).observations }),
  });
  assertEquals(buffer.save(), before);
});

Deno.test("save and load keep every bit, and share no array", () => {
  const float = fc.float({ noDefaultInfinity: false });
  const steps = fc.array(fc.tuple(float, float), { maxLength: 4 });
  fc.assert(fc.property(steps, (values) => {
    const options = {
      numEnvs: 2,
      numSteps: 4,
      fields: { x: { shape: [], dtype: "float32" } },
    } as const;
    const buffer = new RolloutBuffer(options);
    for (const pair of values) buffer.add({ x: pair });
    const saved = buffer.save();
    const other = new RolloutBuffer(options);
    other.load(saved);
    (saved.fields.x as Float32Array).fill(1);
    const bits = (it: RolloutBuffer) =>
      new Uint32Array((it.data("x") as Float32Array).slice().buffer);
    assertEquals(bits(other), bits(buffer));
    assertEquals(other.length, values.length);
  }));
});

Deno.test("a loaded buffer goes on as the saved one, in the same arrays", () => {
  const first = makeBuffer();
  first.add(step(0));
  const second = makeBuffer();
  const view = second.data("rewards");
  second.load(first.save());
  for (const buffer of [first, second]) {
    buffer.add(step(1));
    buffer.add(step(2));
  }
  assertEquals(second.save(), first.save());
  assertStrictEquals(second.data("rewards"), view);
});

Deno.test("states of other buffers are not loaded", () => {
  const buffer = makeBuffer();
  const state = buffer.save();
  const load = (other: unknown) => () =>
    buffer.load(other as RolloutBufferState);
  assertRefused({
    "RangeError: Cannot load 4 steps into a buffer of 3": load({
      ...state,
      length: 4,
    }),
    "RangeError: Cannot load 2 numbers as 'rewards': expected 6": load({
      ...state,
      fields: { ...state.fields, rewards: new Float64Array(2) },
    }),
    "TypeError: Cannot load a buffer of undefined steps: expected what save() gave":
      load(null),
  });
});

Deno.test("minibatches go through every row once", () => {
  const sizes = fc.tuple(
    fc.integer({ min: 1, max: 4 }),
    fc.integer({ min: 1, max: 5 }),
    fc.nat(4),
    fc.nat(),
  );
  fc.assert(fc.property(sizes, ([numEnvs, numSteps, missing, seed]) => {
    const buffer = new RolloutBuffer({
      numEnvs,
      numSteps,
      fields: { x: { shape: [], dtype: "int32" } },
    });
    const steps = Math.max(1, numSteps - missing);
    const expected: number[] = [];
    for (let i = 0; i < steps; i++) {
      buffer.add({ x: new Int32Array(numEnvs) });
      for (let env = 0; env < numEnvs; env++) expected.push(env * numSteps + i);
    }
    const size = 1 + seed % expected.length;
    const batches = [...buffer.minibatches(testRandom(seed), size)];
    const rows = batches.flatMap((it) => [...it]);
    const ascending = (a: number, b: number) => a - b;
    assertEquals(rows.toSorted(ascending), expected.toSorted(ascending));
    assertEquals(batches.length, Math.ceil(expected.length / size));
    for (const batch of batches.slice(0, -1)) assertEquals(batch.length, size);
  }));
});

Deno.test("minibatches follow from the generator alone", () => {
  const buffer = makeBuffer();
  for (let i = 0; i < 3; i++) buffer.add(step(i));
  const rows = (seed: number) =>
    [...buffer.minibatches(testRandom(seed), 6)][0];
  assertEquals(rows(1), rows(1));
  const orders = new Set([1, 2, 3, 4].map((seed) => rows(seed).join()));
  assertEquals(orders.size > 1, true);
});

Deno.test("minibatches need as many rows", () => {
  const buffer = makeBuffer();
  buffer.add(step(0));
  for (const size of [3, 0, 1.5]) {
    assertRefused({
      [`RangeError: Cannot make minibatches of ${size} rows as the buffer holds 2`]:
        () => buffer.minibatches(testRandom(0), size),
    });
  }
});

Deno.test("a buffer needs sizes above 0", () => {
  assertRefused({
    "RangeError: Cannot make a buffer with numEnvs 0: expected a whole number above 0":
      () => new RolloutBuffer({ numEnvs: 0, numSteps: 1, fields }),
    "RangeError: Cannot make a buffer with numSteps 2.5": () =>
      new RolloutBuffer({ numEnvs: 1, numSteps: 2.5, fields }),
  });
});

Deno.test("large rows are copied as small ones are", () => {
  const size = 300;
  const source = Float64Array.from({ length: 2 * size }, (_, i) => i % 251);
  const expected = new Uint8Array(4 * size);
  expected.set(source.subarray(0, size), size);
  expected.set(source.subarray(size), 3 * size);
  for (const values of [source, Uint8Array.from(source), [...source]]) {
    const data = new Uint8Array(4 * size);
    new StepWriter(data, size, 2).write(values, 1);
    assertEquals(data, expected);
  }
});

Deno.test("an array that comes again is not viewed again", () => {
  const size = 200;
  const data = new Float32Array(6 * size);
  const writer = new StepWriter(data, size, 3);
  const values = new Float32Array(2 * size);
  let views = 0;
  values.subarray = (begin, end) => {
    views++;
    return new Float32Array(values.buffer).subarray(begin, end);
  };
  for (let step = 0; step < 3; step++) {
    values.fill(step + 1, 0, size).fill(-step - 1, size);
    writer.write(values, step);
  }
  assertEquals(views, 2);
  const firsts = [0, 1, 2, 3, 4, 5].map((row) => data[row * size]);
  assertEquals(firsts, [1, 2, 3, -1, -2, -3]);

  // Another array is not taken for the one before.
  const other = new Float32Array(2 * size).fill(9);
  writer.write(other, 0);
  assertEquals([data[0], data[size - 1], data[3 * size]], [9, 9, 9]);
});

Deno.test("shuffle reaches each order about as often", () => {
  const random = testRandom(1);
  const counts = new Map<string, number>();
  for (let i = 0; i < 6000; i++) {
    const numbers = Int32Array.of(0, 1, 2);
    shuffle(numbers, random);
    counts.set(numbers.join(), (counts.get(numbers.join()) ?? 0) + 1);
  }
  assertEquals(counts.size, 6);
  // Five standard deviations about 1000.
  for (const count of counts.values()) {
    assertEquals(Math.abs(count - 1000) < 145, true, `${count}`);
  }
});
