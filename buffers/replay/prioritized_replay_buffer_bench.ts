import { testRandom } from "../testdata/random.ts";
import { PrioritizedReplayBuffer } from "./prioritized_replay_buffer.ts";

const capacity = 1_000_000;
const size = 256;

const step = {
  observation: new Float32Array(17),
  action: new Float32Array(6),
  reward: new Float32Array(1),
  terminated: new Uint8Array(1),
  truncated: new Uint8Array(1),
  nextObservation: new Float32Array(17),
};

function benchBuffer(kind: "proportional" | "rank"): void {
  const buffer = new PrioritizedReplayBuffer({
    capacity,
    kind,
    fields: {
      observation: { shape: [17], dtype: "float32" },
      action: { shape: [6], dtype: "float32" },
      reward: { shape: [], dtype: "float32" },
      terminated: { shape: [], dtype: "uint8" },
      truncated: { shape: [], dtype: "uint8" },
    },
    episodes: { next: { nextObservation: "observation" } },
  });
  const random = testRandom(1);
  const batch = buffer.batch(size);
  const priorities = new Float32Array(size);
  const prioritize = (slots: Int32Array) => {
    for (let i = 0; i < size; i++) priorities[i] = 0.01 + random.uniform();
    buffer.updatePriorities(slots, priorities);
  };
  for (let i = 0; i < capacity; i++) buffer.add(step);
  const slots = new Int32Array(size);
  for (let first = 0; first + size <= capacity; first += size) {
    for (let i = 0; i < size; i++) slots[i] = first + i;
    prioritize(slots);
  }

  Deno.bench(`${kind}: add a row`, () => buffer.add(step));
  Deno.bench(`${kind}: sample ${size}`, () => {
    buffer.sample(random, { into: batch, beta: 0.4 });
  });
  Deno.bench(`${kind}: add a row, sample ${size}, update them`, () => {
    buffer.add(step);
    buffer.sample(random, { into: batch, beta: 0.4 });
    prioritize(batch.slots);
  });
}

benchBuffer("proportional");
benchBuffer("rank");
