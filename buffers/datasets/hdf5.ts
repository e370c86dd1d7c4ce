import type { File, Group } from "npm:h5wasm@^0.10.3";

export type { File, Group };

/** Opens an HDF5 file on the disk with npm's `h5wasm`, which is loaded here alone. */
export async function openHdf5(
  path: string,
  mode: "r" | "a" | "w",
): Promise<File> {
  try {
    const { default: h5wasm } = await import("npm:h5wasm@^0.10.3/node");
    await h5wasm.ready;
    return new h5wasm.File(path, mode);
  } catch (error) {
    const [line] = (error as Error).message.split("\n");
    throw new Error(`Cannot open '${path}' as HDF5: ${line}`);
  }
}
