import type { MainModule } from "@mujoco/mujoco";

let loaded: MainModule | undefined;
let loading: Promise<MainModule> | undefined;

async function load(): Promise<MainModule> {
  const { default: start } = await import("@mujoco/mujoco");
  return await start();
}

/** MuJoCo in WebAssembly, if it has been loaded. */
export function wasmModule(): MainModule | undefined {
  return loaded;
}

/**
 * Loads MuJoCo compiled to WebAssembly (npm's `@mujoco/mujoco`), on which
 * environments run where no native library is found or `engine: "wasm"` is
 * asked for. Importing this package does it by itself where there is none, and
 * so do the command line, `WorkerVecEnv` and `SubprocessVecEnv` where it is
 * asked for; a program of one's own calls it before it makes such a one itself.
 *
 * @throws {Error} If the package is not there or cannot be read.
 * @example
 * ```ts
 * import { HopperEnv, isMujocoInstalled, loadMujocoWasm } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * await loadMujocoWasm();
 * if (isMujocoInstalled()) {
 *   const env = new HopperEnv({ engine: "wasm" });
 *   assertEquals(env.reset({ seed: 0 }).length, 11);
 *   env.close();
 * }
 * ```
 */
export async function loadMujocoWasm(): Promise<void> {
  try {
    loading ??= load();
    loaded = await loading;
  } catch (error) {
    loading = undefined;
    const [line] = (error as Error).message.split("\n");
    throw new Error(`Cannot load MuJoCo's WebAssembly: ${line}`);
  }
}
