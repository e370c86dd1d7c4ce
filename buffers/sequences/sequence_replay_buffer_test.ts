import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import type { FieldValues } from "../fields.ts";
import { chiSquaredDeviation } from "../testdata/chi_squared.ts";
import { testRandom } from "../testdata/random.ts";
import { ProportionalSampler } from "../samplers/proportional_sampler.ts";
import type { Sampler } from "../samplers/sampler.ts";
import { FileStorage } from "../storage/file_storage.ts";
import { MemoryStorage } from "../storage/memory_storage.ts";
import type { Storage } from "../storage/storage.ts";
import { withFolder } from "../../tests/testdata/with_folder.ts";
import { decodeFrameStacks } from "./frame_stacks.ts";
import {
  SequenceReplayBuffer,
  type SequenceReplayBufferState,
} from "./sequence_replay_buffer.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

const numSteps = 3;
const numEnvs = 2;
const stack = 2;

function makeBuffer(
  capacity = 3 * numSteps,
  options: { sampler?: Sampler; storage?: Storage } = {},
): SequenceReplayBuffer {
  return new SequenceReplayBuffer({
    ...options,
    capacity,
    numSteps,
    numEnvs,
    fields: {
      observation: {
        camera: { shape: [2, 1], dtype: "uint8" },
        joints: [{ shape: [2], dtype: "float32" }],
      },
      action: { shape: [], dtype: "int32" },
      terminated: { shape: [], dtype: "uint8" },
      truncated: { shape: [], dtype: "uint8" },
    },
    extraSteps: { observation: 1 },
    states: { memory: { shape: [2], dtype: "float64" } },
    stack: { "observation.camera": stack },
  });
}

/** Numbers that follow from a seed, all of them different but for flags. */
function makeSegment(seed: number) {
  const random = testRandom(seed);
  const numbers = (count: number, n: number) =>
    Array.from({ length: numEnvs * count }, () => random.integer(n));
  return {
    observation: {
      camera: numbers((numSteps + stack) * 2, 256),
      joints: [numbers((numSteps + 1) * 2, 1e6)],
    },
    action: numbers(numSteps, 1e6),
    terminated: numbers(numSteps, 4).map((it) => it === 0 ? 1 : 0),
    truncated: numbers(numSteps, 4).map((it) => it === 0 ? 1 : 0),
    memory: numbers(2, 1e9),
  };
}

/** The part of an environment of what was added. */
function part(values: readonly number[], env: number): number[] {
  const length = values.length / numEnvs;
  return values.slice(env * length, (env + 1) * length);
}

/** What one environment's segment is drawn as. */
function expected(seed: number, env: number) {
  const segment = makeSegment(seed);
  const ends = segment.terminated.map((it, i) => it | segment.truncated[i]);
  const camera = decodeFrameStacks(
    Uint8Array.from(part(segment.observation.camera, env)),
    part(ends, env),
    { shape: [2, 1], stack, numSteps },
  );
  return {
    observation: {
      camera,
      joints: [Float32Array.from(part(segment.observation.joints[0], env))],
    },
    action: Int32Array.from(part(segment.action, env)),
    terminated: Uint8Array.from(part(segment.terminated, env)),
    truncated: Uint8Array.from(part(segment.truncated, env)),
    memory: Float64Array.from(part(segment.memory, env)),
  };
}

function assertHolds(buffer: SequenceReplayBuffer, seeds: number[]) {
  assertEquals(buffer.length, seeds.length);
  for (let segment = 0; segment < seeds.length * numEnvs; segment++) {
    const { segments, ...fields } = buffer.gather([segment]);
    assertEquals(segments, Int32Array.of(segment));
    const seed = seeds[Math.floor(segment / numEnvs)];
    assertEquals(fields as unknown, expected(seed, segment % numEnvs));
  }
}

Deno.test("any additions leave the newest segments, place by place", () => {
  const act = fc.oneof(
    { weight: 9, arbitrary: fc.record({ add: fc.nat() }) },
    fc.constant("clear" as const),
    fc.constant("save and load" as const),
  );
  fc.assert(
    fc.property(fc.array(act), fc.nat(2), (acts, rest) => {
      let buffer = makeBuffer(3 * numSteps + rest);
      assertEquals(buffer.capacity, 3);
      const places: number[] = [];
      let added = 0;
      for (const act of acts) {
        if (act === "clear") {
          buffer.clear();
          places.length = added = 0;
        } else if (act === "save and load") {
          const state = buffer.save();
          buffer = makeBuffer();
          buffer.add(makeSegment(1));
          buffer.load(state);
        } else {
          buffer.add(makeSegment(act.add));
          places[added++ % 3] = act.add;
        }
      }
      assertHolds(buffer, places);
    }),
    { numRuns: 10_000 },
  );
});

