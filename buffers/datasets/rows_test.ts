import { readNpz, writeNpz } from "@bellman/files/npz";
import { assertEquals, assertThrows } from "@std/assert";
import { ReplayBuffer } from "../replay/replay_buffer.ts";
import { exportRows, importRows } from "./rows.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

const fields = {
  observation: {
    camera: { shape: [2, 3], dtype: "uint8" },
    joints: [{ shape: [], dtype: "float64" }, { shape: [2], dtype: "float32" }],
  },
  reward: { shape: [], dtype: "float32" },
  terminated: { shape: [], dtype: "uint8" },
  truncated: { shape: [], dtype: "uint8" },
} as const;

function makeBuffer(): ReplayBuffer {
  return new ReplayBuffer({
    capacity: 12,
    numEnvs: 2,
    fields,
    episodes: { next: { nextObservation: "observation" } },
  });
}

/** Steps of two environments, the second of which ends in every third. */
function fill(buffer: ReplayBuffer, steps: number): void {
  const observe = (time: number) => ({
    camera: Uint8Array.from({ length: 12 }, (_, i) => time * 12 + i),
    joints: [[time, -time], [time, 0.5, time, 0.25]],
  });
  for (let time = 0; time < steps; time++) {
    const ends = time % 3 === 2;
    buffer.add({
      observation: observe(time),
      nextObservation: observe(time + 1),
      reward: [time, time / 4],
      terminated: [0, ends ? 1 : 0],
      truncated: [0, 0],
    });
  }
}

Deno.test("rows come back from an npz file as the rows they were", async () => {
  const buffer = makeBuffer();
  fill(buffer, 5);
  const arrays = exportRows(buffer, {
    fields: { ...fields, nextObservation: fields.observation },
  });
  assertEquals(
    Object.entries(arrays).map(([name, { shape }]) => [name, shape]),
    [
      ["observation.camera", [10, 2, 3]],
      ["observation.joints.0", [10]],
      ["observation.joints.1", [10, 2]],
      ["reward", [10]],
      ["terminated", [10]],
      ["truncated", [10]],
      ["nextObservation.camera", [10, 2, 3]],
      ["nextObservation.joints.0", [10]],
      ["nextObservation.joints.1", [10, 2]],
    ],
  );
  const bytes = await new Response(writeNpz(arrays)).bytes();
  const other = makeBuffer();
  assertEquals(importRows(other, await readNpz(bytes)), 10);
  assertEquals(other.save(), buffer.save());
});

Deno.test("rows of a buffer that began anew are exported in the order of time", () => {
  const buffer = makeBuffer();
  fill(buffer, 8);
  const { reward } = exportRows(buffer);
  assertEquals(
    reward.data,
    Float32Array.from([2, 3, 4, 5, 6, 7].flatMap((time) => [time, time / 4])),
  );
  const other = makeBuffer();
  importRows(other, exportRows(buffer));
  assertEquals(exportRows(other), exportRows(buffer));
});

Deno.test("slots are those of the buffer, and shapes flat, where nothing is said", () => {
  const buffer = {
    slots: () => [4, 2],
    gather: (slots: ArrayLike<number>) => ({
      pair: Float32Array.from([slots[0], 1, slots[1], 2]),
      slots: Int32Array.from(slots),
      weights: new Float32Array(2),
    }),
  };
  assertEquals(exportRows(buffer), {
    pair: { data: Float32Array.of(4, 1, 2, 2), shape: [2, 2] },
  });
});

Deno.test("what does not fit is named and changes nothing", () => {
  const buffer = makeBuffer();
  fill(buffer, 1);
  const { gather } = buffer;
  assertRefused({
    "TypeError: Cannot export rows of a buffer that does not list them: expected the option 'slots'":
      () => exportRows({ gather: gather.bind(buffer) }),
    "RangeError: Cannot export 'reward' in the shape [3]: its rows have 1 numbers":
      () =>
        exportRows(buffer, {
          slots: [0],
          fields: { reward: { shape: [3], dtype: "float32" } },
        }),
  });
  const row = (length: number) => ({
    data: new Float32Array(length),
    shape: [length],
  });
  const cases: [Record<string, ReturnType<typeof row>>, string][] = [
    [
      { reward: row(2), terminated: row(3) },
      "Cannot import 3 rows of 'terminated': expected 2 as of 'reward'",
    ],
    [
      { "a.b": row(2), "a": row(2) },
      "Cannot import 'a': another array has a part of its path as its name",
    ],
    [{ "a": row(2), "a.b": row(2) }, "Cannot import 'a.b': another array"],
  ];
  const before = buffer.save();
  const wide = exportRows(buffer);
  const { data } = wide["observation.camera"];
  wide["observation.camera"] = {
    data: new Uint8Array(2 * data.length),
    shape: [2, 2, 6],
  };
  assertRefused({
    "RangeError: Cannot add 24 numbers as 'observation.camera': expected 12":
      () => importRows(buffer, wide),
  });
  for (const [arrays, message] of cases) {
    assertThrows(() => importRows(buffer, arrays), RangeError, message);
  }
  assertThrows(() => importRows(buffer, { reward: row(2) }), TypeError);
  assertEquals(buffer.save(), before);
});
