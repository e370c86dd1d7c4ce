import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { chiSquaredDeviation } from "../testdata/chi_squared.ts";
import { testRandom } from "../testdata/random.ts";
import {
  PrioritizedReplayBuffer,
  type PrioritizedReplayBufferOptions,
} from "./prioritized_replay_buffer.ts";

const KINDS = ["proportional", "rank"] as const;
const capacity = 12;
const numEnvs = 2;
const frames = 3;

function makeBuffer(
  options: Partial<PrioritizedReplayBufferOptions> = {},
): PrioritizedReplayBuffer {
  return new PrioritizedReplayBuffer({
    capacity,
    numEnvs,
    fields: {
      id: { shape: [], dtype: "int32" },
      terminated: { shape: [], dtype: "uint8" },
      truncated: { shape: [], dtype: "uint8" },
    },
    episodes: { stack: { id: frames } },
    alpha: 1,
    ...options,
  });
}

function rows(first: number, count: number) {
  const id = Int32Array.from({ length: count }, (_, i) => first + i);
  const none = new Uint8Array(count);
  return { id, terminated: none, truncated: none };
}

/** What a buffer should hold: ids and priorities of the rows to be drawn. */
class Model {
  added = 0;
  readonly ids = new Int32Array(capacity);
  readonly priorities = new Float64Array(capacity);

  add(count: number): void {
    if (count === 0) return;
    const { added, priorities } = this, last = added + count;
    // The oldest of a full ring are only the history of others.
    const history = last > capacity ? (frames - 1) * numEnvs : 0;
    const clear = (row: number) => {
      for (; row < last + history; row++) priorities[row % capacity] = 0;
    };
    clear(added);
    const largest = Math.max(...priorities) || 1;
    for (; this.added < last; this.added++) {
      this.ids[this.added % capacity] = this.added;
      priorities[this.added % capacity] = largest;
    }
    clear(last);
  }

  update(slot: number, priority: number): void {
    if (this.priorities[slot] === 0) return;
    this.priorities[slot] = priority;
  }

  clear(): void {
    this.added = 0;
    this.priorities.fill(0);
  }
}

/** What the sampler knows, which is what the distribution follows from. */
function savedPriorities(buffer: PrioritizedReplayBuffer): Float64Array {
  const { leaves, priorities } = buffer.save().sampler as Record<
    string,
    unknown
  >;
  const saved = (leaves ?? priorities) as Float64Array;
  const all = new Float64Array(capacity);
  all.set(saved);
  return all;
}

const priority = fc.double({ min: 1e-3, max: 1e3, noNaN: true });
const act = fc.oneof(
  { weight: 3, arbitrary: fc.record({ add: fc.constant(1) }) },
  fc.record({ addBatch: fc.nat(8) }),
  {
    weight: 3,
    arbitrary: fc.record({
      update: fc.array(fc.tuple(fc.nat(capacity - 1), priority)),
    }),
  },
  { weight: 3, arbitrary: fc.record({ sample: fc.nat() }) },
  fc.constant("clear" as const),
  fc.constant("save and load" as const),
);

Deno.test("any acts leave rows with their priorities, of which some are drawn", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...KINDS),
      fc.array(act, { maxLength: 30, size: "medium" }),
      (kind, acts) => {
        const options = { kind };
        let buffer = makeBuffer(options);
        const model = new Model();
        for (const act of acts) {
          if (act === "clear") {
            buffer.clear();
            model.clear();
          } else if (act === "save and load") {
            const state = buffer.save();
            buffer = makeBuffer(options);
            buffer.addBatch(rows(900, 14), 14);
            buffer.load(state);
          } else if ("add" in act) {
            buffer.add(rows(model.added, numEnvs));
            model.add(numEnvs);
          } else if ("addBatch" in act) {
            const count = act.addBatch * numEnvs;
            buffer.addBatch(rows(model.added, count), count);
            model.add(count);
          } else if ("update" in act) {
            const updates = act.update.filter(([slot]) => slot < model.added);
            buffer.updatePriorities(
              updates.map(([slot]) => slot),
              updates.map(([, priority]) => priority),
            );
            updates.forEach(([slot, priority]) => model.update(slot, priority));
          } else if (buffer.length > 0) {
            assertDraws(buffer, model, act.sample);
          }
        }
        assertEquals(savedPriorities(buffer), model.priorities);
      },
    ),
    { numRuns: 10_000 },
  );
});

/** That only held rows are drawn, with what they hold. */
function assertDraws(
  buffer: PrioritizedReplayBuffer,
  model: Model,
  seed: number,
) {
  const { slots, id } = buffer.sample(testRandom(seed), { size: 5 });
  slots.forEach((slot, row) => {
    assertEquals(model.priorities[slot] > 0, true, `slot ${slot}`);
    const newest = (id as Int32Array)[row * frames + frames - 1];
    assertEquals(newest, model.ids[slot]);
  });
}

