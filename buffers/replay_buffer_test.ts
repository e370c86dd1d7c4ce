import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import type { Accumulator } from "./accumulator.ts";
import { MemoryStorage } from "./memory_storage.ts";
import { ReplayBuffer } from "./replay_buffer.ts";
import type { ReplayBufferState } from "./replay_buffer_state.ts";
import type { Storage } from "./storage.ts";
import { chiSquaredDeviation } from "./testdata/chi_squared.ts";
import { testRandom } from "./testdata/random.ts";
import { UniformSampler } from "./uniform_sampler.ts";

const number = { shape: [], dtype: "int32" } as const;
const flag = { shape: [], dtype: "uint8" } as const;
const flags = { terminated: flag, truncated: flag };

/** A buffer of records that stand for themselves. */
function records(capacity: number, options = {}): ReplayBuffer {
  return new ReplayBuffer({ capacity, fields: { x: number }, ...options });
}

/** Numbers from 0 on. */
function count(length: number): number[] {
  return Array.from({ length }, (_, i) => i);
}

function xs(buffer: ReplayBuffer): number[] {
  return [...buffer.gather(buffer.slots()).x as Int32Array];
}

Deno.test("records follow each other and the oldest go first", () => {
  const buffer = records(3);
  for (const x of [1, 2]) buffer.add({ x: [x] });
  assertEquals([buffer.length, buffer.full, xs(buffer)], [2, false, [1, 2]]);
  for (const x of [3, 4]) buffer.add({ x: [x] });
  assertEquals([buffer.length, buffer.full, xs(buffer)], [3, true, [2, 3, 4]]);
  buffer.clear();
  assertEquals([buffer.length, buffer.full], [0, false]);
  buffer.addBatch({ x: [5, 6, 7, 8, 9] }, 5);
  assertEquals(xs(buffer), [7, 8, 9]);
});

Deno.test("records may come several at a time, whatever the capacity", () => {
  const buffer = records(5, { numEnvs: 3 });
  buffer.add({ x: [1, 2, 3] });
  buffer.add({ x: Float64Array.of(4, 5, 6) });
  assertEquals(xs(buffer), [2, 3, 4, 5, 6]);
  buffer.addBatch({ x: [7, 8, 9, 0, 0] }, 2);
  assertEquals(xs(buffer), [4, 5, 6, 7, 8]);
  buffer.addBatch({ x: [] }, 0);
  buffer.addBatch({ x: count(23) }, 23);
  assertEquals(xs(buffer), [18, 19, 20, 21, 22]);
});

Deno.test("each row is drawn as often", () => {
  for (const replacement of [true, false]) {
    const sampler = new UniformSampler({ replacement });
    const buffer = records(50, { sampler });
    buffer.addBatch({ x: count(70) }, 70);
    const random = testRandom(1);
    const into = buffer.batch(20);
    const counts = new Int32Array(70);
    for (let i = 0; i < 5000; i++) {
      const { x } = buffer.sample(random, { into });
      for (const value of x as Int32Array) counts[value]++;
    }
    assertEquals(counts.subarray(0, 20), new Int32Array(20));
    const share = counts.map(() => 1).fill(0, 0, 20);
    const deviation = chiSquaredDeviation(
      counts,
      [...share].map((it) => it / 50),
    );
    // Without replacement counts vary less.
    assertEquals(
      Math.abs(deviation) < (replacement ? 4 : 8),
      true,
      `${deviation}`,
    );
  }
});

Deno.test("without replacement no row comes twice, nor more than there are", () => {
  const sampler = new UniformSampler({ replacement: false });
  const buffer = records(30, { sampler });
  buffer.addBatch({ x: count(40) }, 40);
  const random = testRandom(2);
  for (let size = 1; size <= 30; size++) {
    const { slots } = buffer.sample(random, { size });
    assertEquals(new Set(slots).size, size);
  }
  assertThrows(
    () => buffer.sample(random, { size: 31 }),
    RangeError,
    "Cannot sample 31 rows as the buffer holds 30",
  );
});

