import { AreaResizer, toGray } from "@bellman/envs/atari";
import { checkEach, type Comparison } from "./comparison.ts";
import { OpencvResizer } from "./opencv_resizer.ts";

const SCREEN = { width: 160, height: 210 };
const FRAME = { width: 84, height: 84 };

type Inputs =
  | { kind: "lcg"; seed: number }
  | { kind: "struct"; p: number; q: number }
  | { kind: "max"; a: Inputs; b: Inputs };

interface Case {
  name: string;
  inputs: Inputs;
  expected: {
    first_pixels_rgb: number[];
    rgb_sum: number;
    gray_first_row: number[];
    gray_sum: number;
    warp84: number[][];
    warp84_rgb_sum: number;
    warp84_rgb_row0: number[][];
    warp84_gymnasium_order?: number[][];
  };
}

const maximum = (a: Uint8Array, b: Uint8Array): Uint8Array =>
  a.map((it, i) => Math.max(it, b[i]));

/** A screen of red, green and blue, made as the fixture says. */
function screenOf(inputs: Inputs): Uint8Array {
  const pixels = new Uint8Array(3 * SCREEN.width * SCREEN.height);
  if (inputs.kind === "max") {
    return maximum(screenOf(inputs.a), screenOf(inputs.b));
  }
  if (inputs.kind === "lcg") {
    let state = inputs.seed;
    return pixels.map(() => {
      state = (Math.imul(1664525, state) + 1013904223) >>> 0;
      return state >>> 24;
    });
  }
  const { p, q } = inputs;
  return pixels.map((_, i) => {
    const pixel = Math.floor(i / 3);
    const y = Math.floor(pixel / SCREEN.width), x = pixel % SCREEN.width;
    const block = 7 * Math.floor(y / 13) * Math.floor(x / 17);
    return p * y + q * x + 85 * (i % 3) + block;
  });
}

/** Maximum of the grays, in place of the gray of the maximum. */
function gymnasiumGray(inputs: Inputs): Uint8Array {
  if (inputs.kind !== "max") return toGray(screenOf(inputs));
  return maximum(gymnasiumGray(inputs.a), gymnasiumGray(inputs.b));
}

const sum = (numbers: ArrayLike<number>): number =>
  Array.from(numbers).reduce((total, it) => total + it, 0);

/** Resizes as OpenCV does, and compares the library's exact averages with that. */
function resized(
  name: string,
  pixels: Uint8Array,
  { channels, comparison }: { channels: number; comparison: Comparison },
): Uint8Array {
  const frame = new OpencvResizer(SCREEN, FRAME, channels).resize(pixels);
  const exact = new AreaResizer(SCREEN, FRAME, { channels }).resize(pixels);
  comparison.that(
    `${name}: exact averages are off by at most 1`,
    frame.every((it, i) => Math.abs(it - exact[i]) <= 1),
  );
  return frame;
}

function runCase({ inputs, expected }: Case, comparison: Comparison): void {
  const screen = screenOf(inputs), gray = toGray(screen);
  comparison.numbers(
    "first pixels",
    screen.subarray(0, 12),
    expected.first_pixels_rgb,
  );
  comparison.numbers("sum of screen", sum(screen), expected.rgb_sum);
  comparison.numbers(
    "first grays",
    gray.subarray(0, 16),
    expected.gray_first_row,
  );
  comparison.numbers("sum of grays", sum(gray), expected.gray_sum);
  const one = { channels: 1, comparison };
  comparison.numbers(
    "frame",
    resized("frame", gray, one),
    expected.warp84.flat(),
  );
  if (expected.warp84_gymnasium_order !== undefined) {
    const name = "frame in Gymnasium's order";
    comparison.numbers(
      name,
      resized(name, gymnasiumGray(inputs), one),
      expected.warp84_gymnasium_order.flat(),
    );
  }
  const colors = resized("colours", screen, { channels: 3, comparison });
  const firsts = expected.warp84_rgb_row0.flat();
  comparison.numbers("sum of colours", sum(colors), expected.warp84_rgb_sum);
  comparison.numbers(
    "first colours",
    colors.subarray(0, firsts.length),
    firsts,
  );
}

/** Gray and area averages of Atari screens against OpenCV's. */
export const runner = checkEach({ cases: runCase }, 0);
