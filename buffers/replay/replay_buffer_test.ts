import { assertEquals } from "@std/assert";
import { chiSquaredDeviation } from "../testdata/chi_squared.ts";
import { testRandom } from "../testdata/random.ts";
import { count, flags, number, records } from "../testdata/records.ts";
import { ReplayBuffer } from "./replay_buffer.ts";

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
  buffer.addBatch({ x: [7, 8] }, 2);
  assertEquals(xs(buffer), [4, 5, 6, 7, 8]);
  buffer.addBatch({ x: [] }, 0);
  buffer.addBatch({ x: count(23) }, 23);
  assertEquals(xs(buffer), [18, 19, 20, 21, 22]);
});

Deno.test("each row is drawn as often", () => {
  const buffer = records(50);
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
  assertEquals(Math.abs(deviation) < 4, true, `${deviation}`);
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
