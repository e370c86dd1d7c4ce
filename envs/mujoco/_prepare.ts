import { findLibrary } from "./_installed.ts";
import { loadMujocoWasm } from "./_wasm_module.ts";

function isGranted(name: "read" | "env"): boolean {
  return Deno.permissions.querySync({ name }).state === "granted";
}

/** Whether no native library is there, as far as can be seen without asking. */
function lacksLibrary(): boolean {
  if (!isGranted("read") || !isGranted("env")) return false;
  try {
    return findLibrary() === undefined;
  } catch {
    // It is asked for by name and missing: making an environment says so.
    return false;
  }
}

/**
 * Loads the other engine where there is no native library, while this may still
 * take its time: environments are made at once. Why it cannot be loaded is told
 * by whoever needs it.
 */
export async function prepareEngine(): Promise<void> {
  if (!lacksLibrary()) return;
  try {
    await loadMujocoWasm();
  } catch {
    return;
  }
}
