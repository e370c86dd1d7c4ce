import { assertEquals, assertThrows } from "@std/assert";
import { UniformSampler } from "../samplers/sampler.ts";
import type { Storage } from "../storage/storage.ts";
import { flags, number, records } from "../testdata/records.ts";
import type { ReplayBufferState } from "./options.ts";
import { ReplayBuffer } from "./replay_buffer.ts";

Deno.test("a buffer without a copy saves its own memory", () => {
  const buffer = records(3);
  buffer.addBatch({ x: [1, 2] }, 2);
  const { fields: { x: view } } = buffer.save({ copy: false });
  const { fields: { x: copy } } = buffer.save();
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
        close: () => closed++,
      };
    },
  };
  const fields = {
    x: { shape: [2], dtype: "float32" },
    step: number,
    ...flags,
  } as const;
  const next = { y: "x", after: "step" };
  const episodes = { next, stack: { x: 2 } };
  const buffer = new ReplayBuffer({
    capacity: 3,
    fields,
    episodes,
    storage: lists,
  });
  const step = { terminated: [0], truncated: [0] };
  for (let i = 0; i < 4; i++) {
    step.truncated[0] = i === 2 ? 1 : 0;
    buffer.add({
      ...step,
      x: [i, -i],
      y: [i + 1, -i - 1],
      step: [i],
      after: [i + 1],
    });
  }
  const { x, y, ...flat } = buffer.gather(buffer.slots());
  assertEquals(x, Float32Array.of(1, -1, 2, -2, 3, -3, 3, -3));
  assertEquals(y, Float32Array.of(2, -2, 3, -3, 3, -3, 4, -4));
  assertEquals(flat.step, Int32Array.of(2, 3));
  assertEquals(flat.after, Int32Array.of(3, 4));
  assertEquals(flat.slots, Int32Array.of(2, 0));
  const other = new ReplayBuffer({ capacity: 3, fields, episodes });
  other.load(buffer.save());
  assertEquals(other.save(), buffer.save());
  buffer.close();
  assertEquals(closed, 2);
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
  const load = (changes: object) => () =>
    buffer.load({ ...state, ...changes } as ReplayBufferState);
  const other = make();
  add(other, [0, 0]);
  buffer.load(other.save());
  const before = buffer.save();

  const finals = state.finals!;
  const types = [
    load({ total: undefined }),
    load({ total: -1 }),
    load({ total: NaN }),
    load({ finals: null }),
    load({ finals: { ...finals, slots: Int32Array.of(0, 2, 3) } }),
    load({ finals: { ...finals, slots: Int32Array.of(2, 1, 3) } }),
    load({ finals: { ...finals, slots: Int32Array.of(1, 2, 2) } }),
    load({ finals: { ...finals, slots: Int32Array.of(1, 2, 9) } }),
    load({ fields: { ...state.fields, x: new Float32Array(4) } }),
    load({ fields: { x: state.fields.x } }),
    () => buffer.load(null as unknown as ReplayBufferState),
  ];
  for (const attempt of types) assertThrows(attempt, TypeError, "Cannot load");
  const ranges = [
    load({ capacity: 8 }),
    load({ numEnvs: 1 }),
    load({ total: 1 }),
    load({ fields: { ...state.fields, x: new Int32Array(3) } }),
    load({ fields: { ...state.fields, z: new Int32Array(4) } }),
    load({ finals: { ...finals, slots: Int32Array.of(1, 2) } }),
    load({ finals: { ...finals, newest: { y: new Int32Array(1) } } }),
  ];
  for (const attempt of ranges) {
    assertThrows(attempt, RangeError, "Cannot load");
  }
  assertEquals(buffer.save(), before);
  load({})();
  assertEquals(buffer.save(), state);
});

Deno.test("rows stay where the sampler refuses its state", () => {
  const sampler = new UniformSampler();
  const buffer = records(4, { sampler });
  const state = buffer.save();
  buffer.add({ x: [7] });
  sampler.load = () => {
    throw new TypeError("Cannot load");
  };
  assertThrows(() => buffer.load(state), TypeError, "Cannot load");
  assertEquals(buffer.gather([0]).x, Int32Array.of(7));
});
