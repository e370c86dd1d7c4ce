/**
 * The form of a saved state, in little-endian numbers:
 *
 * - a preamble of 16 bytes: 8 that name the format, its version (uint32), the
 *   checksum of these 12 (uint32);
 * - chunks: a type of 4 letters, the length of the payload (uint32), the
 *   checksum of both and of the payload (uint32), the payload.
 *
 * `TREE` chunks hold the JSON of `_state_tree.ts` (UTF-8), `DATA` chunks the
 * bytes of all arrays one after the other; both are cut every MiB. The last
 * chunk, `DONE`, holds the number of bytes before it (float64) and the checksum
 * (uint32) of the checksums of the preamble and of all chunks, so that a chunk
 * that is missing, repeated or out of place is found too. Checksums are CRC-32C.
 */
import { crc32c } from "./_crc.ts";
import { bytesOf, splitState } from "./_state_tree.ts";
import type { PlainState } from "./plain_state.ts";

/**
 * What a file begins with: a byte that is not ASCII, a name, and line ends that
 * a transfer as text would change.
 */
export const MAGIC: Uint8Array = Uint8Array.of(
  0x89,
  ...new TextEncoder().encode("BBUF\r\n\x1a"),
);

/** The version that is written, and the newest one that is read. */
export const VERSION = 1;

/** Bytes of the preamble. */
export const PREAMBLE_BYTES = 16;

/** Bytes of a chunk before its payload. */
export const HEADER_BYTES = 12;

/** Bytes of payload that a chunk may have. */
export const MAX_PAYLOAD_BYTES: number = 1 << 20;

/** Bytes of the payload of the last chunk. */
export const DONE_BYTES = 12;

/** What a chunk holds. */
export type ChunkType = "TREE" | "DATA" | "DONE";

/** Continues the checksum over all with the checksum of one part. */
export function addToDigest(digest: number, crc: number): number {
  return crc32c(bytesOf(Uint32Array.of(crc)), digest);
}

/**
 * A state as bytes: the pieces of the preamble and of each chunk in turn, those
 * of arrays as views. Throws a TypeError for a state that is not plain.
 */
export function stateChunks(state: PlainState): Iterable<Uint8Array[]> {
  const { json, arrays } = splitState(state);
  return chunks([new TextEncoder().encode(json)], arrays.map(bytesOf));
}

function* chunks(
  tree: readonly Uint8Array[],
  data: readonly Uint8Array[],
): Generator<Uint8Array[]> {
  const preamble = makePreamble();
  yield [preamble.bytes];
  let digest = addToDigest(0, preamble.crc);
  let position = PREAMBLE_BYTES;
  for (const [type, pieces] of [["TREE", tree], ["DATA", data]] as const) {
    for (const payload of cut(pieces)) {
      const { header, crc, length } = makeHeader(type, payload);
      yield [header, ...payload];
      digest = addToDigest(digest, crc);
      position += HEADER_BYTES + length;
    }
  }
  const done = new DataView(new ArrayBuffer(DONE_BYTES));
  done.setFloat64(0, position, true);
  done.setUint32(8, digest, true);
  const { header } = makeHeader("DONE", [bytesOf(done)]);
  yield [header, bytesOf(done)];
}

function makePreamble(): { bytes: Uint8Array; crc: number } {
  const bytes = new Uint8Array(PREAMBLE_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  view.setUint32(8, VERSION, true);
  const crc = crc32c(bytes.subarray(0, 12));
  view.setUint32(12, crc, true);
  return { bytes, crc };
}

function makeHeader(
  type: ChunkType,
  payload: readonly Uint8Array[],
): { header: Uint8Array; crc: number; length: number } {
  const header = new Uint8Array(HEADER_BYTES);
  const view = new DataView(header.buffer);
  const length = payload.reduce((sum, piece) => sum + piece.length, 0);
  new TextEncoder().encodeInto(type, header);
  view.setUint32(4, length, true);
  let crc = crc32c(header.subarray(0, 8));
  for (const piece of payload) crc = crc32c(piece, crc);
  view.setUint32(8, crc, true);
  return { header, crc, length };
}

/** Groups of views that together have the length of a payload. */
function* cut(pieces: readonly Uint8Array[]): Generator<Uint8Array[]> {
  let group: Uint8Array[] = [];
  let room = MAX_PAYLOAD_BYTES;
  for (const piece of pieces) {
    for (let start = 0; start < piece.length;) {
      const view = piece.subarray(start, start + room);
      group.push(ownBytes(view));
      start += view.length;
      room -= view.length;
      if (room > 0) continue;
      yield group;
      group = [];
      room = MAX_PAYLOAD_BYTES;
    }
  }
  if (group.length > 0) yield group;
}

/** Shared memory is copied: it may change before it is written, and files and streams do not take it. */
function ownBytes(view: Uint8Array): Uint8Array {
  return view.buffer instanceof ArrayBuffer ? view : view.slice();
}
