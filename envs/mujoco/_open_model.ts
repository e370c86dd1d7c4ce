import { installCommand } from "../_install/install_command.ts";
import { findLibrary, findModel } from "./_installed.ts";
import { openNativeLibrary } from "./_native_library.ts";
import { loadNativeModel } from "./_native_model.ts";
import type { PhysicsModel } from "./_physics.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

const WASM = "import '@bellman/envs/mujoco/wasm'";
const HELP = `run '${
  installCommand("mujoco")
}', set BELLMAN_MUJOCO_LIBRARY to its file`;

let loadWasm: ((path: string) => PhysicsModel) | undefined;

/** Makes MuJoCo in WebAssembly, which loads models so, one of the engines. */
export function provideWasm(load: (path: string) => PhysicsModel): void {
  loadWasm = load;
}

/** True where MuJoCo in WebAssembly has been loaded. */
export function hasWasm(): boolean {
  return loadWasm !== undefined;
}

/** Loads a model with the engine that is asked for, or the first that is there. */
export function openModel(
  name: string,
  { xmlFile, engine = "auto" }: Pick<MujocoOptions, "engine"> & {
    xmlFile: string;
  },
): PhysicsModel {
  const library = engine === "wasm" ? undefined : findLibrary();
  if (library !== undefined) {
    return loadNativeModel(openNativeLibrary(library), findModel(xmlFile));
  }
  if (engine !== "native" && loadWasm !== undefined) {
    return loadWasm(findModel(xmlFile));
  }
  const missing = engine === "wasm"
    ? `MuJoCo's WebAssembly is not loaded: ${WASM} first`
    : `no MuJoCo library was found: ${HELP}${
      engine === "auto" ? `, or ${WASM}` : ""
    }`;
  throw new Error(`Cannot make ${name} as ${missing}`);
}
