import { Uint8ArrayReader, Uint8ArrayWriter, ZipWriter } from "@zip.js/zip.js";
import { encodeNpy, type NpyArray } from "../npy.ts";

/** Two small arrays, one of which has a name that is not ASCII. */
export const few: Record<string, NpyArray> = {
  a: { data: Float32Array.of(1, 2), shape: [2] },
  "b/ü": { data: Int16Array.of(-1, 5), shape: [1, 2] },
};

/** A zip file of these members, in the form for 4 GiB and more if wanted. */
export async function zipOf(
  members: Record<string, Uint8Array>,
  zip64 = false,
): Promise<Uint8Array<ArrayBuffer>> {
  const writer = new ZipWriter(new Uint8ArrayWriter(), { zip64, level: 0 });
  for (const [name, bytes] of Object.entries(members)) {
    await writer.add(name, new Uint8ArrayReader(bytes));
  }
  return await writer.close() as Uint8Array<ArrayBuffer>;
}

/** An npz file in the form for 4 GiB and more. */
export function largeForm(
  arrays: Record<string, NpyArray>,
): Promise<Uint8Array<ArrayBuffer>> {
  return zipOf(
    Object.fromEntries(
      Object.entries(arrays)
        .map(([name, array]) => [`${name}.npy`, encodeNpy(array)]),
    ),
    true,
  );
}
