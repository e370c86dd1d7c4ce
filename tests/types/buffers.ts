/** Types of buffers, by their fields. */
import {
  Hindsight,
  PrioritizedReplayBuffer,
  ReplayBuffer,
  RolloutBuffer,
  SequenceReplayBuffer,
} from "@bellman/buffers";
import { same, use } from "./same.ts";

const random = { uniform: () => 0, integer: () => 0 };
const flag = { shape: [], dtype: "uint8" } as const;

export function ofReplay(): void {
  const buffer = new ReplayBuffer({
    capacity: 10,
    fields: {
      observation: { camera: { shape: [4], dtype: "uint8" } },
      action: { shape: [], dtype: "int32" },
      reward: { shape: [], dtype: "float64" },
      terminated: flag,
      truncated: flag,
    },
    episodes: { next: { nextObservation: "observation" } },
  });
  const row = { reward: [1], terminated: [0], truncated: [0] };
  const camera = [0, 1, 2, 3], observation = { camera };
  const nextObservation = observation;
  buffer.add({ ...row, observation, nextObservation, action: [1] });
  buffer.addBatch({ ...row, observation, nextObservation, action: [1] }, 1);
  // @ts-expect-error -- the next observation is missing
  buffer.add({ ...row, observation, action: [1] });
  // @ts-expect-error -- it is of another form
  buffer.add({ ...row, observation: camera, nextObservation, action: [1] });
  const batch = buffer.sample(random, { size: 2 });
  same<typeof batch.observation.camera, Uint8Array>(true);
  same<typeof batch.nextObservation.camera, Uint8Array>(true);
  same<typeof batch.action, Int32Array>(true);
  same<typeof batch.reward, Float64Array>(true);
  same<typeof batch.slots, Int32Array>(true);
  same<typeof batch.weights, Float32Array>(true);
  const into = buffer.batch(2);
  buffer.sample(random, { into });
  buffer.gather([0, 1], into);
  const other = new ReplayBuffer({ capacity: 1, fields: { a: flag } });
  // @ts-expect-error -- a batch of another buffer
  buffer.gather([0, 1], other.batch(1));
  // @ts-expect-error -- there is no such field
  use(batch.actions);
  const unknown = { shape: [], dtype: "f4" } as const;
  // @ts-expect-error -- there is no such type
  use(new ReplayBuffer({ capacity: 1, fields: { a: unknown } }));
  const hindsight = new Hindsight(buffer, { reward: () => [0] });
  same<typeof batch, ReturnType<typeof hindsight.relabel<typeof batch>>>(true);
  const general: ReplayBuffer = buffer;
  use(general);
}

export function ofReturns(): void {
  const buffer = new PrioritizedReplayBuffer({
    capacity: 10,
    fields: {
      reward: { shape: [], dtype: "float32" },
      action: { shape: [], dtype: "int32" },
      terminated: flag,
      truncated: flag,
    },
    episodes: { nStep: { steps: 3, gamma: 0.9, between: { later: "action" } } },
  });
  const batch = buffer.sample(random, { size: 2, beta: 0.5 });
  same<typeof batch.discount, Float32Array>(true);
  same<typeof batch.later, Int32Array>(true);
  same<typeof batch.betweenDiscount, Float32Array>(true);
  const named = new ReplayBuffer({
    capacity: 10,
    fields: { reward: flag, terminated: flag, truncated: flag },
    episodes: { nStep: { steps: 3, gamma: 0.9, discount: "factor" } },
  });
  same<ReturnType<typeof named.batch>["factor"], Float32Array>(true);
}

export function ofOthers(): void {
  const rollout = new RolloutBuffer({
    numEnvs: 1,
    numSteps: 2,
    fields: { action: { shape: [], dtype: "int32" } },
  });
  rollout.add({ action: [1] });
  const actions = rollout.data("action");
  same<typeof actions, Int32Array>(true);
  // @ts-expect-error -- there is no such field
  rollout.data("actions");
  const segments = new SequenceReplayBuffer({
    capacity: 4,
    numSteps: 2,
    fields: { action: { shape: [], dtype: "int32" } },
    states: { memory: { shape: [1], dtype: "float32" } },
  });
  segments.add({ action: [1, 2], memory: [0] });
  const { action, memory } = segments.sample(random);
  same<typeof action, Int32Array>(true);
  same<typeof memory, Float32Array>(true);
  // @ts-expect-error -- a field is missing
  segments.add({ action: [1, 2] });
  const general: SequenceReplayBuffer = segments;
  use(general);
}
