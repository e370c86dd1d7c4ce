import { assertEquals, assertThrows } from "@std/assert";
import { RolloutBuffer } from "../rollout_buffer.ts";
import { SequenceReplayBuffer } from "../sequences/sequence_replay_buffer.ts";
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
  buffer: ReplayBuffer<typeof options.fields, typeof options.episodes>,
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

Deno.test("TypeScript knows what returns of several steps add to a batch", () => {
  const buffer = new PrioritizedReplayBuffer({
    capacity: 4,
    fields: {
      reward: number,
      action: number,
      terminated: flag,
      truncated: flag,
    },
    episodes: {
      nStep: { steps: 2, gamma: 0.5, between: { later: "action" } },
    },
  });
  for (const reward of [[1], [2], [4]]) {
    const action = reward, goesOn = { terminated: [0], truncated: [0] };
    buffer.add({ reward, action, ...goesOn });
  }
  const { discount, later, betweenDiscount } = buffer.gather([0]);
  const numbers: Float32Array[] = [discount, later, betweenDiscount];
  assertEquals(numbers.map((it) => it[0]), [0.25, 2, 0.5]);
  // @ts-expect-error -- without nStep there is none
  const none: Float32Array = new ReplayBuffer(options).batch(1).discount;
  assertEquals(none, undefined);
});

Deno.test("TypeScript knows the fields of rollouts, segments and hindsight", () => {
  const rollout = new RolloutBuffer({
    numEnvs: 1,
    numSteps: 1,
    fields: { action: options.fields.action },
  });
  rollout.add({ action: [3] });
  const actions: Int32Array = rollout.data("action");
  assertEquals(actions, Int32Array.of(3));
  // @ts-expect-error -- there is no such field
  assertThrows(() => rollout.data("actions"), RangeError);
  const segments = new SequenceReplayBuffer({
    capacity: 2,
    numSteps: 2,
    fields: { action: options.fields.action },
    states: { memory: number },
  });
  segments.add({ action: [1, 2], memory: [0.5] });
  const batch = segments.sample({ integer: () => 0 });
  const kinds: [Int32Array, Float32Array] = [batch.action, batch.memory];
  assertEquals(kinds, [Int32Array.of(1, 2), Float32Array.of(0.5)]);
  // @ts-expect-error -- a field is missing
  assertThrows(() => segments.add({ action: [1, 2] }), TypeError);
});
