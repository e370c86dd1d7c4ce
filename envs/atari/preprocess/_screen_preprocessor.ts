import { AreaResizer, type ImageSize } from "./area_resizer.ts";
import { NTSC, type Palette } from "../_palettes.ts";
import { luminance } from "./gray.ts";
import { COLORS, FRAME, SCREEN, ScreenKernel } from "./_screen_kernel.ts";

/**
 * Of what the maximum of two screens is taken: of their red, green and blue,
 * before these become gray, as baselines does; or of their grays, as Gymnasium
 * does. They differ where one colour moves over another.
 */
export type MaximumOf = "color" | "gray";

/** The gray of the brighter red, green and blue of two colours. */
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