Deno.test("each environment draws any of its own segments, as likely", () => {
  const buffer = makeBuffer(7 * numSteps);
  for (let i = 0; i < 10; i++) buffer.add(makeSegment(i));
  const counts = new Int32Array(7 * numEnvs);
  const random = testRandom(1);
  const batch = buffer.batch(6);
  for (let i = 0; i < 3000; i++) {
    assertStrictEquals(buffer.sample(random, { into: batch }), batch);
    batch.segments.forEach((segment, row) => {
      counts[segment]++;
      assertEquals(segment % numEnvs, row % numEnvs);
    });
  }
  const deviation = chiSquaredDeviation(counts, Array(14).fill(1 / 14));
  assertEquals(Math.abs(deviation) < 4, true, `${deviation}`);
});

Deno.test("a sampler draws segments of all environments by their priorities", () => {
  const make = () => {
    const sampler = new ProportionalSampler({ alpha: 1, beta: 1 });
    return { sampler, buffer: makeBuffer(undefined, { sampler }) };
  };
  const { sampler, buffer } = make();
  assertEquals(buffer.newest.length, 0);
  for (let i = 0; i < 4; i++) buffer.add(makeSegment(i));
  assertEquals([...buffer.newest], [0, 1]); // the place of the oldest
  const priorities = [1, 2, 3, 4, 5, 6];
  sampler.updatePriorities([0, 1, 2, 3, 4, 5], priorities);
  const counts = new Int32Array(6), random = testRandom(1);
  const batch = buffer.batch(1);
  for (let i = 0; i < 3000; i++) {
    buffer.sample(random, { into: batch });
    const [segment] = batch.segments;
    counts[segment]++;
    assertEquals(batch.weights, Float32Array.of(1)); // the largest of one
    const of = [3, 1, 2][Math.floor(segment / numEnvs)];
    const { action } = expected(of, segment % numEnvs);
    assertEquals(batch.action as unknown, action);
  }
  const chances = priorities.map((it) => it / 21);
  const deviation = chiSquaredDeviation(counts, chances);
  assertEquals(Math.abs(deviation) < 4, true, `${deviation}`);

  const other = make();
  other.buffer.add(makeSegment(9));
  other.buffer.load(buffer.save());
  const [first, second] = [buffer, other.buffer].map((it) =>
    it.sample(testRandom(5), { size: 8 })
  );
  assertEquals(second, first);
  assertRefused({
    "TypeError: a sampler with alpha undefined": () =>
      buffer.load({ ...buffer.save(), sampler: null }),
  });

  // Segments that replace others have the largest priority of those that stay.
  buffer.add(makeSegment(4));
  assertEquals(buffer.newest, Int32Array.of(2, 3));
  const { leaves } = sampler.save() as { leaves: Float64Array };
  assertEquals([...leaves], [1, 2, 6, 6, 5, 6]);
  assertEquals(buffer.gather([2]).weights, Float32Array.of(1));
  buffer.clear();
  buffer.add(makeSegment(5));
  for (let i = 0; i < 50; i++) {
    assertEquals(buffer.sample(random, { into: batch }).segments[0] < 2, true);
  }
});

/** A buffer of three places in a file, which is opened or made. */
function openBuffer(path: string) {
  // Memory for two segments: others come from the file.
  const sizes = { cacheBytes: 300, blockBytes: 1, saves: 3 };
  const storage = FileStorage.open(path, sizes);
  const sampler = new ProportionalSampler();
  return { storage, buffer: makeBuffer(undefined, { storage, sampler }) };
}

/** What a buffer draws, weights included. */
function drawn(buffer: SequenceReplayBuffer) {
  return buffer.sample(testRandom(2), { size: 9 });
}