for (const kind of KINDS) {
  Deno.test(`${kind}: rows around the wrap are drawn by their priorities`, () => {
    const buffer = makeBuffer({ kind });
    buffer.addBatch(rows(0, 30), 30);
    const masses = new Float64Array(capacity);
    const held = Array.from({ length: 8 }, (_, i) => (22 + i) % capacity);
    const priorities = [5, 1, 2, 0.5, 3, 4, 0.25, 8];
    buffer.updatePriorities(held, priorities);
    const order = priorities.toSorted((a, b) => b - a);
    held.forEach((slot, i) => {
      masses[slot] = kind === "rank"
        ? 1 / (order.indexOf(priorities[i]) + 1)
        : priorities[i];
    });
    const total = masses.reduce((sum, mass) => sum + mass);
    const counts = new Float64Array(capacity);
    const random = testRandom(1);
    const batch = buffer.batch(1);
    for (let i = 0; i < 20_000; i++) {
      counts[buffer.sample(random, { into: batch }).slots[0]]++;
    }
    const deviation = chiSquaredDeviation(
      counts,
      masses.map((mass) => mass / total),
    );
    assertEquals(Math.abs(deviation) < 4, true, `${deviation}`);
  });

  Deno.test(`${kind}: a loaded buffer goes on bit for bit`, () => {
    const saved = makeBuffer({ kind, alpha: 0.6 });
    const random = testRandom(7);
    const learn = (buffer: PrioritizedReplayBuffer, seed: number) => {
      const random = testRandom(seed);
      const drawn: unknown[] = [];
      for (let step = 0; step < 20; step++) {
        buffer.add(rows(step, numEnvs));
        const beta = 0.4 + step / 50;
        const batch = buffer.sample(random, { size: 4, beta });
        drawn.push(batch);
        buffer.updatePriorities(
          batch.slots,
          batch.slots.map(() => 1 + random.integer(9)),
        );
      }
      return drawn;
    };
    learn(saved, random.integer(100));
    const loaded = makeBuffer({ kind, alpha: 0.6 });
    loaded.load(saved.save());
    assertEquals(learn(loaded, 3), learn(saved, 3));
    assertEquals(loaded.save(), saved.save());
  });

  Deno.test(`${kind}: rows replaced after a draw keep their own priority`, () => {
    const buffer = makeBuffer({ kind, episodes: {} });
    buffer.addBatch(rows(0, 12), 12);
    const batch = buffer.batch(12);
    buffer.gather(batch.slots.map((_, i) => i), batch);
    buffer.sample(testRandom(1), { into: batch });
    buffer.add(rows(12, 2));
    buffer.updatePriorities(batch.slots, batch.slots.map(() => 5));
    const saved = savedPriorities(buffer);
    const drawn = new Set(batch.slots);
    const expected = Float64Array.from(
      saved,
      (_, slot) => slot > 1 && drawn.has(slot) ? 5 : 1,
    );
    assertEquals(drawn.has(0) || drawn.has(1), true);
    assertEquals(saved, expected);
  });
}

Deno.test("each draw may have its own beta", () => {
  const buffer = makeBuffer({ beta: 1, episodes: {}, weightsOver: "buffer" });
  buffer.addBatch(rows(0, 2), 2);
  buffer.updatePriorities([0, 1], [1, 4]);
  const batch = buffer.batch(2);
  const weightOf = (beta?: number) => {
    const random = { integer: () => 0, uniform: () => 0.9 };
    assertStrictEquals(buffer.sample(random, { into: batch, beta }), batch);
    assertEquals(batch.slots[1], 1);
    return batch.weights[1];
  };
  assertEquals([weightOf(), weightOf(0.5), weightOf(0), weightOf()], [
    0.25,
    0.5,
    1,
    0.25,
  ]);
  assertThrows(() => weightOf(-1), RangeError, "with beta -1");
});

Deno.test("what cannot be drawn or made says why", () => {
  assertThrows(
    () => makeBuffer().sample(testRandom(1), { size: 3 }),
    RangeError,
    "Cannot sample 3 rows as the buffer holds 0",
  );
  const wrong: [unknown, string][] = [
    [{ kind: "ranks" }, "Cannot prioritize by 'ranks': expected"],
    [{ kind: "rank", excludeLast: true }, "Cannot apply 'excludeLast'"],
    [{ kind: "rank", weightsOver: "batch" }, "Cannot apply 'weightsOver'"],
    [{ alpha: -1 }, "with alpha -1"],
  ];
  for (const [options, message] of wrong) {
    assertThrows(() => makeBuffer(options as object), Error, message);
  }
});
