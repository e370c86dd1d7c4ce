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
    const file = new h5wasm.File(path, mode);
    // It does not throw by itself.
    if (file.file_id < 0n) {
      throw new Error("it is damaged or of another format");
    }
    return file;
  } catch (error) {
    const [line] = (error as Error).message.split("\n");
    throw new Error(`Cannot open '${path}' as HDF5: ${line}`);
  }
}
