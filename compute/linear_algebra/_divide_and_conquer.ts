import { part, type Tools } from "./_blocks.ts";
import { deflate, type Deflated } from "./_deflation.ts";
import { implicitQl } from "./_implicit_ql.ts";
import { mergeSorted, sortRows } from "./_sort_rows.ts";
import type { TridiagonalProblem } from "./_tridiagonal_problem.ts";

/** Vectors of numbers that a merge needs. */
const VECTORS = 6;
/** Parts up to this size are quicker to solve than to divide. */
const LEAF = 16;

/** Numbers that `vectors` must have. */
export function vectorScratch(size: number): number {
  return VECTORS * size;
}

/**
 * Eigenvalues and eigenvectors of a symmetric tridiagonal matrix by divide and
 * conquer (J. Cuppen, Numerische Mathematik 36, 1981; LAPACK's dstedc): halves
 * are solved by themselves, and what joins them is a change of rank one.
 *
 * @returns The rows in ascending order of their eigenvalues.
 */
export function divideAndConquer(
  tools: Tools,
  problem: TridiagonalProblem,
): Int32Array {
  const { size, rows } = problem;
  const order = Int32Array.from({ length: size }, (_, i) => i);
  rows.numbers.fill(0);
  for (let i = 0; i < size; i++) rows.numbers[i * rows.stride + i] = 1;
  conquer(tools, { problem, order, from: 0, to: size });
  return order;
}

interface Range {
  problem: TridiagonalProblem;
  order: Int32Array;
  from: number;
  to: number;
}

function conquer(tools: Tools, range: Range): void {
  const { problem, order, from, to } = range;
  if (to - from <= LEAF) {
    implicitQl(problem, { from, to });
    sortRows(order.subarray(from, to), problem.values);
    return;
  }
  const middle = (from + to) >> 1;
  const join = problem.beside[middle - 1];
  problem.values[middle - 1] -= Math.abs(join);
  problem.values[middle] -= Math.abs(join);
  conquer(tools, { ...range, to: middle });
  conquer(tools, { ...range, from: middle });
  merge(tools, range, { middle, join });
}

/** Solves diag(values) + 2 |join| z z^T, which the two halves leave. */
function merge(
  tools: Tools,
  range: Range,
  { middle, join }: { middle: number; join: number },
): void {
  const { problem, order, from, to } = range;
  const sorted = mergeSorted(problem.values, {
    left: order.subarray(from, middle),
    right: order.subarray(middle, to),
  });
  const deflated = deflate(tools, {
    problem,
    sorted,
    from,
    middle,
    to,
    join,
  });
  if (deflated === null) {
    order.set(sorted, from);
    return;
  }
  const roots = solveSecular(tools, problem, deflated);
  multiplyRows(tools, { problem, deflated, from, middle, to });
  const count = roots.length;
  problem.values.set(roots, from);
  problem.values.set(deflated.droppedValues, from + count);
  const rows = new Int32Array(to - from);
  for (let i = 0; i < rows.length; i++) rows[i] = from + i;
  order.set(
    mergeSorted(problem.values, {
      left: rows.subarray(0, count),
      right: rows.subarray(count),
    }),
    from,
  );
}

/** The new eigenvalues; their eigenvectors become the rows of `secular`. */
function solveSecular(
  { kernels }: Tools,
  problem: TridiagonalProblem,
  { kept, place, z, values, rho }: Deflated,
): Float64Array {
  const { size, vectors, secular } = problem;
  const count = kept.length;
  const at = (vector: number) => vectors.at + vector * size * 8;
  const [d, weights, squares, refined, spare, places] = [0, 1, 2, 3, 4, 5]
    .map(at);
  let norm = 0;
  for (const weight of z) norm += weight * weight;
  const scale = 1 / Math.sqrt(norm);
  for (let i = 0; i < count; i++) {
    const weight = z[i] * scale;
    vectors.numbers[i] = values[i];
    vectors.numbers[size + i] = weight;
    vectors.numbers[2 * size + i] = weight * weight;
  }
  const { buffer } = vectors.numbers;
  new Int32Array(buffer, places, count).set(place);
  const roots = new Float64Array(count);
  if (count === 1) {
    roots[0] = values[0] + rho * norm;
    secular.numbers[0] = 1;
    return roots;
  }
  const rowBytes = count * 8;
  for (let j = 0; j < count; j++) {
    const gaps = secular.at + j * rowBytes;
    roots[j] = kernels.secularRoot(count, j, d, squares, rho * norm, gaps);
  }
  kernels.refineWeights(count, d, secular.at, count, weights, refined);
  for (let j = 0; j < count; j++) {
    const row = secular.at + j * rowBytes;
    kernels.secularVector(count, refined, places, row, spare);
  }
  return roots;
}

/**
 * The new eigenvectors in terms of the whole problem. A row that only one half
 * had a part in is 0 in the other's columns, which saves up to half the work.
 */
function multiplyRows(
  { kernels, work }: Tools,
  options: {
    problem: TridiagonalProblem;
    deflated: Deflated;
    from: number;
    middle: number;
    to: number;
  },
): void {
  const { problem, deflated, from, middle, to } = options;
  const { rows, packed, secular } = problem;
  const { byPlace, dropped, topCount, bottomFrom } = deflated;
  const count = byPlace.length, width = to - from;
  let end = 0;
  const pack = (
    list: ArrayLike<number>,
    first: number,
    last: number,
  ): number => {
    const start = end;
    for (let i = 0; i < list.length; i++) {
      const at = list[i] * rows.stride;
      packed.numbers.set(rows.numbers.subarray(at + first, at + last), end);
      end += last - first;
    }
    return start;
  };
  const top = pack(byPlace.subarray(0, topCount), from, middle);
  const bottom = pack(byPlace.subarray(bottomFrom), middle, to);
  const others = pack(dropped, from, to);
  dropped.forEach((_, i) => {
    const start = others + i * width;
    rows.numbers.set(
      packed.numbers.subarray(start, start + width),
      (from + count + i) * rows.stride + from,
    );
  });
  const product = (column: number, columns: number, half: {
    start: number;
    first: number;
    width: number;
  }): void =>
    // deno-fmt-ignore -- an operand a line
    kernels.multiply(
      count, half.width, columns,
      secular.at + column * 8, count, 1,
      packed.at + half.start * 8, half.width, 1,
      part(rows, from, half.first).at, rows.stride,
      1, 0, 0, work,
    );
  product(0, topCount, { start: top, first: from, width: middle - from });
  product(bottomFrom, count - bottomFrom, {
    start: bottom,
    first: middle,
    width: to - middle,
  });
}