Deno.test("segments in a file are drawn as those in memory, and resume after any save", () =>
  withFolder((folder) => {
    const random = testRandom(11);
    for (let run = 0; run < 12; run++) {
      const path = `${folder}/segments${run}`;
      const memory = makeBuffer(undefined, {
        sampler: new ProportionalSampler(),
      });
      let { storage, buffer } = openBuffer(path);
      /** States of both at the last saves, the newest first. */
      const saves: SequenceReplayBufferState[][] = [];
      for (let act = 0; act < 40; act++) {
        const choice = random.integer(8);
        if (choice === 0) {
          saves.unshift([memory.save(), structuredClone(buffer.save())]);
          saves.splice(3);
        } else if (choice === 1 && saves.length > 0) {
          // As good as a crash: what was added since then is lost.
          storage.close();
          ({ storage, buffer } = openBuffer(path));
          const [own, inFile] = saves[random.integer(saves.length)];
          memory.load(own);
          buffer.load(inFile);
          storage.keep(saves.map(([, { storage }]) => storage!));
        } else if (choice === 2 && act % 3 === 0) {
          [memory, buffer].forEach((it) => it.clear());
        } else {
          const segment = makeSegment(act);
          [memory, buffer].forEach((it) => it.add(segment));
        }
        if (memory.length > 0) assertEquals(drawn(buffer), drawn(memory));
        for (let i = 0; i < memory.length * numEnvs; i++) {
          assertEquals(buffer.gather([i]), memory.gather([i]));
        }
      }
      storage.close();
    }
  }));

Deno.test("segments of an older save that were overwritten are an error", () =>
  withFolder((folder) => {
    const { storage, buffer } = openBuffer(`${folder}/segments`);
    const states = Array.from({ length: 12 }, (_, i) => {
      buffer.add(makeSegment(i));
      const state = buffer.save();
      assertEquals(state.fields.action, new Int32Array(0));
      return structuredClone(state);
    });
    assertRefused({
      "SyntaxError: Cannot read rows": () => buffer.load(states[5]),
      "SyntaxError: Cannot load rows of a file from something else": () =>
        buffer.load({ ...states[11], storage: undefined }),
    });
    assertEquals(buffer.length, 3);
    buffer.load(states[9]);
    assertEquals(buffer.byteLength < 4000, true, `${buffer.byteLength}`);
    storage.close();
  }));

Deno.test("a batch is what its segments hold, row by row", () => {
  const buffer = makeBuffer();
  for (let i = 0; i < 3; i++) buffer.add(makeSegment(i));
  const batch = buffer.sample(testRandom(3), { size: 5 });
  const size = numSteps;
  batch.segments.forEach((segment, row) => {
    const { action } = expected(
      Math.floor(segment / numEnvs),
      segment % numEnvs,
    );
    const drawn = (batch.action as Int32Array).subarray(
      row * size,
      (row + 1) * size,
    );
    assertEquals(drawn, action);
  });
  assertEquals(buffer.sample(testRandom(3)).segments.length, numEnvs);
});

Deno.test("steps are counted in whole segments, of which one is needed", () => {
  const buffer = makeBuffer();
  assertEquals([0, 1, 3].map((steps) => buffer.hasAtLeast(steps)), [
    false,
    false,
    false,
  ]);
  buffer.add(makeSegment(0));
  const enough = [1, 3, 5, 6].map((steps) => buffer.hasAtLeast(steps));
  assertEquals(enough, [true, true, true, false]);
});

Deno.test("frames are kept once", () => {
  const make = (stack: number) =>
    new SequenceReplayBuffer({
      capacity: 40,
      numSteps: 20,
      fields: {
        observation: { shape: [84, 84, 1], dtype: "uint8" },
        done: { shape: [], dtype: "uint8" },
      },
      extraSteps: { observation: 1 },
      stack: { observation: stack },
      ends: ["done"],
    });
  assertEquals(make(4).byteLength, 2 * ((20 + 4) * 84 * 84 + 20));
});

Deno.test("what cannot be added or read changes nothing", () => {
  const buffer = makeBuffer();
  const segment = makeSegment(0);
  buffer.add(segment);
  const before = buffer.save();
  const adding: [Record<string, FieldValues>, string][] = [
    [
      { ...segment, action: [1] },
      "Cannot add 1 numbers as 'action': expected 6",
    ],
    [{ ...segment, memories: [1] }, "did you mean 'memory'?"],
  ];
  for (const [wrong, message] of adding) {
    assertThrows(() => buffer.add(wrong), RangeError, message);
  }
  assertRefused({
    "RangeError: Cannot read segment 2 as the buffer holds 0 to 1": () =>
      buffer.gather([2]),
    "RangeError: segment 0.5": () => buffer.gather([0.5]),
  });
  const batch = buffer.batch(2);
  assertRefused({
    "RangeError: Cannot read 1 segments into a batch of 2": () =>
      buffer.gather([0], batch),
  });
  batch.action = new Int32Array(5);
  assertThrows(() => buffer.gather([0, 1], batch), RangeError, "'action'");
  assertThrows(() => buffer.batch(0), RangeError, "a batch of 0 segments");
  assertEquals(buffer.save(), before);
});

