import { createRequire } from "node:module";
import type { TensorFlowBinding } from "./binding.ts";

/**
 * Loads tfjs-node's own addon.
 *
 * @param path The file `tfjs_binding.node`.
 * @throws {Error} If it cannot be loaded.
 */
export function openAddon(path: string): TensorFlowBinding {
  try {
    return createRequire(import.meta.url)(path) as TensorFlowBinding;
  } catch (error) {
    const reason = error instanceof Deno.errors.NotCapable
      ? "it needs the permission --allow-ffi"
      : (error as Error).message.split("\n")[0];
    throw new Error(`Cannot load the TensorFlow addon '${path}': ${reason}`);
  }
}
