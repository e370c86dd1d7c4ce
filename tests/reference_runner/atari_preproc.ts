import { AreaResizer, toGray } from "@bellman/envs/atari";
import type { Comparison, FixtureRunner } from "./comparison.ts";

const SCREEN = { width: 160, height: 210 };
const FRAME = { width: 84, height: 84 };

/** Pixels that may be off by one: OpenCV rounds some of the ties otherwise. */
const TIES = 0.002;

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

function compareFrames(
  name: string,
  frame: Uint8Array,
  { expected, comparison }: { expected: number[][]; comparison: Comparison },
): void {
  const offs = expected.flat().map((it, i) => Math.abs(it - frame[i]));
  const different = offs.filter((it) => it > 0).length;
  comparison.that(`${name}: 84 by 84`, offs.length === frame.length);
  comparison.that(`${name}: off by at most 1`, offs.every((it) => it <= 1));
  comparison.that(
    `${name}: ${different} pixels are off by 1, at most a 500th`,
    different <= TIES * offs.length,
  );
}

function runCase({ inputs, expected }: Case, comparison: Comparison): void {
  const exactly = (wanted: number | number[]) => ({
    expected: wanted,
    tolerance: 0,
  });
  const screen = screenOf(inputs), gray = toGray(screen);
  comparison.numbers(
    "first pixels",
    screen.subarray(0, 12),
    exactly(expected.first_pixels_rgb),
  );
  comparison.numbers("sum of screen", sum(screen), exactly(expected.rgb_sum));
  comparison.numbers(
    "first grays",
    gray.subarray(0, 16),
    exactly(expected.gray_first_row),
  );
  comparison.numbers("sum of grays", sum(gray), exactly(expected.gray_sum));
  const resizer = new AreaResizer(SCREEN, FRAME);
  compareFrames("frame", resizer.resize(gray), {
    expected: expected.warp84,
    comparison,
  });
  if (expected.warp84_gymnasium_order !== undefined) {
    compareFrames(
      "frame in Gymnasium's order",
      resizer.resize(gymnasiumGray(inputs)),
      { expected: expected.warp84_gymnasium_order, comparison },
    );
  }
  const colors = new AreaResizer(SCREEN, FRAME, { channels: 3 }).resize(screen);
  const off = Math.abs(sum(colors) - expected.warp84_rgb_sum);
  comparison.that("sum of colours", off <= TIES * colors.length);
  comparison.that(
    "first colours",
    expected.warp84_rgb_row0.flat().every((it, i) =>
      Math.abs(it - colors[i]) <= 1
    ),
  );
}

/** Gray and area averages of Atari screens against OpenCV's. */
export const atariPreprocRunner: FixtureRunner = async (
  fixture,
  comparison,
) => {
  for (const [i, it] of (fixture.cases as Case[]).entries()) {
    await comparison.check(
      `${it.name} ${i}`,
      () => runCase(it, comparison),
    );
  }
};
