import type { XlaClient } from "../xla/client.ts";
import { isXlaInstalled } from "../xla/install/installed.ts";
import { openXla } from "../xla/open_xla.ts";

let shared: XlaClient | undefined;
let gpu: XlaClient | null | undefined;

/**
 * Opens XLA for all functions of the process: on a GPU, if there is one.
 *
 * @throws {Error} If there is no plugin or it cannot be loaded, in one line.
 */
export function requireXla(): XlaClient {
  return shared ??= findGpu() ?? openXla();
}

/** Opens XLA on a GPU, if a plugin for GPUs is installed and there is one. */
export function findGpu(): XlaClient | undefined {
  gpu ??= openGpu() ?? null;
  return gpu ?? undefined;
}

function openGpu(): XlaClient | undefined {
  if (!mayLook() || !isXlaInstalled("cuda")) return undefined;
  try {
    const client = openXla({ device: "cuda" });
    if (!client.isHost) return client;
    // The one plugin that a variable names may be that of a CPU.
    shared ??= client;
    return undefined;
  } catch {
    return undefined;
  }
}

/** True where looking for a plugin asks the user for nothing. */
function mayLook(): boolean {
  return (["env", "read"] as const).every((name) =>
    Deno.permissions.querySync({ name }).state === "granted"
  );
}

/** Names the plugin's library and the device. */
export function describeXla(): { library: string; device: string } {
  const { apiVersion, devices } = requireXla();
  const [{ kind }] = devices;
  return {
    library: `XLA (PJRT ${apiVersion})`,
    device: kind,
  };
}
