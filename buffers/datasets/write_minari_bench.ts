import { openDataset, readMinari, writeMinari } from "./mod.ts";
import type { Episode, Space } from "@bellman/types";

/** 1,000,000 steps of 17 + 6 numbers, as of HalfCheetah. */
const [numEpisodes, numSteps] = [1000, 1000];
const box = (size: number): Space => ({
  type: "box",
  shape: [size],
  low: -1,
  high: 1,
  dtype: "float32",
});
const spaces = { observationSpace: box(17), actionSpace: box(6) };
const ends = new Uint8Array(numSteps);
ends[numSteps - 1] = 1;

const numbers = (count: number, seed: number) =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(seed + i));
const episodes = Array.from({ length: numEpisodes }, (_, i): Episode => ({
  observations: numbers((numSteps + 1) * 17, i),
  actions: numbers(numSteps * 6, -i),
  rewards: Float64Array.from(numbers(numSteps, 3 * i)),
  terminations: new Uint8Array(numSteps),
  truncations: ends,
}));

const folder = await Deno.makeTempDir({ prefix: "bellman-bench-" });
globalThis.addEventListener("unload", () => {
  Deno.removeSync(folder, { recursive: true });
});
const once = { n: 1, warmup: 0 };
let copies = 0;
await writeMinari(`${folder}/demo`, episodes, spaces);

Deno.bench("write 1,000,000 steps of 17 + 6 numbers", once, async () => {
  await writeMinari(`${folder}/demo${++copies}`, episodes, spaces);
});

Deno.bench("read their episodes", once, async () => {
  await readMinari(`${folder}/demo`);
});

Deno.bench("open them as a data set", once, async () => {
  await openDataset(`${folder}/demo`);
});

Deno.bench("open them as a data set, and hash it", once, async () => {
  void (await openDataset(`${folder}/demo`)).sha256;
});

const data = await openDataset(`${folder}/demo`);
const batch = data.training.allocate(256);
const random = { integer: (n: number) => Math.floor(Math.random() * n) };

Deno.bench("draw 256 of their steps", () => {
  data.training.sample(random, batch);
});
