import type { LeafRows } from "./_leaf_rows.ts";

/** Words of a cache line. */
const LINE_WORDS = 16;

/** Words of a row from which on a copy fetches well by itself. */
const LONG_WORDS = 512;

/** Takes what is read only to be fetched, so that reading is not left out. */
let sink = 0;

/**
 * Reads rows that are about to be copied. They lie anywhere, and what takes time
 * is to fetch them: the processor fetches many at once where it only reads, but
 * few where it copies each row in between.
 */
export class RowFetcher {
  /** Whose rows are one line, or two: the ends of a row are in them. */
  readonly #short: readonly LeafRows[];
  readonly #long: readonly LeafRows[];

  /** Fetches from arrays of words in memory; others are left out. */
  constructor(arrays: readonly LeafRows[]) {
    const words = arrays.filter(({ units }) => units instanceof Int32Array);
    const isShort = (it: LeafRows) => it.unitSize <= LINE_WORDS + 1;
    this.#short = words.filter(isShort);
    this.#long = words.filter((it) => !isShort(it) && it.unitSize < LONG_WORDS);
  }

  /** Fetches some rows; for negative ones row 0. */
  fetch(rows: Int32Array): void {
    for (const { units, unitSize } of this.#long) {
      sink ^= readLines(units as Int32Array, unitSize, rows);
    }
    const short = this.#short;
    let i = 0;
    for (; i + 2 < short.length; i += 3) {
      sink ^= readThree(short[i], short[i + 1], short[i + 2], rows);
    }
    for (; i < short.length; i++) sink ^= readOne(short[i], rows);
  }
}

/** Fetches the same rows of two arrays of single bytes. */
export function fetchBytes(
  a: Uint8Array,
  b: Uint8Array,
  rows: Int32Array,
): void {
  let sum = 0;
  for (let i = 0; i < rows.length; i++) sum ^= a[rows[i]] ^ b[rows[i]];
  sink ^= sum;
}

function readLines(
  words: Int32Array,
  size: number,
  rows: Int32Array,
): number {
  let sum = 0;
  for (let i = 0; i < rows.length; i++) {
    const from = Math.max(0, rows[i]) * size;
    const last = from + size - 1;
    for (let j = from; j < last; j += LINE_WORDS) sum ^= words[j];
    sum ^= words[last];
  }
  return sum;
}

function readOne(
  { units, unitSize }: LeafRows,
  rows: Int32Array,
): number {
  const words = units as Int32Array, end = unitSize - 1;
  let sum = 0;
  for (let i = 0; i < rows.length; i++) {
    const from = Math.max(0, rows[i]) * unitSize;
    sum ^= words[from] ^ words[from + end];
  }
  return sum;
}

function readThree(
  a: LeafRows,
  b: LeafRows,
  c: LeafRows,
  rows: Int32Array,
): number {
  const wordsA = a.units as Int32Array, sizeA = a.unitSize, endA = sizeA - 1;
  const wordsB = b.units as Int32Array, sizeB = b.unitSize, endB = sizeB - 1;
  const wordsC = c.units as Int32Array, sizeC = c.unitSize, endC = sizeC - 1;
  let sum = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = Math.max(0, rows[i]);
    const fromA = row * sizeA, fromB = row * sizeB, fromC = row * sizeC;
    sum ^= wordsA[fromA] ^ wordsA[fromA + endA];
    sum ^= wordsB[fromB] ^ wordsB[fromB + endB];
    sum ^= wordsC[fromC] ^ wordsC[fromC + endC];
  }
  return sum;
}
