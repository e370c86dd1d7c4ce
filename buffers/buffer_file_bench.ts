import { loadBuffer, saveBuffer } from "./buffer_file.ts";
import { readState } from "./read_state.ts";
import { writeState } from "./write_state.ts";

const state = {
  x: new Float32Array(16 << 20).map((_, i) => Math.fround(Math.sin(i))),
};
const megabytes = state.x.byteLength >> 20;
const buffer = { save: () => state, load() {} };
const folder = await Deno.makeTempDir();
const path = `${folder}/x.buffer`;
await saveBuffer(buffer, path);
globalThis.addEventListener("unload", () => {
  Deno.removeSync(folder, { recursive: true });
});

Deno.bench(`save ${megabytes} MiB to the disk`, async () => {
  await saveBuffer(buffer, path);
});

Deno.bench(`load ${megabytes} MiB`, async () => {
  await loadBuffer(buffer, path);
});

Deno.bench(`write and read ${megabytes} MiB as a stream`, async () => {
  await readState(writeState(state));
});
