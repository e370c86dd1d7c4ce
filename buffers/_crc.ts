/** Checksums of bytes: CRC-32C guards buffer files, CRC-32 is what zip files want. */

/** Continues a checksum, 0 at first, over further bytes. */
export type Crc = (bytes: Uint8Array, previous?: number) => number;

/** Bytes that one turn of the loop takes. */
const SLICE = 16;

/** Bytes at once: engines are slow where an array has more than 2^30 numbers. */
const PIECE_BYTES = 1 << 24;

/** The checksum of RFC 3720 (Castagnoli). */
export const crc32c: Crc = makeCrc(0x82f63b78);

/** The checksum of zip, gzip and PNG. */
export const crc32: Crc = makeCrc(0xedb88320);

/**
 * "Slicing by 16": table `k` holds what a byte does that `k` bytes follow, so
 * that 16 look-ups that do not wait for each other take 16 bytes.
 */
function makeTables(polynomial: number): Int32Array[] {
  const tables = Array.from({ length: SLICE }, () => new Int32Array(256));
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) {
      crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    }
    tables[0][byte] = crc;
  }
  for (let k = 1; k < SLICE; k++) {
    for (let byte = 0; byte < 256; byte++) {
      const crc = tables[k - 1][byte];
      tables[k][byte] = (crc >>> 8) ^ tables[0][crc & 255];
    }
  }
  return tables;
}

function makeCrc(polynomial: number): Crc {
  let tables: Int32Array[] | undefined;
  return (bytes, previous = 0) => {
    tables ??= makeTables(polynomial);
    let crc = ~previous;
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      crc = update(crc, bytes.subarray(start, start + PIECE_BYTES), tables);
    }
    return ~crc >>> 0;
  };
}

function update(
  crc: number,
  bytes: Uint8Array,
  tables: readonly Int32Array[],
): number {
  const head = -bytes.byteOffset & 3;
  const count = Math.max(0, bytes.length - head) >> 4;
  if (count === 0) return bytewise(crc, bytes, tables[0]);
  const start = bytes.byteOffset + head;
  const words = new Int32Array(bytes.buffer, start, count * 4);
  crc = bytewise(crc, bytes.subarray(0, head), tables[0]);
  crc = sliced(crc, words, tables);
  return bytewise(crc, bytes.subarray(head + count * SLICE), tables[0]);
}

function bytewise(crc: number, bytes: Uint8Array, table: Int32Array): number {
  for (let i = 0; i < bytes.length; i++) {
    crc = (crc >>> 8) ^ table[(crc ^ bytes[i]) & 255];
  }
  return crc;
}

/** Little-endian words, four at a time. */
function sliced(
  crc: number,
  words: Int32Array,
  [t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, ta, tb, tc, td, te, tf]:
    readonly Int32Array[],
): number {
  for (let i = 0; i < words.length; i += 4) {
    const a = words[i] ^ crc;
    const b = words[i + 1];
    const c = words[i + 2];
    const d = words[i + 3];
    crc = tf[a & 255] ^ te[(a >>> 8) & 255] ^ td[(a >>> 16) & 255] ^
      tc[a >>> 24] ^ tb[b & 255] ^ ta[(b >>> 8) & 255] ^
      t9[(b >>> 16) & 255] ^ t8[b >>> 24] ^ t7[c & 255] ^
      t6[(c >>> 8) & 255] ^ t5[(c >>> 16) & 255] ^ t4[c >>> 24] ^
      t3[d & 255] ^ t2[(d >>> 8) & 255] ^ t1[(d >>> 16) & 255] ^ t0[d >>> 24];
  }
  return crc;
}
