/**
 * File formats of Bellman: saved states with checksums, arrays in the formats
 * safetensors and npy, and atomic file replacement. Archives of npy files have their
 * own entry point, `@bellman/files/npz`.
 *
 * @example
 * ```ts
 * import { loadState, saveState } from "@bellman/files";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempFile();
 * const state = { step: 80, weights: Float32Array.of(1, 2) };
 * await saveState(state, path);
 * assertEquals(await loadState(path), state);
 * await Deno.remove(path);
 * ```
 *
 * @module
 */
export * from "./atomic_file.ts";
export * from "./host.ts";
export {
  decodeNpy,
  encodeNpy,
  type NpyArray,
  type NpyData,
  type NpyDtype,
} from "./npy.ts";
export {
  kindOf,
  namingFile,
  openPlainSync,
  type PlainFileUse,
} from "./plain_file.ts";
export { cString, openLibrary } from "./native_library.ts";
export { builtin, type Builtins, rewordError, toPath } from "./runtime.ts";
export {
  decodeSafetensors,
  encodeSafetensors,
  type SafeTensor,
  type SafeTensors,
} from "./safetensors.ts";
export * from "./state_file.ts";
export {
  copyArrays,
  isStateRecord,
  isTypedArray,
  loadAtomically,
  type NamedArrays,
  restoreArrays,
  type StateRecord,
} from "./state_tree.ts";
