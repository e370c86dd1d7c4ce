/**
 * A file of blocks: 8 bytes that name the format, its version (uint32,
 * little-endian), and from byte 4096 on blocks of one length, in any order.
 * Where each of them lies, and its CRC-32, stand in the saves and not in the file.
 */
import { builtin, syncFolder } from "@bellman/files";
import type { SyncFile } from "./sync_file.ts";

/** Places of blocks in a file, and their checksums. */
export type BlockTable = {
  /** Place of each block; -1 of one that was never written. */
  places: Int32Array;
  /** CRC-32 of the bytes of each block. */
  checksums: Int32Array;
};

const DATA_START = 4096;

/** Start of a file: its name, and the version of the format. */
const HEADER = Uint8Array.of(
  ...[0x89, ...new TextEncoder().encode("BROW\r\n\x1a")],
  ...[3, 0, 0, 0],
);

/** Bytes that are checked at once. */
const PIECE_BYTES = 1 << 20;

/**
 * Blocks of rows with checksums. One that a save needs is never written to: what
 * changes goes to another place, so that a process may die at any moment.
 */
export class BlockFile {
  readonly #file: SyncFile;
  readonly #zlib = builtin("node:zlib");
  readonly #blockRows: number;
  readonly #blockBytes: number;
  /** The table, as far as it is filled: up to `#count`. */
  #places = new Int32Array(0);
  #checksums = new Int32Array(0);
  #count = 0;
  /** 1 for each place that a save needs. */
  #isSaved = new Uint8Array(0);
  /** Places below the end that nothing needs, the first one last. */
  #free: number[] = [];
  /** The place after the last one in use. */
  #end = 0;
  /** True once its blocks may be written. */
  #isOpen = false;
  #isCleared = false;

  constructor(
    file: SyncFile,
    { rows, bytes }: { readonly rows: number; readonly bytes: number },
  ) {
    this.#file = file;
    this.#blockRows = rows;
    this.#blockBytes = bytes;
  }

  /** Bytes of memory that its tables take. */
  get byteLength(): number {
    return 2 * this.#places.byteLength + this.#isSaved.length +
      8 * this.#free.length;
  }

  /** Reads a block; one that was never written is zeros. */
  read(block: number, target: Uint8Array): void {
    const place = block < this.#count ? this.#places[block] : -1;
    if (place < 0) {
      target.fill(0);
      return;
    }
    this.#file.read(this.#positionOf(place), target);
    this.#check(target, { block, checksum: this.#checksums[block] });
  }

  #check(
    bytes: Uint8Array,
    { block, checksum }: { block: number; checksum: number },
  ): void {
    if (this.#checksumOf(bytes) === checksum) return;
    const first = block * this.#blockRows, last = first + this.#blockRows - 1;
    const { path, size } = this.#file;
    throw new SyntaxError(
      `Cannot read rows ${first} to ${last} of '${path}', which has ${size} bytes: they do not have the checksum that they should`,
    );
  }

  /** Throws unless all blocks of a table are as they were saved. */
  verify({ places, checksums }: BlockTable): void {
    // A file that has the blocks is the right one, whatever became of its start.
    if (places.every((place) => place < 0)) this.#checkStart();
    const bytes = this.#blockBytes;
    const most = Math.max(1, Math.floor(PIECE_BYTES / bytes));
    const piece = new Uint8Array(most * bytes);
    for (let first = 0, count = 1; first < places.length; first += count) {
      const place = places[first];
      count = 1;
      if (place < 0) continue;
      // Those that lie side by side are read at once.
      while (count < most && places[first + count] === place + count) count++;
      const read = piece.subarray(0, count * bytes);
      this.#file.read(this.#positionOf(place), read);
      for (let i = 0; i < count; i++) {
        const block = first + i, checksum = checksums[block];
        const own = read.subarray(i * bytes, (i + 1) * bytes);
        this.#check(own, { block, checksum });
      }
    }
  }

  /** Writes a block: in its place, unless a save needs what lies there. */
  write(block: number, bytes: Uint8Array): void {
    this.begin();
    this.#reserve(block + 1);
    const old = this.#places[block];
    const isOwn = old >= 0 && !this.#isSaved[old];
    const place = isOwn ? old : this.#free.at(-1) ?? this.#end;
    this.#file.write(this.#positionOf(place), bytes);
    if (!isOwn) this.#free.pop();
    this.#end = Math.max(this.#end, place + 1);
    this.#places[block] = place;
    this.#checksums[block] = this.#checksumOf(bytes);
  }

  /** Returns the CRC-32 of bytes, as a signed number. */
  #checksumOf(bytes: Uint8Array): number {
    return this.#zlib.crc32(bytes) | 0;
  }

  /** Throws where writing would overwrite what was not loaded. */
  begin(): void {
    if (this.#isOpen) return;
    this.#checkStart();
    if (this.#file.size > 0 && !this.#isCleared) {
      throw new TypeError(
        `Cannot add rows to '${this.#file.path}', which has some: expected their state to be loaded first, or clear()`,
      );
    }
    this.#open();
  }

  /** Throws where the file is something else. */
  #checkStart(): void {
    const { path, size } = this.#file;
    const start = new Uint8Array(HEADER.length);
    this.#file.read(0, start);
    if (size === 0 || start.every((byte, i) => byte === HEADER[i])) return;
    throw new SyntaxError(
      `Cannot keep rows in '${path}': it does not start as a file of rows does`,
    );
  }

  #open(): void {
    this.#isOpen = true;
    this.#file.write(0, HEADER);
    // Its name must be on the disk, too.
    syncFolder(builtin("node:path").dirname(this.#file.path));
  }

  #reserve(count: number): void {
    const before = this.#places.length;
    if (count > before) {
      const length = Math.max(count, 2 * before, 64);
      const places = new Int32Array(length).fill(-1, before);
      const checksums = new Int32Array(length);
      places.set(this.#places);
      checksums.set(this.#checksums);
      this.#places = places;
      this.#checksums = checksums;
    }
    this.#count = Math.max(this.#count, count);
  }

  /** Brings all blocks to the disk; returns a copy of the table. */
  save(): BlockTable {
    this.#file.sync();
    return {
      places: this.#places.slice(0, this.#count),
      checksums: this.#checksums.slice(0, this.#count),
    };
  }

  /** Takes over a table that was verified. */
  load({ places, checksums }: BlockTable): void {
    this.#places = places.slice();
    this.#checksums = checksums.slice();
    this.#count = places.length;
    this.#open();
  }

  /** Forgets all blocks, also those that the file had when it was opened. */
  clear(): void {
    this.#places.fill(-1);
    this.#count = 0;
    this.#isCleared = true;
  }

  /** Finds out which places some tables need: they are not written to. */
  protect(tables: readonly BlockTable[]): void {
    const bytes = this.#file.size - DATA_START;
    // A table of a file that was lost may name more places than there are.
    const held = Math.max(0, Math.floor(bytes / this.#blockBytes));
    this.#isSaved = new Uint8Array(held);
    for (const { places } of tables) mark(places, this.#isSaved);
    const isUsed = this.#isSaved.slice();
    mark(this.#places.subarray(0, this.#count), isUsed);
    this.#end = isUsed.lastIndexOf(1) + 1;
    this.#free = [];
    for (let place = this.#end - 1; place >= 0; place--) {
      if (isUsed[place] === 0) this.#free.push(place);
    }
  }

  #positionOf(place: number): number {
    return DATA_START + place * this.#blockBytes;
  }
}

function mark(places: Int32Array, marks: Uint8Array): void {
  for (const place of places) {
    if (place >= 0) marks[place] = 1;
  }
}
