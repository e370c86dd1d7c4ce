import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import { RolloutBuffer } from "../rollout_buffer.ts";
import { SequenceReplayBuffer } from "../sequences/sequence_replay_buffer.ts";
import { testRandom } from "../testdata/random.ts";
import { flags, number, records } from "../testdata/records.ts";
import { ReplayBuffer } from "./replay_buffer.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

Deno.test("a step that does not fit changes nothing", () => {
  const buffer = new ReplayBuffer({
    capacity: 2,
    fields: { x: number, ...flags },
    episodes: { next: { y: "x" } },
  });
  const step = { x: [1], terminated: [0], truncated: [0], y: [2] };
  for (let i = 0; i < 3; i++) buffer.add(step);
  const before = buffer.save();
  assertRefused({
    "RangeError: Cannot add 2 numbers as 'y': expected 1": () =>
      buffer.add({ ...step, y: [1, 2] }),
    "TypeError: Cannot add 'y' from nothing: expected 1 numbers": () =>
      // @ts-expect-error -- nothing is given for y
      buffer.add({ x: [1], terminated: [0], truncated: [0] }),
    "RangeError: Cannot add unknown field 'z'": () =>
      // @ts-expect-error -- there is no z
      buffer.add({ ...step, z: [1] }),
    "RangeError: Cannot add 1 numbers as 'x': expected 2": () =>
      buffer.addBatch(step, 2),
  });
  assertRefused({
    "RangeError: Cannot add 2 numbers as 'y': expected 1": () =>
      buffer.addBatch({ ...step, y: [2, 3] }, 1),
  });
  for (const rows of [-1, 0.5, NaN]) {
    assertRefused({
      [`RangeError: Cannot add ${rows} rows: expected a whole multiple of 1`]:
        () => buffer.addBatch(step, rows),
    });
  }
  assertEquals(buffer.save(), before);
});

Deno.test("integer fields take whole numbers that fit, in every buffer", () => {
  const fields = {
    x: { shape: [], dtype: "float32" },
    pixels: { shape: [2], dtype: "uint8" },
    action: { shape: [], dtype: "int32" },
    ...flags,
  } as const;
  const good = { x: [0.5, NaN], terminated: [0, 1], truncated: [0, 0] };
  const pixels = [0, 255, 7, 8], action = [-(2 ** 31), 2 ** 31 - 1];
  const buffers = [
    new ReplayBuffer({ capacity: 4, numEnvs: 2, fields }),
    new RolloutBuffer({ numSteps: 4, numEnvs: 2, fields }),
    new SequenceReplayBuffer({ capacity: 4, numSteps: 1, numEnvs: 2, fields }),
  ];
  const typed = { ...good, terminated: Uint8ClampedArray.of(0, 1) };
  const range: [string, unknown, string][] = [
    ["pixels", NaN, "0 to 255"],
    ["pixels", -5, "0 to 255"],
    ["pixels", 300, "0 to 255"],
    ["pixels", 1.5, "0 to 255"],
    ["pixels", Infinity, "0 to 255"],
    ["pixels", undefined, "0 to 255"],
    ["pixels", true, "0 to 255"],
    ["action", 2 ** 31, "-2147483648 to 2147483647"],
    ["action", NaN, "-2147483648 to 2147483647"],
    ["terminated", -1, "0 to 255"],
  ];
  for (const buffer of buffers) {
    buffer.add({ ...typed, pixels, action });
    const before = buffer.save();
    for (const [name, value, wanted] of range) {
      const step = { ...good, pixels, action };
      const array = step[name as "pixels"].slice();
      array[1] = value as number;
      const given = [array, Float64Array.from(array)];
      for (const it of typeof value === "number" ? given : [array]) {
        assertThrows(
          () => buffer.add({ ...step, [name]: it }),
          typeof value === "number" ? RangeError : TypeError,
          `Cannot add ${value} as number 1 of '${name}': expected a whole number from ${wanted}`,
        );
      }
    }
    assertEquals(buffer.save(), before);
  }
});

