import { crc32 } from "./_crc.ts";
import {
  IN_END64,
  IN_EXTRA,
  METHODS,
  SIGNATURES,
  UTF8_FLAG,
  ZIP64_EXTRA,
} from "./_zip_format.ts";

/** Bytes that are compressed at once. */
const PIECE_BYTES = 1 << 20;

/** A member to be written. */
export interface NewMember {
  readonly name: string;
  /** Its bytes, one piece after the other. */
  readonly pieces: readonly Uint8Array[];
}

/** How members are written. */
export interface ZipOptions {
  /** Whether they are deflated. */
  readonly compress: boolean;
  /** Bytes from which on the larger form of the format is used. */
  readonly largeFrom?: number;
}

/** What the directory says of a member. */
interface Entry {
  readonly name: Uint8Array;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly size: number;
  readonly compressedSize: number;
  readonly offset: number;
}

/** A number, and how many bytes it takes. */
type FieldOf = readonly [value: number, bytes: 2 | 4 | 8];

/** A zip file in pieces; what is stored is not copied. */
export async function* zipPieces(
  members: Iterable<NewMember>,
  { compress, largeFrom = IN_EXTRA }: ZipOptions,
): AsyncGenerator<Uint8Array> {
  const entries: Entry[] = [];
  let position = 0;
  for (const { name, pieces } of members) {
    const stored = compress ? await deflate(pieces) : pieces;
    const utf8 = new TextEncoder().encode(name);
    const entry: Entry = {
      name: utf8,
      flags: utf8.length === name.length ? 0 : UTF8_FLAG,
      method: compress ? METHODS.deflated : METHODS.stored,
      crc: pieces.reduce((crc, piece) => crc32(piece, crc), 0),
      size: lengthOf(pieces),
      compressedSize: lengthOf(stored),
      offset: position,
    };
    entries.push(entry);
    const header = localHeader(entry, largeFrom);
    yield header;
    yield* stored;
    position += header.length + entry.compressedSize;
  }
  yield* directory(entries, position, largeFrom);
}

async function deflate(pieces: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const stream = ReadableStream.from(cut(pieces))
    .pipeThrough(new CompressionStream("deflate-raw"));
  return await Array.fromAsync(stream);
}

/** Compressed are few bytes at once, as each call blocks and takes memory. */
function* cut(
  pieces: readonly Uint8Array[],
): Generator<Uint8Array<ArrayBuffer>> {
  for (const piece of pieces) {
    for (let start = 0; start < piece.length; start += PIECE_BYTES) {
      yield piece.subarray(start, start + PIECE_BYTES) as Uint8Array<
        ArrayBuffer
      >;
    }
  }
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

function isLarge(
  { size, compressedSize, offset }: Entry,
  largeFrom: number,
): boolean {
  return Math.max(size, compressedSize, offset) >= largeFrom;
}

/** What the local header and the directory say alike. */
function common(entry: Entry, large: boolean, extraBytes: number): FieldOf[] {
  return [
    [large ? 45 : 20, 2], // Version of the format that is needed.
    [entry.flags, 2],
    [entry.method, 2],
    [0, 2], // No time: the same arrays give the same bytes.
    [0x21, 2], // The first day that there is, in 1980.
    [entry.crc, 4],
    [large ? IN_EXTRA : entry.compressedSize, 4],
    [large ? IN_EXTRA : entry.size, 4],
    [entry.name.length, 2],
    [extraBytes, 2],
  ];
}

function localHeader(entry: Entry, largeFrom: number): Uint8Array {
  const large = isLarge(entry, largeFrom);
  const extra: FieldOf[] = [
    [ZIP64_EXTRA, 2],
    [16, 2],
    [entry.size, 8],
    [entry.compressedSize, 8],
  ];
  const fixed = record([
    [SIGNATURES.local, 4],
    ...common(entry, large, large ? 20 : 0),
  ]);
  return joined([fixed, entry.name, record(large ? extra : [])]);
}

function centralHeader(entry: Entry, largeFrom: number): Uint8Array {
  const large = isLarge(entry, largeFrom);
  const extra: FieldOf[] = [
    [ZIP64_EXTRA, 2],
    [24, 2],
    [entry.size, 8],
    [entry.compressedSize, 8],
    [entry.offset, 8],
  ];
  const fixed = record([
    [SIGNATURES.central, 4],
    [45, 2], // Version of the format that is known.
    ...common(entry, large, large ? 28 : 0),
    [0, 2], // Length of the comment.
    [0, 2], // Disk.
    [0, 2],
    [0, 4],
    [large ? IN_EXTRA : entry.offset, 4],
  ]);
  return joined([fixed, entry.name, record(large ? extra : [])]);
}

function* directory(
  entries: readonly Entry[],
  start: number,
  largeFrom: number,
): Generator<Uint8Array> {
  const headers = entries.map((entry) => centralHeader(entry, largeFrom));
  const length = lengthOf(headers);
  const count = entries.length;
  const large = count >= IN_END64 || start + length >= largeFrom;
  yield* headers;
  if (large) {
    yield record([
      [SIGNATURES.end64, 4],
      [44, 8], // Bytes of the rest of this record.
      ...[[45, 2], [45, 2]] as FieldOf[],
      ...[[0, 4], [0, 4]] as FieldOf[], // Disks.
      ...[[count, 8], [count, 8], [length, 8], [start, 8]] as FieldOf[],
      ...[[SIGNATURES.locator64, 4], [0, 4]] as FieldOf[],
      ...[[start + length, 8], [1, 4]] as FieldOf[],
    ]);
  }
  const shown = large ? IN_END64 : count;
  yield record([
    [SIGNATURES.end, 4],
    ...[[0, 2], [0, 2]] as FieldOf[], // Disks.
    ...[[shown, 2], [shown, 2]] as FieldOf[],
    [large ? IN_EXTRA : length, 4],
    [large ? IN_EXTRA : start, 4],
    [0, 2], // Length of the comment.
  ]);
}

function record(fields: readonly FieldOf[]): Uint8Array {
  const length = fields.reduce((sum, [, bytes]) => sum + bytes, 0);
  const view = new DataView(new ArrayBuffer(length));
  let at = 0;
  for (const [value, bytes] of fields) {
    if (bytes === 2) view.setUint16(at, value, true);
    else if (bytes === 4) view.setUint32(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
    at += bytes;
  }
  return new Uint8Array(view.buffer);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(lengthOf(pieces));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
