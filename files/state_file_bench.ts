import { loadState, readState, saveState, writeState } from "./state_file.ts";

const state = {
  x: new Float32Array(16 << 20).map((_, i) => Math.fround(Math.sin(i))),
};
const megabytes = state.x.byteLength >> 20;
const folder = await Deno.makeTempDir();
const path = `${folder}/x.state`;
await saveState(state, path);
globalThis.addEventListener("unload", () => {
  Deno.removeSync(folder, { recursive: true });
});

Deno.bench(`save ${megabytes} MiB to the disk`, async () => {
  await saveState(state, path);
});

Deno.bench(`load ${megabytes} MiB`, async () => {
  await loadState(path);
});

Deno.bench(`write and read ${megabytes} MiB as a stream`, async () => {
  await readState(writeState(state));
});