Deno.test("a reservoir holds each row ever added as often", () => {
  const random = testRandom(3);
  const counts = new Int32Array(40);
  for (let run = 0; run < 4000; run++) {
    const buffer = records(8, { eviction: "reservoir", random });
    buffer.addBatch({ x: count(20) }, 20);
    for (let x = 20; x < 40; x++) buffer.add({ x: [x] });
    assertEquals(buffer.length, 8);
    for (const x of xs(buffer)) counts[x]++;
  }
  const deviation = chiSquaredDeviation(counts, Array(40).fill(1 / 40));
  assertEquals(Math.abs(deviation) < 4, true, `${deviation}`);
});

Deno.test("a reservoir goes on as the one that it was saved from", () => {
  const make = (random = testRandom(4)) =>
    records(4, { eviction: "reservoir", random });
  const first = make();
  first.addBatch({ x: count(9) }, 9);
  const random = testRandom(5);
  const [a, b] = [make(random), make(testRandom(5))];
  for (const buffer of [a, b]) {
    buffer.load(first.save());
    buffer.addBatch({ x: count(50) }, 50);
  }
  assertEquals(a.save(), b.save());
  assertEquals(a.save().seen, 59);
});

Deno.test("arrays grow by doubling up to the capacity", () => {
  const sizes: number[] = [];
  const sampler = new UniformSampler() as UniformSampler & {
    resize(capacity: number): void;
  };
  sampler.resize = (capacity) => sizes.push(capacity);
  const buffer = records(100, { initialCapacity: 3, sampler });
  assertEquals(buffer.byteLength, 12);
  buffer.addBatch({ x: count(90) }, 20);
  for (const x of count(80)) buffer.add({ x: [x] });
  assertEquals(sizes, [3, 20, 40, 80, 100]);
  assertEquals([buffer.byteLength, buffer.length], [400, 100]);
  assertEquals(xs(buffer), [...count(20), ...count(80)]);
});

Deno.test("a buffer takes no more than its rows", () => {
  const fields = {
    observation: { shape: [17], dtype: "float32" },
    action: { shape: [6], dtype: "float32" },
    reward: { shape: [], dtype: "float32" },
    ...flags,
  } as const;
  const capacity = 10_000;
  const next = { nextObservation: "observation" };
  const buffer = new ReplayBuffer({ capacity, fields, episodes: { next } });
  const step = {
    observation: new Float32Array(17),
    action: new Float32Array(6),
    reward: [0],
    terminated: [0],
    truncated: [0],
    nextObservation: new Float32Array(17),
  };
  for (let i = 1; i <= 30_000; i++) {
    step.truncated[0] = i % 1000 === 0 ? 1 : 0;
    buffer.add(step);
  }
  const payload = capacity * (17 * 4 + 6 * 4 + 4 + 2);
  assertEquals(buffer.byteLength < 1.02 * payload, true);
});

Deno.test("a transition of stacked frames takes the memory of one frame", () => {
  const capacity = 1000;
  const buffer = new ReplayBuffer({
    capacity,
    fields: {
      observation: { shape: [84, 84, 1], dtype: "uint8" },
      action: number,
      reward: { shape: [], dtype: "float32" },
      ...flags,
    },
    episodes: {
      next: { nextObservation: "observation" },
      stack: { observation: 4 },
      nStep: { steps: 3, gamma: 0.99 },
    },
  });
  const frame = new Uint8Array(84 * 84);
  for (let i = 1; i <= 2000; i++) {
    buffer.add({
      observation: frame,
      action: [i],
      reward: [0],
      terminated: [i % 200 === 0 ? 1 : 0],
      truncated: [0],
      nextObservation: frame,
    });
  }
  assertEquals(buffer.byteLength / capacity <= 7200, true);
  assertEquals(buffer.length, capacity - 3);
});

