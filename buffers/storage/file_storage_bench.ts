import { ReplayBuffer } from "../replay/replay_buffer.ts";
import { testRandom } from "../testdata/random.ts";
import { FileStorage } from "./file_storage.ts";
import { MemoryStorage } from "./memory_storage.ts";

const rows = 1_000_000;
const fields = {
  observation: { shape: [17], dtype: "float32" },
  action: { shape: [6], dtype: "float32" },
  reward: { shape: [], dtype: "float32" },
  terminated: { shape: [], dtype: "uint8" },
  truncated: { shape: [], dtype: "uint8" },
} as const;
const step = {
  observation: new Float32Array(17),
  nextObservation: new Float32Array(17),
  action: new Float32Array(6),
  reward: new Float32Array(1),
  terminated: new Uint8Array(1),
  truncated: new Uint8Array(1),
};

const folder = await Deno.makeTempDir();
globalThis.addEventListener("unload", () => {
  Deno.removeSync(folder, { recursive: true });
});
const storages = {
  memory: new MemoryStorage(),
  // Some six times what it keeps in memory by default.
  file: FileStorage.open(`${folder}/pool.rows`),
};

for (const [name, storage] of Object.entries(storages)) {
  const baseline = name === "memory";
  const buffer = new ReplayBuffer({
    capacity: rows,
    fields,
    episodes: { next: { nextObservation: "observation" } },
    storage,
  });
  for (let i = 0; i < rows; i++) buffer.add(step);
  const random = testRandom(1);
  const into = buffer.batch(256);

  Deno.bench(`add a step: ${name}`, { group: "add", baseline }, () => {
    buffer.add(step);
  });

  Deno.bench(`draw 256 of ${rows} rows: ${name}`, {
    group: "draw",
    baseline,
  }, () => {
    buffer.sample(random, { into });
  });
}
