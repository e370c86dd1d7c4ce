/**
 * HDF5 files on the disk, by npm's `h5wasm`. Importing this loads it; `openDataset` and
 * `writeMinari` do so when they need it.
 *
 * @example
 * ```ts
 * import { minariEpisodes, writeMinari } from "@bellman/buffers/datasets";
 * import { openFile } from "@bellman/buffers/hdf5";
 * import { assertEquals } from "@std/assert";
 *
 * const folder = await Deno.makeTempDir();
 * const space = { type: "discrete", n: 2 } as const;
 * await writeMinari(`${folder}/demo`, [{
 *   observations: [0, 1],
 *   actions: [1],
 *   rewards: [5],
 *   terminations: [1],
 *   truncations: [0],
 * }], { observationSpace: space, actionSpace: space });
 * const file = await openFile(`${folder}/demo/data/main_data.hdf5`, "r");
 * const [{ rewards }] = minariEpisodes(file); // Each is read when it is its turn.
 * assertEquals(rewards, Float64Array.of(5));
 * file.close();
 * await Deno.remove(folder, { recursive: true });
 * ```
 *
 * @module
 */
import h5wasm from "npm:h5wasm@^0.10.3/node";
import type { Hdf5Group } from "./minari.ts";

export type { Hdf5Group };

/** Opened HDF5 file. */
export interface Hdf5File extends Hdf5Group {
  /** Closes the file, and writes the rest of it. */
  close(): unknown;
}

/**
 * Opens an HDF5 file.
 *
 * @param path Path of the file.
 * @param mode "r" to read, "a" to change it as well, "w" for a new one.
 * @returns The file.
 * @throws {Error} If it cannot be opened.
 *
 * @example
 * ```ts
 * import { openFile } from "@bellman/buffers/hdf5";
 * import { assertEquals } from "@std/assert";
 *
 * const path = await Deno.makeTempFile({ suffix: ".hdf5" });
 * const file = await openFile(path, "w");
 * assertEquals(file.keys(), []);
 * file.close();
 * await Deno.remove(path);
 * ```
 */
export async function openFile(
  path: string,
  mode: "r" | "a" | "w",
): Promise<Hdf5File> {
  // Otherwise errors are printed, and what was asked for is empty.
  (await h5wasm.ready).activate_throwing_error_handler();
  return new h5wasm.File(path, mode);
}