Deno.test("a step that does not fit changes nothing", () => {
  const buffer = new ReplayBuffer({
    capacity: 2,
    fields: { x: number, ...flags },
    episodes: { next: { y: "x" } },
  });
  const step = { x: [1], terminated: [0], truncated: [0], y: [2] };
  for (let i = 0; i < 3; i++) buffer.add(step);
  const before = buffer.save();
  assertThrows(
    () => buffer.add({ ...step, y: [1, 2] }),
    RangeError,
    "Cannot add 2 numbers as 'y': expected 1",
  );
  assertThrows(
    () => buffer.add({ x: [1], terminated: [0], truncated: [0] }),
    TypeError,
    "Cannot add 'y' from nothing: expected 1 numbers",
  );
  assertThrows(
    () => buffer.add({ ...step, z: [1] }),
    RangeError,
    "Cannot add unknown field 'z'",
  );
  assertThrows(
    () => buffer.addBatch(step, 2),
    RangeError,
    "Cannot add 1 numbers as 'x': expected at least 2",
  );
  for (const rows of [-1, 0.5, NaN]) {
    assertThrows(
      () => buffer.addBatch(step, rows),
      RangeError,
      `Cannot add ${rows} rows: expected a whole multiple of 1`,
    );
  }
  assertEquals(buffer.save(), before);
});

