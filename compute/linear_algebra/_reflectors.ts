import { part, type Place, type Tools } from "./_blocks.ts";
import type { Block, MatrixBlock } from "./_workspace.ts";

/** Reflectors that are applied together. */
const PANEL = 32;

/** Numbers that `applyReflectors` needs as scratch for a matrix. */
export function reflectorScratch(size: number, stride: number): number {
  return PANEL * (2 * stride + size + 2 * PANEL);
}

interface Scratch {
  /** V: a reflector a row, with zeros before it. */
  v: Float64Array;
  vAt: Place;
  /** T^T V. */
  tv: Place;
  /** Rows times V^T. */
  product: Place;
  /** Dot products of reflectors. */
  gram: Float64Array;
  gramAt: Place;
  /** T. */
  t: Float64Array;
  tAt: Place;
}

/**
 * Multiplies each row of a matrix by H(0) H(1) ... as a column vector, for the
 * reflectors that `tridiagonalize` left in `a`. Blocks of them are applied as
 * H(i) H(i+1) ... = I - V^T T V (LAPACK's dlarft and dlarfb).
 */
export function applyReflectors(
  tools: Tools,
  options: {
    size: number;
    a: MatrixBlock;
    factors: Float64Array;
    rows: Place;
    scratch: Block;
  },
): void {
  const { size, a, factors, rows, scratch } = options;
  const spaces = layOut(size, a.stride, scratch);
  const count = size - 1;
  const last = Math.floor((count - 1) / PANEL) * PANEL;
  for (let start = last; start >= 0; start -= PANEL) {
    const width = Math.min(PANEL, count - start);
    const length = size - 1 - start;
    copyReflectors(spaces.v, { size, a, start, width });
    triangle(tools, { spaces, width, length, factors, start });
    const columns = part(rows, 0, start + 1);
    applyBlock(tools, { spaces, size, width, length, columns });
  }
}

function layOut(size: number, stride: number, scratch: Block): Scratch {
  const counts = [PANEL * stride, PANEL * stride, PANEL * size, PANEL * PANEL];
  const starts = [0];
  for (const count of counts) starts.push(starts[starts.length - 1] + count);
  const place = (index: number, rowStride: number): Place => ({
    at: scratch.at + starts[index] * 8,
    stride: rowStride,
  });
  return {
    v: scratch.numbers.subarray(0, counts[0]),
    vAt: place(0, stride),
    tv: place(1, stride),
    product: place(2, PANEL),
    gram: scratch.numbers.subarray(starts[3], starts[4]),
    gramAt: place(3, PANEL),
    t: scratch.numbers.subarray(starts[4], starts[4] + PANEL * PANEL),
    tAt: place(4, PANEL),
  };
}

function copyReflectors(
  v: Float64Array,
  { size, a, start, width }: {
    size: number;
    a: MatrixBlock;
    start: number;
    width: number;
  },
): void {
  const { numbers, stride } = a;
  for (let r = 0; r < width; r++) {
    const from = (start + r) * stride;
    v.fill(0, r * stride, r * stride + r);
    v.set(numbers.subarray(from + start + 1 + r, from + size), r * stride + r);
  }
}

/** T^T V, by way of T's columns from the first to the last. */
function triangle(
  { kernels, work }: Tools,
  options: {
    spaces: Scratch;
    width: number;
    length: number;
    factors: Float64Array;
    start: number;
  },
): void {
  const { spaces, width, length, factors, start } = options;
  const { vAt, gram, gramAt, t, tAt, tv } = spaces;
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    width, width, length,
    vAt.at, vAt.stride, 1,
    vAt.at, 1, vAt.stride,
    gramAt.at, PANEL,
    1, 0, 0, work,
  );
  t.fill(0);
  for (let j = 0; j < width; j++) {
    const tau = factors[start + j];
    t[j * PANEL + j] = tau;
    for (let i = 0; i < j; i++) {
      let sum = 0;
      for (let k = i; k < j; k++) sum += t[i * PANEL + k] * gram[k * PANEL + j];
      t[i * PANEL + j] = -tau * sum;
    }
  }
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    width, length, width,
    tAt.at, 1, PANEL,
    vAt.at, vAt.stride, 1,
    tv.at, tv.stride,
    1, 0, 0, work,
  );
}

/** rows -= (rows V^T) (T^T V). */
function applyBlock(
  { kernels, work }: Tools,
  options: {
    spaces: Scratch;
    size: number;
    width: number;
    length: number;
    columns: Place;
  },
): void {
  const { spaces, size, width, length, columns } = options;
  const { vAt, tv, product } = spaces;
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    size, width, length,
    columns.at, columns.stride, 1,
    vAt.at, 1, vAt.stride,
    product.at, PANEL,
    1, 0, 0, work,
  );
  // deno-fmt-ignore -- an operand a line
  kernels.multiply(
    size, length, width,
    product.at, PANEL, 1,
    tv.at, tv.stride, 1,
    columns.at, columns.stride,
    -1, 1, 0, work,
  );
}
