import { testRandom } from "../testdata/random.ts";
import { ReplayBuffer } from "./replay_buffer.ts";

const random = testRandom(0);

const vectors = new ReplayBuffer({
  capacity: 1_000_000,
  fields: {
    observation: { shape: [17], dtype: "float32" },
    action: { shape: [6], dtype: "float32" },
    reward: { shape: [], dtype: "float32" },
    terminated: { shape: [], dtype: "uint8" },
    truncated: { shape: [], dtype: "uint8" },
  },
  episodes: { next: { nextObservation: "observation" } },
});
const step = {
  observation: new Float32Array(17).fill(1),
  action: new Float32Array(6),
  reward: new Float32Array(1),
  terminated: new Uint8Array(1),
  truncated: new Uint8Array(1),
  nextObservation: new Float32Array(17),
};
for (let i = 0; i < 1_000_000; i++) {
  step.truncated[0] = i % 1000 === 999 ? 1 : 0;
  vectors.add(step);
}
step.truncated[0] = 0;
const batch = vectors.batch(256);

Deno.bench("add a step of 17 and 6 numbers", () => vectors.add(step));

Deno.bench("sample 256 of 1M rows of 17 and 6 numbers", () => {
  vectors.sample(random, { into: batch });
});

Deno.bench("add a step and sample 256", () => {
  vectors.add(step);
  vectors.sample(random, { into: batch });
});

Deno.bench("sample 256 into new arrays", () => {
  vectors.sample(random, { size: 256 });
});

const images = new ReplayBuffer({
  capacity: 10_000,
  fields: {
    observation: { shape: [84, 84, 1], dtype: "uint8" },
    action: { shape: [], dtype: "int32" },
    reward: { shape: [], dtype: "float32" },
    terminated: { shape: [], dtype: "uint8" },
    truncated: { shape: [], dtype: "uint8" },
  },
  episodes: {
    next: { nextObservation: "observation" },
    stack: { observation: 4 },
    nStep: { steps: 3, gamma: 0.99 },
  },
});
const frame = {
  observation: new Uint8Array(84 * 84).fill(1),
  action: new Int32Array(1),
  reward: new Float32Array(1),
  terminated: new Uint8Array(1),
  truncated: new Uint8Array(1),
  nextObservation: new Uint8Array(84 * 84),
};
for (let i = 0; i < 10_000; i++) {
  frame.terminated[0] = i % 500 === 499 ? 1 : 0;
  images.add(frame);
}
frame.terminated[0] = 0;
const stacks = images.batch(32);

Deno.bench("add a frame of 84x84", () => images.add(frame));

Deno.bench("sample 32 stacks of 4 frames, twice each", () => {
  images.sample(random, { into: stacks });
});
