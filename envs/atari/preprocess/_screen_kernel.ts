import { areaTaps } from "./_area_taps.ts";
import { SCREEN_KERNEL } from "./_screen_kernel_wasm.ts";

/** The sizes that the averages are made for; European screens are higher. */
export const SCREEN = { width: 160, height: 210 } as const;
export const FRAME = { width: 84, height: 84 } as const;

/** Numbers that a pixel of a screen can be. */
export const COLORS = 256;

const LANES = 8, TAP_BYTES = 96;
const SUMS_BYTES = 2 * 2 * (SCREEN.width + 2 * LANES);

/** Pages of 64 KiB that all of the arrays take, for screens of up to 300 rows. */
const PAGES = 4;

interface Exports {
  gray(
    a: number,
    b: number,
    end: number,
    out: number,
    pairs: number,
  ): void;
  resize(gray: number, out: number, sums: number, taps: number): void;
}

/** Where eight columns of the result begin: the last two groups overlap. */
function groups(): number[] {
  const starts: number[] = [];
  for (let at = 0; at + LANES <= FRAME.width; at += LANES) starts.push(at);
  return [...starts, FRAME.width - LANES];
}

/** Writes what makes eight columns, as the kernel reads it. */
function writeTaps(view: DataView): void {
  const { first, count, weights } = areaTaps(SCREEN.width, FRAME.width);
  groups().forEach((start, group) => {
    const at = group * TAP_BYTES;
    view.setInt32(at, start, true);
    view.setInt32(at + 4, 2 * first[start], true);
    for (let lane = 0; lane < LANES; lane++) {
      const byte = 2 * (first[start + lane] - first[start]);
      for (const half of [0, 1]) {
        const place = at + 16 + 2 * lane + half;
        // An index out of a vector's 16 bytes picks a zero.
        view.setUint8(place, byte + half);
        view.setUint8(place + 16, byte + half - 16);
      }
      for (let tap = 0; tap < count; tap++) {
        const weight = weights[(start + lane) * count + tap];
        view.setUint16(at + 48 + 16 * tap + 2 * lane, weight, true);
      }
    }
  });
}

let compiled: WebAssembly.Module | undefined;

/**
 * The fused preprocessing in WebAssembly SIMD: two screens of palette indexes
 * become gray, their maximum is taken, and 210 rows are averaged down to 84.
 * Its arrays lie in memory of its own, which never moves.
 */
export class ScreenKernel {
  /** The last two screens: rows of 160 palette indexes. */
  readonly screens: readonly [Uint8Array, Uint8Array];
  /** Grays of each two colours, `[256, 256]`. */
  readonly pairs: Uint8Array;
  /** The grays of the two screens: rows of 160. */
  readonly gray: Uint8Array;
  /** The result: 84 rows of 84 grays. */
  readonly frame: Uint8Array;
  #exports: Exports;
  #sums: number;
  #taps: number;

  constructor({ height = SCREEN.height as number } = {}) {
    compiled ??= new WebAssembly.Module(Uint8Array.fromBase64(SCREEN_KERNEL));
    const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });
    let used = 0;
    const allocate = (bytes: number) => {
      const array = new Uint8Array(memory.buffer, used, bytes);
      used += Math.ceil(bytes / 16) * 16;
      return array;
    };
    const pixels = SCREEN.width * height;
    this.screens = [allocate(pixels), allocate(pixels)];
    this.gray = allocate(pixels);
    this.frame = allocate(FRAME.width * FRAME.height);
    this.pairs = allocate(COLORS * COLORS);
    this.#sums = allocate(SUMS_BYTES).byteOffset;
    const taps = allocate(groups().length * TAP_BYTES);
    this.#taps = taps.byteOffset;
    writeTaps(new DataView(memory.buffer, this.#taps, taps.length));
    this.#exports = new WebAssembly.Instance(compiled, { env: { memory } })
      .exports as unknown as Exports;
  }

  /** Fills `gray` with those of the pairs of pixels of two screens. */
  toGray(a: Uint8Array, b: Uint8Array): void {
    this.#exports.gray(
      a.byteOffset,
      b.byteOffset,
      a.byteOffset + a.length,
      this.gray.byteOffset,
      this.pairs.byteOffset,
    );
  }

  /** Fills `frame` with the averages of `gray`, which has 210 rows. */
  resize(): void {
    this.#exports.resize(
      this.gray.byteOffset,
      this.frame.byteOffset,
      this.#sums,
      this.#taps,
    );
  }
}
