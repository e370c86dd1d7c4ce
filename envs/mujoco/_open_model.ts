import { installCommand } from "../_install/install_command.ts";
import { findLibrary, findModel } from "./_installed.ts";
import { openNativeLibrary } from "./_native_library.ts";
import { loadNativeModel } from "./_native_model.ts";
import type { PhysicsModel } from "./_physics.ts";
import { loadWasmModel } from "./_wasm_model.ts";
import { wasmModule } from "./_wasm_module.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

const HELP = `run '${
  installCommand("mujoco")
}' or set BELLMAN_MUJOCO_LIBRARY to its file`;

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
  const module = engine === "native" ? undefined : wasmModule();
  if (module !== undefined) return loadWasmModel(module, findModel(xmlFile));
  const missing = engine === "wasm"
    ? "MuJoCo's WebAssembly is not loaded: await loadMujocoWasm() first"
    : `no MuJoCo library was found: ${HELP}`;
  throw new Error(`Cannot make ${name} as ${missing}`);
}
