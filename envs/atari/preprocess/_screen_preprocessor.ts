import { AreaResizer, areaTaps, type ImageSize } from "./area_resizer.ts";
import { NTSC, type Palette } from "../emulator/palettes.ts";
import { luminance } from "./gray.ts";
// `_screen_kernel.wat`, assembled by testdata/assemble.ts.
import kernel from "./_screen_kernel.json" with { type: "json" };

/** The sizes that the averages are made for; European screens are higher. */
export const SCREEN = { width: 160, height: 210 } as const;
export const FRAME = { width: 84, height: 84 } as const;

/** Numbers that a pixel of a screen can be. */
const COLORS = 256;

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

/** Lists the first of each eight columns of the result: the last two groups overlap. */
function groups(): number[] {
  const starts: number[] = [];
  for (let at = 0; at + LANES <= FRAME.width; at += LANES) starts.push(at);
  return [...starts, FRAME.width - LANES];
}

/** Writes the weights of each eight columns, as the kernel reads them. */
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
 * Its arrays lie in separate memory, which never moves.
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
    compiled ??= new WebAssembly.Module(
      Uint8Array.from(atob(kernel), (it) => it.charCodeAt(0)),
    );
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

/**
 * Numbers that the maximum of two screens is taken of: their red, green and blue,
 * before these become gray, as baselines does; or their grays, as Gymnasium
 * does. They differ where one colour moves over another.
 */
export type MaximumOf = "color" | "gray";

/** Computes the gray of the brighter red, green and blue of two colours. */
function grayOfBoth({ rgb }: Palette, a: number, b: number): number {
  const brighter = (c: number) => Math.max(rgb[3 * a + c], rgb[3 * b + c]);
  return luminance(brighter(0), brighter(1), brighter(2));
}

/**
 * Makes one small gray picture of the last two screens of an Atari: their
 * maximum, since many games draw some things on every other screen only, averaged
 * over areas.
 *
 * Gray, maximum and averages are fused in WebAssembly SIMD for screens of 210 rows
 * and pictures of 84 by 84 pixels. For others {@linkcode AreaResizer} averages;
 * both are exact. No permission is needed.
 */
export class ScreenPreprocessor {
  /** The last two screens, to be written into: rows of 160 numbers. */
  readonly screens: readonly [Uint8Array, Uint8Array];
  /** The picture that was made last: `height` rows of `width` grays. */
  readonly frame: Uint8Array;
  #kernel: ScreenKernel;
  #resizer: AreaResizer | undefined;

  constructor(
    { maximum = "color", size = FRAME, palette = NTSC, height = SCREEN.height }:
      {
        maximum?: MaximumOf;
        size?: ImageSize;
        palette?: Palette;
        /** Rows of a screen. */
        height?: number;
      } = {},
  ) {
    this.#kernel = new ScreenKernel({ height });
    const { pairs, screens, frame } = this.#kernel;
    for (let a = 0; a < COLORS; a++) {
      for (let b = 0; b < COLORS; b++) {
        pairs[a * COLORS + b] = maximum === "color"
          ? grayOfBoth(palette, a, b)
          : Math.max(palette.gray[a], palette.gray[b]);
      }
    }
    this.screens = screens;
    const isFused = height === SCREEN.height &&
      size.width === FRAME.width && size.height === FRAME.height;
    this.#resizer = isFused
      ? undefined
      : new AreaResizer({ ...SCREEN, height }, size);
    this.frame = isFused ? frame : new Uint8Array(size.width * size.height);
  }

  /** Makes the picture of both screens; the next call changes it. */
  process(): Uint8Array {
    const [before, now] = this.screens;
    return this.#process(before, now);
  }

  /** Makes the picture of one of the screens, as after a reset. */
  processOne(screen: 0 | 1): Uint8Array {
    return this.#process(this.screens[screen], this.screens[screen]);
  }

  #process(a: Uint8Array, b: Uint8Array): Uint8Array {
    this.#kernel.toGray(a, b);
    if (this.#resizer === undefined) this.#kernel.resize();
    else this.#resizer.resize(this.#kernel.gray, this.frame);
    return this.frame;
  }
}
