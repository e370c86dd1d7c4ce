import { assertEquals } from "@std/assert";
import { PrioritizedReplayBuffer } from "./prioritized_replay_buffer.ts";
import { ReplayBuffer } from "./replay_buffer.ts";

const number = { shape: [], dtype: "float32" } as const;
const flag = { shape: [], dtype: "uint8" } as const;
const options = {
  capacity: 4,
  fields: {
    seen: { camera: flag, joints: number },
    action: { shape: [], dtype: "int32" },
    terminated: flag,
    truncated: flag,
  },
  episodes: { next: { seenNext: "seen" } },
} as const;
const row = {
  seen: { camera: [1], joints: [0.5] },
  seenNext: { camera: [2], joints: [1.5] },
  action: [3],
  terminated: [0],
  truncated: [0],
};

/** Adds a row and reads it, by names and kinds that the compiler checks. */
function checkTypes(
  buffer: ReplayBuffer<
    typeof options.fields,
    typeof options.episodes.next
  >,
): void {
  buffer.add(row);
  const { action, seen, seenNext, slots } = buffer.gather([0]);
  const actions: Int32Array = action;
  const cameras: Uint8Array = seen.camera;
  const joints: Float32Array = seenNext.joints;
  assertEquals([[...actions], [...cameras], [...joints]], [[3], [1], [1.5]]);
  assertEquals(slots, Int32Array.of(0));
  const batch = buffer.batch(1);
  // @ts-expect-error -- there is no such field
  assertEquals(batch.actions, undefined);
  // @ts-expect-error -- an int32 field is no Float32Array
  const wrong: Float32Array = batch.action;
  assertEquals(wrong.length, 1);
}

Deno.test("TypeScript knows the fields of a replay buffer", () => {
  checkTypes(new ReplayBuffer(options));
  checkTypes(new PrioritizedReplayBuffer(options));
});
