/** Saves a buffer to the given path and loads it, with whatever permissions there are. */
import { loadBuffer, saveBuffer } from "../buffer_file.ts";
import { RolloutBuffer } from "../rollout_buffer.ts";

const options = {
  numEnvs: 1,
  numSteps: 1,
  fields: { x: { shape: [], dtype: "int32" } },
} as const;
const buffer = new RolloutBuffer(options);
buffer.add({ x: [42] });
await saveBuffer(buffer, Deno.args[0]);
const other = new RolloutBuffer(options);
await loadBuffer(other, Deno.args[0]);
Deno.stdout.writeSync(new TextEncoder().encode(`${other.data("x")}`));