Deno.test("options that do not fit each other are named", () => {
  const fields = { x: number, ...flags };
  const make = (options: object) => () =>
    new ReplayBuffer({ capacity: 12, fields, ...options });
  const ranges: Record<string, object> = {
    "Cannot make a buffer with capacity 0": { capacity: 0 },
    "Cannot make a buffer with numEnvs 1.5": { numEnvs: 1.5 },
    "Cannot make a buffer of 2147483648 rows": { capacity: 2 ** 31 },
    "Cannot share 12 rows among 5 environments: expected a multiple such as 15":
      { episodes: {}, numEnvs: 5 },
    "Cannot stack 4 frames in a buffer of 3 steps: expected a capacity of 16 or more":
      { episodes: { stack: { x: 4 } }, numEnvs: 4 },
    "Cannot stack 0 frames of 'x': expected a whole number above 0": {
      episodes: { stack: { x: 0 } },
    },
    "Cannot stack unknown field 'y': expected one of x, terminated, truncated":
      {
        episodes: { stack: { y: 2 } },
      },
    "Cannot follow unknown field 'z': expected one of x, ": {
      episodes: { next: { y: "z" } },
    },
    "Cannot name a field 'x'": { episodes: { next: { x: "x" } } },
    "Cannot name a field 'slots'": { episodes: { next: { slots: "x" } } },
    "Cannot end episodes by unknown field 'trunkated': did you mean 'truncated'?":
      { episodes: { truncated: "trunkated" } },
    "Cannot sum 0 steps": {
      episodes: { nStep: { steps: 0, gamma: 1, reward: "x" } },
    },
    "Cannot discount by 1.1: expected a number from 0 to 1": {
      episodes: { nStep: { steps: 1, gamma: 1.1, reward: "x" } },
    },
    "Cannot sum unknown field 'reward'": {
      episodes: { nStep: { steps: 1, gamma: 1 } },
    },
    "Cannot draw between unknown field 'xx': expected one of x, ": {
      episodes: {
        nStep: { steps: 2, gamma: 1, reward: "x", between: { a: "xx" } },
      },
    },
    "Cannot draw what is between the steps of a return of 1: expected 2 steps or more":
      {
        episodes: {
          nStep: { steps: 1, gamma: 1, reward: "x", between: { a: "x" } },
        },
      },
  };
  for (const [message, options] of Object.entries(ranges)) {
    assertThrows(make(options), RangeError, message);
  }
  const types: Record<string, object> = {
    "Unknown option 'capacty' of a replay buffer: did you mean 'capacity'?": {
      capacty: 9,
    },
    "Unknown option 'nstep' of episodes: did you mean 'nStep'?": {
      episodes: { nstep: { steps: 2, gamma: 1 } },
    },
    "Unknown option 'n' of nStep: expected one of steps, gamma, ": {
      episodes: { nStep: { n: 2, gamma: 1, reward: "x" } },
    },
    'Cannot make nStep with gamma "1": expected a number': {
      episodes: { nStep: { steps: 2, gamma: "1", reward: "x" } },
    },
    'Cannot make a replay buffer with sampler "uniform": expected an object': {
      sampler: "uniform",
    },
    "Cannot end episodes by 'x' of 1 int32 numbers: expected a single uint8": {
      episodes: { terminated: "x" },
    },
    "Cannot sum 'x' of 2 numbers: expected a single number": {
      fields: { x: { shape: [2], dtype: "int32" }, ...flags },
      episodes: { nStep: { steps: 1, gamma: 1, reward: "x" } },
    },
  };
  for (const [message, options] of Object.entries(types)) {
    assertThrows(make(options), TypeError, message);
  }
});

Deno.test("a batch is drawn into as long as its arrays fit", () => {
  const buffer = records(4);
  buffer.addBatch({ x: [1, 2, 3] }, 3);
  const random = testRandom(0);
  const memory = new Int32Array(8);
  const into = {
    x: memory.subarray(2, 5),
    slots: new Int32Array(3),
    weights: new Float32Array(3),
  };
  assertStrictEquals(buffer.sample(random, { into }), into);
  assertEquals([...into.x], [...into.slots].map((slot) => slot + 1));
  assertEquals(into.weights, Float32Array.of(1, 1, 1));
  assertEquals([memory[1], memory[5]], [0, 0]);

  into.x = new Int32Array(3); // Another array is not taken for the one before.
  buffer.gather([2, 0, 2], into);
  assertEquals(into.x, Int32Array.of(3, 1, 3));
  const old = into.x;
  into.slots = new Int32Array(3);
  buffer.gather([0, 0, 1], into);
  assertEquals([into.slots, old], [
    Int32Array.of(0, 0, 1),
    Int32Array.of(1, 1, 2),
  ]);

  const sample = (batch: object) => () =>
    buffer.sample(random, { into: batch as typeof into });
  assertRefused({
    "TypeError: Cannot sample 'x' into another kind of array: expected one of int32":
      sample({ ...into, x: new Float32Array(3) }),
    "RangeError: Cannot sample into 4 numbers as 'x': expected 3": sample({
      ...into,
      x: new Int32Array(4),
    }),
    "TypeError: Cannot sample into arrays without slots and weights": sample({
      ...into,
      slots: [0, 0, 0],
    }),
    "RangeError: Cannot sample 3 slots and 2 weights: expected as many": sample(
      { ...into, weights: new Float32Array(2) },
    ),
  });
});

Deno.test("rows that are not held are not drawn or read", () => {
  const buffer = records(4);
  const random = testRandom(0);
  assertRefused({
    "RangeError: Cannot sample 64 rows as the buffer holds 0": () =>
      buffer.sample(random, { size: 64 }),
  });
  buffer.addBatch({ x: [1, 2] }, 2);
  for (const slot of [2, -1, 4, 0.5, NaN]) {
    assertRefused({
      [`RangeError: Cannot gather slot ${slot}: expected one of the 2 rows that may be drawn`]:
        () => buffer.gather([0, slot]),
    });
  }
  assertRefused({
    "RangeError: Cannot gather 2 slots into a batch of 3: expected as many":
      () => buffer.gather([0, 1], buffer.batch(3)),
  });
  for (const size of [0, 1.5]) {
    assertRefused({
      [`RangeError: Cannot make a batch of ${size} rows: expected a whole number above 0`]:
        () => buffer.batch(size),
    });
  }
});

Deno.test("what is no object is refused as options, or as fields", () => {
  assertThrows(
    () => new ReplayBuffer(null as never),
    TypeError,
    "Cannot take null as the options of a replay buffer: expected an object",
  );
  assertThrows(
    () => new ReplayBuffer({ capacity: 4 } as never),
    TypeError,
    "Cannot make a buffer with fields undefined: expected an object of fields by name",
  );
});
