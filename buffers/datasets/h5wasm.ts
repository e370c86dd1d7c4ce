/**
 * npm's `h5wasm`, which reads and writes HDF5 files on the disk. Importing this loads
 * it; `openDataset` and `writeMinari` do so when they need it.
 *
 * @example
 * ```ts
 * import h5wasm from "@bellman/buffers/hdf5";
 * import { assertEquals } from "@std/assert";
 *
 * await h5wasm.ready;
 * const path = await Deno.makeTempFile({ suffix: ".hdf5" });
 * const file = new h5wasm.File(path, "w");
 * file.create_dataset({ name: "x", data: Float32Array.of(1, 2) });
 * assertEquals(file.keys(), ["x"]);
 * file.close();
 * await Deno.remove(path);
 * ```
 *
 * @module
 */
export { default } from "npm:h5wasm@^0.10.3/node";
