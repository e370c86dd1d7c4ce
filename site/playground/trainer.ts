/** Module worker that trains: the page stays free. */
import { selectBackend } from "@bellman/compute";
import { isDeno } from "@bellman/files";
import { exposeTraining } from "@bellman/training/worker";
import { exposedRun } from "./run.ts";
import { resolveTask, type Wanted } from "./settings.ts";

exposeTraining<Wanted>(async (wanted, { totalTimesteps, isContinued }) => {
  const settings = { ...wanted.settings, totalTimesteps };
  const task = resolveTask({ ...wanted, settings });
  // In a page the binaries lie next to this file.
  const wasmPaths = isDeno() ? undefined : new URL("./", import.meta.url);
  await selectBackend("wasm", { wasmPaths });
  return exposedRun(task, { isContinued });
});
