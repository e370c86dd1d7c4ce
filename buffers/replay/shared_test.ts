import { assertEquals, assertThrows } from "@std/assert";
import { chiSquaredDeviation } from "../testdata/chi_squared.ts";
import { testRandom } from "../testdata/random.ts";
import { ToldSampler } from "../testdata/told_sampler.ts";
import {
  isWrittenEnd,
  WRITTEN_SIZE,
  writtenNumber,
  writtenStep,
} from "../testdata/written_step.ts";
import type { Batch, SharedReplay } from "./options.ts";
import { ReplayBuffer } from "./replay_buffer.ts";

const flag = { shape: [], dtype: "uint8" } as const;

function sharedBuffer(
  { writers = 2, numEnvs = 2, steps = 8, sampler }: {
    writers?: number;
    numEnvs?: number;
    steps?: number;
    sampler?: ToldSampler;
  } = {},
): ReplayBuffer {
  return new ReplayBuffer({
    capacity: writers * numEnvs * steps,
    numEnvs,
    writers,
    shared: true,
    fields: {
      observation: { shape: [WRITTEN_SIZE], dtype: "int32" },
      terminated: flag,
      truncated: flag,
    },
    episodes: { next: { nextObservation: "observation" } },
    sampler,
  });
}

/** As it comes out of a message. */
function posted(buffer: ReplayBuffer, writer: number): SharedReplay {
  return structuredClone(buffer.share(writer));
}

function write(buffer: ReplayBuffer, writer: number, steps: number[]): void {
  for (const step of steps) {
    buffer.add(writtenStep(writer, step, buffer.numEnvs));
  }
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, i) => start + i);
}

/** Fails where a row is not whole, or not in its writer's part; gives the numbers. */
function checkRows(
  buffer: ReplayBuffer,
  batch: Batch,
  writers: number,
): number[] {
  const observation = batch.observation as Int32Array;
  const next = batch.nextObservation as Int32Array;
  const truncated = batch.truncated as Uint8Array;
  return Array.from(batch.slots, (slot, row) => {
    const at = row * WRITTEN_SIZE;
    const number = observation[at];
    const stream = Math.floor((number - 1) / 1_000_000);
    const step = (number - 1) % 1_000_000;
    const isEnd = isWrittenEnd(stream, step);
    const wanted = isEnd ? -number : number + 1;
    for (let i = at; i < at + WRITTEN_SIZE; i++) {
      if (observation[i] === number && next[i] === wanted) continue;
      assertEquals(
        [observation[i], next[i]],
        [number, wanted],
        `row of ${slot}`,
      );
    }
    assertEquals(truncated[row], isEnd ? 1 : 0);
    assertEquals(stream % buffer.numEnvs, slot % buffer.numEnvs);
    const writer = Math.floor(slot / (buffer.capacity / writers));
    assertEquals(Math.floor(stream / buffer.numEnvs), writer);
    return number;
  });
}

Deno.test("a learner sees what attached writers added, each in a part of its own", () => {
  const sampler = new ToldSampler(testRandom(0));
  const learner = sharedBuffer({ sampler });
  const writers = [0, 1].map((it) => ReplayBuffer.attach(posted(learner, it)));
  write(writers[0], 0, range(0, 3));
  assertEquals(learner.length, 4); // The newest step waits for the one after it.
  write(writers[1], 1, range(0, 1));
  assertEquals(learner.length, 4);
  write(writers[1], 1, range(1, 20));
  assertEquals([learner.length, learner.full], [4 + 2 * 7, false]);
  for (const buffer of [learner, ...writers]) {
    const numbers = checkRows(buffer, buffer.gather(buffer.slots()), 2);
    const steps = [
      ...range(0, 2).map((it) => [0, it]),
      ...range(12, 19).map((it) => [1, it]),
    ];
    const wanted = steps.flatMap(([writer, step]) =>
      [0, 1].map((env) => writtenNumber(2 * writer + env, step))
    );
    assertEquals(numbers, wanted);
  }
  assertEquals(sampler.slots, new Set(learner.slots()));
});

Deno.test("rows of all writers are drawn as often", () => {
  for (const seed of [1, 2]) { // With replacement and without.
    const sampler = new ToldSampler(testRandom(seed));
    const learner = sharedBuffer({ writers: 3, sampler });
    const random = testRandom(seed);
    range(0, 3).forEach((writer) => {
      const buffer = ReplayBuffer.attach(posted(learner, writer));
      write(buffer, writer, range(0, 3 + 5 * writer));
    });
    const counts = new Int32Array(learner.capacity);
    const into = learner.batch(4);
    for (let i = 0; i < 5000; i++) {
      learner.sample(random, { into });
      for (const slot of into.slots) counts[slot]++;
    }
    const slots = new Set(learner.slots());
    const shares = Array.from(
      counts,
      (_, slot) => slots.has(slot) ? 1 / slots.size : 0,
    );
    const deviation = chiSquaredDeviation(counts, shares);
    assertEquals(Math.abs(deviation) < 5, true, `${deviation}`);
  }
});

Deno.test("what one clears or loads is so for all", () => {
  const sampler = new ToldSampler(testRandom(0));
  const learner = sharedBuffer({ sampler });
  const writer = ReplayBuffer.attach(posted(learner, 1));
  write(writer, 1, range(0, 40));
  const state = writer.save();
  const slots = learner.slots();
  assertEquals(slots.length, 14);
  writer.clear();
  write(writer, 1, range(0, 3));
  assertEquals(
    checkRows(learner, learner.gather(learner.slots()), 2).length,
    4,
  );
  assertEquals(sampler.slots, new Set(learner.slots()));
  learner.load({ ...state, sampler: { slots } });
  write(writer, 1, range(40, 43));
  const numbers = checkRows(learner, learner.gather(learner.slots()), 2);
  assertEquals(numbers[0], writtenNumber(2, 35));
  assertEquals(numbers.length, 14);
});

Deno.test("memory is shared with writers that there are", () => {
  assertThrows(
    () => sharedBuffer().share(2),
    RangeError,
    "Cannot share with writer 2: expected one of 2, from 0 on",
  );
  const fields = { x: flag };
  assertThrows(
    () => new ReplayBuffer({ capacity: 2, fields }).share(),
    TypeError,
    "Cannot share a buffer in memory of its own: expected the option 'shared'",
  );
});

Deno.test("workers write while a learner draws whole rows only", async () => {
  const [writers, numEnvs, steps, total] = [2, 2, 64, 5000];
  const learner = sharedBuffer({ writers, numEnvs, steps });
  let running = writers;
  const workers = range(0, writers).map((writer) => {
    const url = new URL("../testdata/replay_writer.ts", import.meta.url);
    const worker = new Worker(url, { type: "module" });
    worker.onmessage = () => running--;
    worker.postMessage({ memory: learner.share(writer), steps: total });
    return worker;
  });
  const random = testRandom(0);
  const into = learner.batch(32);
  let drawn = 0;
  while (running > 0) {
    await new Promise((resolve) => setTimeout(resolve));
    for (let i = 0; i < 20 && learner.length > 0; i++, drawn++) {
      checkRows(learner, learner.sample(random, { into }), writers);
    }
  }
  workers.forEach((worker) => worker.terminate());
  assertEquals(drawn > 0, true);
  const numbers = checkRows(learner, learner.gather(learner.slots()), writers);
  const wanted = range(0, writers).flatMap((writer) =>
    range(total - steps, total - 1).flatMap((step) =>
      range(0, numEnvs).map((env) =>
        writtenNumber(writer * numEnvs + env, step)
      )
    )
  );
  assertEquals(numbers, wanted);
});
