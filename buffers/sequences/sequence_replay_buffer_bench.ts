import { testRandom } from "../testdata/random.ts";
import { SequenceReplayBuffer } from "./sequence_replay_buffer.ts";

const [numEnvs, numSteps, stack] = [16, 20, 4];
const pixels = 84 * 84;

const buffer = new SequenceReplayBuffer({
  capacity: 20 * numSteps,
  numSteps,
  numEnvs,
  fields: {
    observation: { shape: [84, 84, 1], dtype: "uint8" },
    action: { shape: [], dtype: "int32" },
    reward: { shape: [], dtype: "float32" },
    policy: { shape: [6], dtype: "float32" },
    terminated: { shape: [], dtype: "uint8" },
    truncated: { shape: [], dtype: "uint8" },
  },
  extraSteps: { observation: 1 },
  stack: { observation: stack },
});
const steps = numEnvs * numSteps;
const segment = {
  observation: new Uint8Array(numEnvs * (numSteps + stack) * pixels),
  action: new Int32Array(steps),
  reward: new Float32Array(steps),
  policy: new Float32Array(steps * 6),
  terminated: new Uint8Array(steps),
  truncated: new Uint8Array(steps),
};
for (let i = 0; i < buffer.capacity; i++) buffer.add(segment);
const random = testRandom(1);
const batch = buffer.batch();

Deno.bench(`add ${numSteps} Atari steps of ${numEnvs} environments`, () => {
  buffer.add(segment);
});

Deno.bench(`sample ${numSteps} Atari steps of ${numEnvs} environments`, () => {
  buffer.sample(random, { into: batch });
});
