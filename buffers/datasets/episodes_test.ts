import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ReplayBuffer } from "../replay/replay_buffer.ts";
import type { Episode } from "@bellman/types";
import { loadEpisodes } from "./episodes.ts";

const fields = {
  observation: {
    camera: { shape: [2], dtype: "uint8" },
    joints: [{ shape: [], dtype: "float32" }],
  },
  action: { shape: [], dtype: "int32" },
  reward: { shape: [], dtype: "float32" },
  terminated: { shape: [], dtype: "uint8" },
  truncated: { shape: [], dtype: "uint8" },
} as const;

function makeBuffer(capacity = 200): ReplayBuffer {
  return new ReplayBuffer({
    capacity,
    fields,
    episodes: { next: { nextObservation: "observation" } },
  });
}

/** An episode that ends in one of three ways; its numbers tell it from others. */
function makeEpisode(
  { id, steps, end }: { id: number; steps: number; end: number },
): Episode {
  const count = (length: number, value: (i: number) => number) =>
    Array.from({ length }, (_, i) => value(i));
  const last = (flag: boolean) =>
    count(steps, (i) => flag && i === steps - 1 ? 1 : 0);
  return {
    observations: {
      camera: Uint8Array.from(count(2 * steps + 2, (i) => id * 7 + i)),
      joints: [count(steps + 1, (i) => 1000 * id + i)],
    },
    actions: count(steps, (i) => 0 - i),
    rewards: Float32Array.from(count(steps, (i) => id + i / 8)),
    terminations: last(end === 1),
    truncations: last(end === 2),
  };
}

const endings = fc.array(
  fc.record({ steps: fc.integer({ min: 0, max: 6 }), end: fc.nat(2) }),
  { maxLength: 8 },
);

Deno.test("each step is a row with what truly came next", () => {
  fc.assert(fc.property(endings, (endings) => {
    const buffer = makeBuffer();
    const episodes = endings.map((it, id) => makeEpisode({ id, ...it }));
    const steps = endings.reduce((sum, it) => sum + it.steps, 0);
    assertEquals(loadEpisodes(buffer, episodes), steps);
    assertEquals(buffer.length, steps);
    let slot = 0;
    for (const [id, { steps, end }] of endings.entries()) {
      for (let i = 0; i < steps; i++) {
        const row = buffer.gather([slot++]);
        const isLast = i === steps - 1;
        assertEquals(row.observation, {
          camera: Uint8Array.of(id * 7 + 2 * i, id * 7 + 2 * i + 1),
          joints: [Float32Array.of(1000 * id + i)],
        });
        assertEquals(row.nextObservation, {
          camera: Uint8Array.of(id * 7 + 2 * i + 2, id * 7 + 2 * i + 3),
          joints: [Float32Array.of(1000 * id + i + 1)],
        });
        assertEquals([...row.action as Int32Array], [0 - i]);
        assertEquals(row.reward, Float32Array.of(id + i / 8));
        const flags = [row.terminated, row.truncated];
        const wanted = [isLast && end === 1, isLast && end !== 1];
        assertEquals(flags, wanted.map((it) => Uint8Array.of(it ? 1 : 0)));
      }
    }
  }));
});

Deno.test("fields of other names, or none", () => {
  const number = { shape: [], dtype: "float32" } as const;
  const buffer = new ReplayBuffer({
    capacity: 4,
    fields: { before: number, after: number, done: number },
  });
  const episode: Episode = {
    observations: [1, 2, 3],
    actions: [5, 6],
    rewards: [0, 0],
    terminations: [0, 0],
    truncations: [0, 0],
  };
  const names = { observation: "before", nextObservation: "after" };
  const none = { reward: null, terminated: null, truncated: null };
  loadEpisodes(buffer, [episode], {
    fields: { ...names, ...none, action: "done" },
  });
  const { before, after, done } = buffer.gather([0, 1]);
  assertEquals(before, Float32Array.of(1, 2));
  assertEquals(after, Float32Array.of(2, 3));
  assertEquals(done, Float32Array.of(5, 6));
});

Deno.test("an episode that does not fit is named, and those before it stay", () => {
  const good = makeEpisode({ id: 1, steps: 3, end: 1 });
  const cases: Record<string, Episode> = {
    "Cannot load episode 1: it has 2 terminations, expected 3 as there are rewards":
      { ...good, terminations: [0, 1] },
    "Cannot load episode 1: step 1 of 3 ends it, expected the last one to": {
      ...good,
      truncations: [0, 1, 0],
    },
    "Cannot load episode 1: 'observations.joints.0' of 3 numbers: expected 4 equal rows":
      {
        ...good,
        observations: { camera: new Uint8Array(8), joints: [[1, 2, 3]] },
      },
    "Cannot add 4 numbers as 'action': expected 3": {
      ...good,
      actions: [0, 1, 2, 3],
    },
    "Cannot add 2 numbers as 'action': expected 3": {
      ...good,
      actions: [0, 1],
    },
    "Cannot load 8 steps of episode 1 into a buffer with room for 7":
      makeEpisode({ id: 2, steps: 8, end: 1 }),
  };
  for (const [message, bad] of Object.entries(cases)) {
    const buffer = makeBuffer(10);
    assertThrows(() => loadEpisodes(buffer, [good, bad]), RangeError, message);
    assertEquals(buffer.length, 3);
  }
  const two = new ReplayBuffer({ capacity: 4, numEnvs: 2, fields });
  assertThrows(
    () => loadEpisodes(two, [good]),
    TypeError,
    "Cannot load episodes into a buffer of 2 environments: expected one",
  );
});
