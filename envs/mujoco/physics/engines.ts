import { checkDeno, isDeno } from "@bellman/files";
import { installCommand } from "@bellman/files/installed";
import {
  findLibrary,
  findModel,
  hasModels,
  MUJOCO_INSTALLATION,
} from "../install/installed.ts";
import { openNativeLibrary } from "./_native_library.ts";
import { loadNativeModel } from "./_native_model.ts";
import type { ModelSource, PhysicsEngine, PhysicsModel } from "./_physics.ts";

const WASM = "import '@bellman/envs/mujoco/wasm'";
const HELP = `run '${
  installCommand(MUJOCO_INSTALLATION)
}', set BELLMAN_MUJOCO_LIBRARY to its file`;

let loadWasm: ((source: ModelSource) => PhysicsModel) | undefined;

/** Makes MuJoCo in WebAssembly, which loads a model so, one of the engines. */
export function provideWasm(load: (source: ModelSource) => PhysicsModel): void {
  loadWasm = load;
}

/** Finds a model by its file, unless it is given as text. */
function sourceOf(name: string, model: string): ModelSource {
  return model.trimStart().startsWith("<")
    ? { name, text: model }
    : { name, path: findModel(model) };
}

/** Loads a model with the engine that is named, or the first that is there. */
export function openModel(
  name: string,
  { xmlFile, engine: asked = "auto" }: {
    xmlFile: string;
    engine?: "auto" | PhysicsEngine;
  },
): PhysicsModel {
  if (asked === "native") checkDeno(`make ${name} with the MuJoCo library`);
  const engine = asked === "auto" && !isDeno() ? "wasm" : asked;
  const library = engine === "wasm" ? undefined : findLibrary();
  if (library !== undefined) {
    return loadNativeModel(openNativeLibrary(library), sourceOf(name, xmlFile));
  }
  if (engine !== "native" && loadWasm !== undefined) {
    return loadWasm(sourceOf(name, xmlFile));
  }
  const missing = engine === "wasm"
    ? `MuJoCo's WebAssembly is not loaded: ${WASM} first`
    : `no MuJoCo library was found: ${HELP}${
      engine === "auto" ? `, or ${WASM}` : ""
    }`;
  throw new Error(`Cannot make ${name} as ${missing}`);
}

/**
 * True where environments on MuJoCo can be made: an engine and Gymnasium's models
 * are installed. `deno run -RWES --allow-run jsr:@bellman/envs/mujoco/install` sets both up.
 *
 * @returns True where they are.
 * @example
 * ```ts
 * import { isMujocoInstalled, MujocoEnv } from "@bellman/envs/mujoco";
 * import { assertEquals } from "@std/assert";
 *
 * if (isMujocoInstalled()) {
 *   const env = new MujocoEnv("Swimmer");
 *   assertEquals(env.reset({ seed: 1 }).length, 8);
 *   env.close();
 * }
 * ```
 */
export function isMujocoInstalled(): boolean {
  return hasModels() && (hasLibrary() || loadWasm !== undefined);
}

function hasLibrary(): boolean {
  try {
    return isDeno() && findLibrary() !== undefined;
  } catch {
    // The variable names a file that is not there, or one may not look.
    return false;
  }
}
