import { zipPieces } from "../_zip_writer.ts";
import { encodeNpy } from "../npy.ts";
import type { NpyArray } from "../npy_array.ts";

/** Two small arrays, one of which has a name that is not ASCII. */
export const few: Record<string, NpyArray> = {
  a: { data: Float32Array.of(1, 2), shape: [2] },
  "b/ü": { data: Int16Array.of(-1, 5), shape: [1, 2] },
};

/** An npz file in the form for 4 GiB and more, used from a few bytes on. */
export async function largeForm(
  arrays: Record<string, NpyArray>,
  largeFrom: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const members = Object.entries(arrays)
    .map(([name, array]) => ({
      name: `${name}.npy`,
      pieces: [encodeNpy(array)],
    }));
  const pieces = zipPieces(members, { compress: false, largeFrom });
  return await new Response(ReadableStream.from(pieces)).bytes();
}