Deno.test("states of other buffers are not loaded", () => {
  const buffer = makeBuffer();
  buffer.add(makeSegment(0));
  const state = buffer.save();
  const wrong: [unknown, string][] = [
    [null, "Cannot load a buffer from null"],
    [{ ...state, capacity: 4 }, "with capacity 4 into one with 6"],
    [{ ...state, numEnvs: 1 }, "with numEnvs 1 into one with 2"],
    [{ ...state, total: 4 }, "expected"],
    [{ ...state, total: 0.5 }, "Cannot load a buffer with total 0.5"],
    [{ ...state, fields: { ...state.fields, action: [] } }, "'action'"],
  ];
  for (const [other, message] of wrong) {
    const load = () => buffer.load(other as SequenceReplayBufferState);
    assertThrows(load, Error, message);
  }
  assertEquals(buffer.save(), state);
});

Deno.test("what is no object is refused as options", () => {
  assertThrows(
    () => new SequenceReplayBuffer(null as never),
    TypeError,
    "Cannot take null as the options of a replay buffer of sequences",
  );
});

Deno.test("options that do not go together are refused", () => {
  const flag = { shape: [], dtype: "uint8" } as const;
  const options = {
    capacity: 4,
    numSteps: 2,
    fields: { frame: flag, done: flag },
  };
  const wrong: [Record<string, unknown>, string][] = [
    [{ capacity: 1 }, "Cannot make a buffer of 1 steps: expected"],
    [{ numSteps: 0 }, "with numSteps 0"],
    [{ numEnvs: 0.5 }, "with numEnvs 0.5"],
    [{ states: { done: flag } }, "Cannot record 'done' in each step and once"],
    [
      { extraSteps: { fame: 1 } },
      "lengthen unknown field 'fame': did you mean 'frame'?",
    ],
    [{ extraSteps: { frame: -1 } }, "Cannot record -1 extra steps of 'frame'"],
    [{ stack: { don: 2 } }, "stack unknown field 'don': did you mean 'done'?"],
    [
      { stack: { frame: 2 } },
      "Cannot stack frames without a number for each of 1 steps as 'terminated'",
    ],
    [
      { stack: { frame: 2 }, extraSteps: { frame: 2 }, ends: ["done"] },
      "for each of 3 steps as 'done'",
    ],
    [{ stack: { frame: 0 }, ends: ["done"] }, "Cannot stack 0 frames"],
    [{ states: { segments: flag } }, "Cannot record a field as 'segments'"],
    [
      { states: { weights: flag }, sampler: new ProportionalSampler() },
      "Cannot record a field as 'weights', which batches have",
    ],
  ];
  for (const [change, message] of wrong) {
    const make = () => new SequenceReplayBuffer({ ...options, ...change });
    assertThrows(make, Error, message);
  }
});

Deno.test("stacks repeat an episode's first frame on request", () => {
  const buffer = new SequenceReplayBuffer({
    capacity: 3,
    numSteps: 3,
    fields: {
      frame: { shape: [1], dtype: "uint8" },
      end: { shape: [], dtype: "uint8" },
    },
    extraSteps: { frame: 1 },
    stack: { frame: 3 },
    padding: "reset",
    ends: ["end"],
  });
  buffer.add({ frame: [1, 2, 3, 4, 5, 6], end: [1, 0, 0] });
  const { frame } = buffer.sample({ integer: () => 0 });
  const stacks = [[1, 2, 3], [4, 4, 4], [4, 4, 5], [4, 5, 6]];
  assertEquals(frame as unknown, Uint8Array.from(stacks.flat()));
});

Deno.test("segments that a file has no room for change nothing", () => {
  const memory = new MemoryStorage();
  let writes = Infinity;
  const storage: Storage = {
    allocate(spec, rows) {
      const inner = memory.allocate(spec, rows);
      return {
        byteLength: inner.byteLength,
        persistent: true,
        write(row, values) {
          if (writes-- <= 0) throw new Error("no space left");
          inner.write(row, values);
        },
        read: (row, into, at) => inner.read(row, into, at),
      };
    },
  };
  const buffer = makeBuffer(undefined, { storage });
  buffer.add(makeSegment(1));
  const before = buffer.gather([0, 1]);
  // The first environment's segment is written, and a part of the second one's.
  writes = 8;
  assertThrows(() => buffer.add(makeSegment(2)), Error, "no space left");
  assertEquals([buffer.length, [...buffer.newest]], [1, [0, 1]]);
  assertEquals(buffer.gather([0, 1]), before);
  writes = Infinity;
  buffer.add(makeSegment(3));
  assertEquals(buffer.length, 2);
});
