import { readNpz, writeNpz } from "@bellman/files/npz";
import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ReplayBuffer } from "../replay/replay_buffer.ts";
import {
  type DataSetArray,
  episodesFromArrays,
  exportRows,
  importRows,
} from "./arrays.ts";

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

function plain(arrays: Record<string, DataSetArray>): unknown {
  return JSON.parse(
    JSON.stringify(
      [...episodesFromArrays(arrays)],
      (_, value) => ArrayBuffer.isView(value) ? [...value as Int8Array] : value,
    ),
  );
}

Deno.test("without next observations, steps whose outcome is unknown are left out", () => {
  assertEquals(plain(arrays), [
    {
      observations: [0, 0, 1, 1, 2, 2, 2, 2],
      actions: [5, 6, 7],
      rewards: [0.5, 1, 1.5],
      terminations: [0, 0, 1],
      truncations: [0, 0, 0],
    },
    {
      observations: [10, 10, 11, 11],
      actions: [8],
      rewards: [2],
      terminations: [0],
      truncations: [1],
    },
    {
      observations: [20, 20, 21, 21],
      actions: [10],
      rewards: [3],
      terminations: [0],
      truncations: [1],
    },
  ]);
});

Deno.test("with next observations, every step is there", () => {
  const next_observations = {
    data: [1, 1, 2, 2, 3, 3, 11, 11, 12, 12, 21, 21, 22, 22],
    shape: [7, 2],
  };
  const { terminals, timeouts, ...rest } = arrays;
  const renamed = { terminations: terminals, truncations: timeouts };
  assertEquals(plain({ ...rest, ...renamed, next_observations }), [
    {
      observations: [0, 0, 1, 1, 2, 2, 3, 3],
      actions: [5, 6, 7],
      rewards: [0.5, 1, 1.5],
      terminations: [0, 0, 1],
      truncations: [0, 0, 0],
    },
    {
      observations: [10, 10, 11, 11, 12, 12],
      actions: [8, 9],
      rewards: [2, 2.5],
      terminations: [0, 0],
      truncations: [0, 1],
    },
    {
      observations: [20, 20, 21, 21, 22, 22],
      actions: [10, 11],
      rewards: [3, 3.5],
      terminations: [0, 0],
      truncations: [0, 1],
    },
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
  assertThrows(
    () => episodesFromArrays(rest),
    RangeError,
    "Cannot read episodes without 'rewards': did you mean '",
  );
  assertThrows(
    () => episodesFromArrays({}),
    RangeError,
    "Cannot read episodes without 'rewards': there is no array",
  );
  assertThrows(
    () => episodesFromArrays({ ...rest, reward: rewards }),
    RangeError,
    "did you mean 'reward'?",
  );
  assertThrows(
    () => episodesFromArrays({ ...arrays, timeouts: row(0, 1) }),
    RangeError,
    "Cannot read episodes with 2 rows of 'timeouts': expected 7 as there are rewards",
  );
});

const fields = {
  observation: {
    camera: { shape: [2, 3], dtype: "uint8" },
    joints: [
      { shape: [], dtype: "float64" },
      { shape: [2], dtype: "float32" },
    ],
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
  assertThrows(
    () => exportRows({ gather: gather.bind(buffer) }),
    TypeError,
    "Cannot export rows of a buffer that does not list them: expected the option 'slots'",
  );
  assertThrows(
    () =>
      exportRows(buffer, {
        slots: [0],
        fields: { reward: { shape: [3], dtype: "float32" } },
      }),
    RangeError,
    "Cannot export 'reward' in the shape [3]: its rows have 1 numbers",
  );
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
  assertThrows(
    () => importRows(buffer, wide),
    RangeError,
    "Cannot add 24 numbers as 'observation.camera': expected 12",
  );
  for (const [arrays, message] of cases) {
    assertThrows(() => importRows(buffer, arrays), RangeError, message);
  }
  assertThrows(() => importRows(buffer, { reward: row(2) }), TypeError);
  assertEquals(buffer.save(), before);
});
