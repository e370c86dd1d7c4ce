/**
 * MuJoCo compiled to WebAssembly (npm's `@mujoco/mujoco`), for pages and for
 * programs that may not load native libraries. Importing this loads it, which
 * takes some 0.2 seconds and 60 MB; from then on environments run on it where
 * `engine: "wasm"` is set, or where no native library is found. It throws
 * where the npm package is missing or cannot be read.
 *
 * @example
 * ```ts
 * import { make } from "@bellman/envs";
 * import { isMujocoInstalled } from "@bellman/envs/mujoco";
 * import "@bellman/envs/mujoco/wasm";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = make("Hopper-v5", { kwargs: { engine: "wasm" } });
 *   assertEquals(env.reset({ seed: 0 }).length, 11);
 *   env.close();
 * }
 * ```
 *
 * @module
 */
import { provideWasm } from "./physics/engines.ts";
import { loadWasmModel, startMujoco } from "./physics/_wasm_model.ts";

const module = await startMujoco();
provideWasm((source) => loadWasmModel(module, source));