Deno.test("options that do not fit each other are named", () => {
  const fields = { x: number, ...flags };
  const make = (options: object) => () =>
    new ReplayBuffer({ capacity: 12, fields, ...options });
  const { random } = { random: testRandom(0) };
  const storage = new MemoryStorage();
  const accumulator = {} as Accumulator;
  const ranges: [object, string][] = [
    [{ capacity: 0 }, "Cannot make a buffer with capacity 0"],
    [{ numEnvs: 1.5 }, "Cannot make a buffer with numEnvs 1.5"],
    [{ initialCapacity: 0 }, "Cannot make a buffer with initialCapacity 0"],
    [{ writers: 0, shared: true }, "Cannot make a buffer with writers 0"],
    [{ capacity: 2 ** 31 }, "Cannot make a buffer of 2147483648 rows"],
    [
      { episodes: {}, numEnvs: 5 },
      "Cannot share 12 rows among 5 environments: expected a multiple such as 15",
    ],
    [
      { episodes: { stack: { x: 4 } }, numEnvs: 4 },
      "Cannot stack 4 frames in a buffer of 3 steps: expected a capacity of 16 or more",
    ],
    [
      { episodes: { stack: { x: 0 } } },
      "Cannot stack 0 frames of 'x': expected a whole number above 0",
    ],
    [
      { episodes: { stack: { y: 2 } } },
      "Cannot stack unknown field 'y': did you mean 'x'?",
    ],
    [
      { episodes: { next: { y: "z" } } },
      "Cannot follow unknown field 'z': did you mean 'x'?",
    ],
    [{ episodes: { next: { x: "x" } } }, "Cannot name a field 'x'"],
    [{ episodes: { next: { slots: "x" } } }, "Cannot name a field 'slots'"],
    [
      { episodes: { truncated: "trunkated" } },
      "Cannot end episodes by unknown field 'trunkated': did you mean 'truncated'?",
    ],
    [
      { episodes: { nStep: { steps: 0, gamma: 1, reward: "x" } } },
      "Cannot sum 0 steps",
    ],
    [
      { episodes: { nStep: { steps: 1, gamma: 1.1, reward: "x" } } },
      "Cannot discount by 1.1: expected a number from 0 to 1",
    ],
    [
      { episodes: { nStep: { steps: 1, gamma: 1 } } },
      "Cannot sum unknown field 'reward'",
    ],
  ];
  for (const [options, message] of ranges) {
    assertThrows(make(options), RangeError, message);
  }
  const types: [object, string][] = [
    [
      { writers: 2 },
      "Cannot have 2 writers: expected one, or the option 'shared'",
    ],
    [
      { eviction: "newest" },
      "Cannot evict rows by 'newest': did you mean 'oldest'?",
    ],
    [
      { eviction: "reservoir" },
      "Cannot evict rows by 'reservoir' without randomness: expected the option 'random'",
    ],
    [
      { eviction: "reservoir", random, episodes: {} },
      "Cannot evict rows by 'reservoir' with the option 'episodes'",
    ],
    [
      { eviction: "reservoir", random, shared: true },
      "Cannot evict rows by 'reservoir' with the option 'shared'",
    ],
    [
      { accumulator, episodes: {} },
      "Cannot accumulate rows with the option 'episodes'",
    ],
    [
      { shared: true, storage },
      "Cannot share memory with the option 'storage'",
    ],
    [
      { shared: true, initialCapacity: 3 },
      "Cannot share memory with the option 'initialCapacity'",
    ],
    [
      { episodes: { padding: "repaet" } },
      "Cannot pad stacks by 'repaet': did you mean 'repeat'?",
    ],
    [
      { episodes: { terminated: "x" } },
      "Cannot end episodes by 'x' of 1 int32 numbers: expected a single uint8",
    ],
    [
      {
        fields: { x: { shape: [2], dtype: "int32" }, ...flags },
        episodes: { nStep: { steps: 1, gamma: 1, reward: "x" } },
      },
      "Cannot sum 'x' of 2 numbers: expected a single number",
    ],
  ];
  for (const [options, message] of types) {
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
  assertThrows(
    sample({ ...into, x: new Float32Array(3) }),
    TypeError,
    "Cannot sample 'x' into another kind of array: expected one of int32",
  );
  assertThrows(
    sample({ ...into, x: new Int32Array(4) }),
    RangeError,
    "Cannot sample into 4 numbers as 'x': expected 3",
  );
  assertThrows(
    sample({ ...into, slots: [0, 0, 0] }),
    TypeError,
    "Cannot sample into arrays without slots and weights",
  );
  assertThrows(
    sample({ ...into, weights: new Float32Array(2) }),
    RangeError,
    "Cannot sample 3 slots and 2 weights: expected as many",
  );
});

Deno.test("rows that are not held are not drawn or read", () => {
  const buffer = records(4);
  const random = testRandom(0);
  assertThrows(
    () => buffer.sample(random, { size: 64 }),
    RangeError,
    "Cannot sample 64 rows as the buffer holds 0",
  );
  buffer.addBatch({ x: [1, 2] }, 2);
  for (const slot of [2, -1, 4, 0.5, NaN]) {
    assertThrows(
      () => buffer.gather([0, slot]),
      RangeError,
      `Cannot gather slot ${slot}: expected one of the 2 rows that may be drawn`,
    );
  }
  assertThrows(
    () => buffer.gather([0, 1], buffer.batch(3)),
    RangeError,
    "Cannot gather 2 slots into a batch of 3: expected as many",
  );
  for (const size of [0, 1.5]) {
    assertThrows(
      () => buffer.batch(size),
      RangeError,
      `Cannot make a batch of ${size} rows: expected a whole number above 0`,
    );
  }
});

Deno.test("a buffer without a copy saves its own memory", () => {
  const buffer = records(3);
  buffer.addBatch({ x: [1, 2] }, 2);
  const { rings: [{ fields: { x: view } }] } = buffer.save({ copy: false });
  const { rings: [{ fields: { x: copy } }] } = buffer.save();
  buffer.clear();
  buffer.add({ x: [9] });
  assertEquals([view, copy], [Int32Array.of(9, 2), Int32Array.of(1, 2)]);
});

Deno.test("a storage closes its columns, and may keep rows anywhere", () => {
  let closed = 0;
  const lists: Storage = {
    allocate({ size }) {
      const rows: number[][] = [];
      return {
        byteLength: 0,
        write(row, values) {
          for (let at = 0; at < values.length; at += size) {
            rows[row++] = Array.prototype.slice.call(values, at, at + size);
          }
        },
        read: (row, into, at) => into.set(rows[row], at),
        resize() {},
        close: () => closed++,
      };
    },
  };
  const buffer = new ReplayBuffer({
    capacity: 3,
    fields: { x: { shape: [2], dtype: "float32" }, ...flags },
    episodes: { next: { y: "x" }, stack: { x: 2 } },
    storage: lists,
  });
  const step = { terminated: [0], truncated: [0] };
  for (let i = 0; i < 4; i++) {
    step.truncated[0] = i === 2 ? 1 : 0;
    buffer.add({ ...step, x: [i, -i], y: [i + 1, -i - 1] });
  }
  const { x, y } = buffer.gather(buffer.slots());
  assertEquals(x, Float32Array.of(1, -1, 2, -2, 3, -3, 3, -3));
  assertEquals(y, Float32Array.of(2, -2, 3, -3, 3, -3, 4, -4));
  const other = new ReplayBuffer({
    capacity: 3,
    fields: { x: { shape: [2], dtype: "float32" }, ...flags },
    episodes: { next: { y: "x" }, stack: { x: 2 } },
  });
  other.load(buffer.save());
  assertEquals(other.save(), buffer.save());
  buffer.close();
  assertEquals(closed, 1);
});

Deno.test("states that do not fit change nothing", () => {
  const make = (capacity = 4, numEnvs = 2) =>
    new ReplayBuffer({
      capacity,
      numEnvs,
      fields: { x: number, ...flags },
      episodes: { next: { y: "x" } },
    });
  const buffer = make();
  const add = (to: ReplayBuffer, truncated: number[]) =>
    to.add({ x: [1, 2], y: [3, 4], truncated, terminated: [0, 0] });
  add(buffer, [0, 1]);
  add(buffer, [1, 1]);
  const state = buffer.save();
  const [ring] = state.rings;
  const load = (changes: object) => () =>
    buffer.load({ ...state, ...changes } as ReplayBufferState);
  const loadRing = (changes: object) =>
    load({ rings: [{ ...ring, ...changes }] });
  const other = make();
  add(other, [0, 0]);
  buffer.load(other.save());
  const before = buffer.save();

  const side = ring.side!;
  const types = [
    load({ rings: undefined }),
    load({ seen: -1 }),
    load({ allocated: 0.5 }),
    loadRing({ total: -1 }),
    loadRing({ total: NaN }),
    loadRing({ side: null }),
    loadRing({ side: { ...side, slots: Int32Array.of(0, 2, 3) } }),
    loadRing({ side: { ...side, slots: Int32Array.of(2, 1, 3) } }),
    loadRing({ side: { ...side, slots: Int32Array.of(1, 2, 2) } }),
    loadRing({ side: { ...side, slots: Int32Array.of(1, 2, 9) } }),
    loadRing({ fields: { ...ring.fields, x: new Float32Array(4) } }),
    loadRing({ fields: { x: ring.fields.x } }),
    () => buffer.load(null as unknown as ReplayBufferState),
  ];
  for (const attempt of types) assertThrows(attempt, TypeError, "Cannot load");
  const ranges = [
    load({ capacity: 8 }),
    load({ numEnvs: 1 }),
    load({ rings: [ring, ring] }),
    loadRing({ total: 1 }),
    loadRing({ fields: { ...ring.fields, x: new Int32Array(3) } }),
    loadRing({ fields: { ...ring.fields, z: new Int32Array(4) } }),
    loadRing({ side: { ...side, slots: Int32Array.of(1, 2) } }),
    loadRing({ side: { ...side, newest: { y: new Int32Array(1) } } }),
  ];
  for (const attempt of ranges) {
    assertThrows(attempt, RangeError, "Cannot load");
  }
  assertEquals(buffer.save(), before);
  load({})();
  assertEquals(buffer.save(), state);
});

Deno.test("neither sampler nor accumulator is loaded where one refuses", () => {
  let refuse = true, loaded = 0;
  const accumulator: Accumulator = {
    rows: {},
    add: () => 0,
    flush: () => 0,
    clear() {},
    save: () => ({}),
    load() {
      if (refuse) throw new TypeError("Cannot load");
    },
  };
  const sampler = new UniformSampler();
  sampler.save = () => ({ loaded });
  sampler.load = (state: { loaded?: number } = {}) => {
    loaded = state.loaded!;
  };
  const buffer = records(4, { sampler, accumulator });
  const state = { ...buffer.save(), sampler: { loaded: 7 } };
  assertThrows(() => buffer.load(state), TypeError, "Cannot load");
  assertEquals(loaded, 0);
  refuse = false;
  buffer.load(state);
  assertEquals(loaded, 7);
});
