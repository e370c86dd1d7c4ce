import { NTSC_PALETTE } from "./preprocess/_ntsc_palette.ts";

/** Eight colours of each of the 16 hues of PAL, dark to bright, as RRGGBB. */
const PAL_HUES = [
  "000000 2b2b2b 525252 767676 979797 b6b6b6 d2d2d2 ececec",
  "000000 2b2b2b 525252 767676 979797 b6b6b6 d2d2d2 ececec",
  "805800 96711a ab8732 be9c48 cfaf5c dfc06f eed180 fce090",
  "445c00 5e791a 769332 8cac48 a0c25c b3d76f c4ea80 d4fc90",
  "703400 89511a a06b32 b68448 c99a5c dcaf6f ecc280 fcd490",
  "006414 1a8035 329852 48b06e 5cc587 6fd99e 80ebb4 90fcc8",
  "700014 891a35 a03252 b6486e c95c87 dc6f9e ec80b4 fc90c8",
  "005c5c 1a7676 328e8e 48a4a4 5cb8b8 6fcbcb 80dcdc 90ecec",
  "70005c 841a74 963289 a8489e b75cb0 c66fc1 d380d1 e090e0",
  "003c70 195a89 2f75a0 448eb6 57a5c9 68badc 79ceec 88e0fc",
  "580070 6e1a89 8332a0 9648b6 a75cc9 b76fdc c680ec d490fc",
  "002070 193f89 2f5aa0 4474b6 578bc9 68a1dc 79b5ec 88c8fc",
  "340080 4a1a96 5f32ab 7248be 835ccf 936fdf a280ee b090fc",
  "000088 1a1a9d 3232b0 4848c2 5c5cd2 6f6fe1 8080ef 9090fc",
  "000000 2b2b2b 525252 767676 979797 b6b6b6 d2d2d2 ececec",
  "000000 2b2b2b 525252 767676 979797 b6b6b6 d2d2d2 ececec",
];

/** What the numbers in an emulator's screen stand for. */
export interface Palette {
  /** Red, green and blue of each of the 256 numbers, one after the other. */
  readonly rgb: Uint8Array;
  /** The gray of each of the 256 numbers. */
  readonly gray: Uint8Array;
}

/** The emulator's gray, which for some colours of PAL is not OpenCV's. */
function grayOf([red, green, blue]: Uint8Array): number {
  return Math.round(0.2989 * red + 0.587 * green + 0.114 * blue);
}

/**
 * Numbers are even. An odd one, which PAL shows after a frame with an odd count
 * of lines, stands for the gray form of the colour below it. As a gray, though,
 * the emulator takes it for the blue of the colour above, and so does this.
 */
function paletteOf(colors: Uint8Array): Palette {
  const rgb = new Uint8Array(768), gray = new Uint8Array(256);
  for (let i = 0; i < 256; i += 2) {
    const color = colors.subarray(3 * (i >> 1), 3 * (i >> 1) + 3);
    rgb.set(color, 3 * i);
    gray[i] = grayOf(color);
    rgb.fill(gray[i], 3 * i + 3, 3 * i + 6);
    gray[i + 1] = colors[3 * (i >> 1) + 5] ?? 0;
  }
  return { rgb, gray };
}

/** The colours of American television. */
export const NTSC: Palette = paletteOf(NTSC_PALETTE);

/** The colours of European television. */
export const PAL: Palette = paletteOf(
  Uint8Array.fromHex(PAL_HUES.join("").replaceAll(" ", "")),
);

/** Turns palette numbers into red, green and blue. */
export function paint(
  screen: Uint8Array,
  { rgb }: Palette,
  into: Uint8Array,
): void {
  for (let i = 0, at = 0; i < screen.length; i++) {
    const color = 3 * screen[i];
    into[at++] = rgb[color];
    into[at++] = rgb[color + 1];
    into[at++] = rgb[color + 2];
  }
}

/** Turns palette numbers into grays. */
export function paintGray(
  screen: Uint8Array,
  { gray }: Palette,
  into: Uint8Array,
): void {
  for (let i = 0; i < screen.length; i++) into[i] = gray[screen[i]];
}
