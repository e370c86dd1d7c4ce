import { RolloutBuffer } from "./rollout_buffer.ts";

const [numEnvs, numSteps] = [16, 128];
const random = { integer: (n: number) => n >> 1 };

const small = new RolloutBuffer({
  numEnvs,
  numSteps,
  fields: {
    observations: { shape: [4], dtype: "float32" },
    actions: { shape: [], dtype: "int32" },
    rewards: { shape: [], dtype: "float64" },
  },
});
const smallStep = {
  observations: new Float32Array(numEnvs * 4),
  actions: new Int32Array(numEnvs),
  rewards: new Float64Array(numEnvs),
};

const images = new RolloutBuffer({
  numEnvs,
  numSteps: 8,
  fields: { observations: { shape: [84, 84, 4], dtype: "uint8" } },
});
const imageStep = { observations: new Uint8Array(numEnvs * 84 * 84 * 4) };

Deno.bench(`add a step of ${numEnvs} vectors`, () => {
  if (small.full) small.clear();
  small.add(smallStep);
});

Deno.bench(`add a step of ${numEnvs} images of 84x84x4`, () => {
  if (images.full) images.clear();
  images.add(imageStep);
});

Deno.bench(
  `go through ${numEnvs * numSteps} rows in minibatches of 256`,
  () => {
    while (!small.full) small.add(smallStep);
    for (const rows of small.minibatches(random, 256)) rows.length;
  },
);
