import type { Tools } from "./_blocks.ts";
import { sortRows } from "./_sort_rows.ts";
import type { TridiagonalProblem } from "./_tridiagonal_problem.ts";

/** Half the distance between 1 and the next number. */
const ROUNDING = 2 ** -53;

/** Which halves of the columns a row may have numbers in. */
const TOP = 1, BOTH = 2, BOTTOM = 3;

/** What is left of a merge once the eigenpairs that do not change are out. */
export interface Deflated {
  /** Rows that take part, ascending by value. */
  kept: number[];
  /** Their values and weights. */
  values: number[];
  z: number[];
  /** Where each of them stands in `byPlace`. */
  place: Int32Array;
  /** The same rows: those of the top half, of both, of the bottom half. */
  byPlace: Int32Array;
  /** Rows of the top half or of both. */
  topCount: number;
  /** The first row of both or of the bottom half. */
  bottomFrom: number;
  /** Rows that stay eigenvectors, ascending by value. */
  dropped: number[];
  droppedValues: number[];
  rho: number;
}

interface MergeTask {
  problem: TridiagonalProblem;
  sorted: Int32Array;
  from: number;
  middle: number;
  to: number;
  join: number;
}

/**
 * Takes out of diag(values) + rho z z^T what is decided already: numbers of z
 * that vanish, and equal values, of whose rows a rotation takes one out of z
 * (LAPACK's dlaed2).
 *
 * @returns null when nothing changes.
 */
export function deflate(tools: Tools, task: MergeTask): Deflated | null {
  const { problem, sorted, from } = task;
  const { values } = problem;
  const z = weights(task);
  const rho = 2 * Math.abs(task.join);
  let largestZ = 0, largestValue = 0;
  for (const row of sorted) {
    largestZ = Math.max(largestZ, Math.abs(z[row - from]));
    largestValue = Math.max(largestValue, Math.abs(values[row]));
  }
  const tolerance = 8 * ROUNDING * Math.max(largestZ, largestValue);
  if (rho * largestZ <= tolerance) return null;
  return arrange(values, {
    from,
    rho,
    z,
    ...split(tools, { ...task, z, rho, tolerance }),
  });
}

/** The joined rows of the halves' eigenvectors, as one vector of norm 1. */
function weights(task: MergeTask): Float64Array {
  const { from, middle, to, join } = task;
  const { numbers, stride } = task.problem.rows;
  const z = new Float64Array(to - from);
  const sign = join < 0 ? -Math.SQRT1_2 : Math.SQRT1_2;
  for (let row = from; row < middle; row++) {
    z[row - from] = numbers[row * stride + middle - 1] * Math.SQRT1_2;
  }
  for (let row = middle; row < to; row++) {
    z[row - from] = numbers[row * stride + middle] * sign;
  }
  return z;
}

interface Split {
  kept: number[];
  dropped: number[];
  /** TOP, BOTH or BOTTOM by row. */
  types: Uint8Array;
}

/** Sorts the rows into those that take part and those that do not. */
function split(
  tools: Tools,
  task: MergeTask & { z: Float64Array; rho: number; tolerance: number },
): Split {
  const { problem, sorted, from, middle, z, rho, tolerance } = task;
  const types = new Uint8Array(z.length).fill(BOTTOM);
  types.fill(TOP, 0, middle - from);
  const kept: number[] = [], dropped: number[] = [];
  let before = -1;
  for (const row of sorted) {
    if (rho * Math.abs(z[row - from]) <= tolerance) {
      dropped.push(row);
      continue;
    }
    if (before >= 0) {
      const turned = rotateAway(tools, { ...task, before, row });
      (turned ? dropped : kept).push(before);
      if (turned && types[row - from] !== types[before - from]) {
        types[row - from] = BOTH;
      }
    }
    before = row;
  }
  if (before >= 0) kept.push(before);
  sortRows(dropped, problem.values);
  return { kept, dropped, types };
}

/** Rotates two rows so that the first has no weight, where that is exact. */
function rotateAway(
  { kernels }: Tools,
  task: MergeTask & {
    z: Float64Array;
    tolerance: number;
    before: number;
    row: number;
  },
): boolean {
  const { problem, from, to, z, tolerance, before, row } = task;
  const { values, rows } = problem;
  const zRow = z[row - from], zBefore = z[before - from];
  const norm = Math.sqrt(zRow * zRow + zBefore * zBefore);
  const c = zRow / norm, s = -zBefore / norm;
  const upper = values[row], lower = values[before];
  if (Math.abs((upper - lower) * c * s) > tolerance) return false;
  z[row - from] = norm;
  z[before - from] = 0;
  const at = (r: number) => rows.at + (r * rows.stride + from) * 8;
  kernels.rotateRows(to - from, at(before), at(row), c, s);
  values[before] = lower * c * c + upper * s * s;
  values[row] = lower * s * s + upper * c * c;
  return true;
}

/** Puts the rows that take part next to others of their type. */
function arrange(
  values: Float64Array,
  parts: Split & { from: number; rho: number; z: Float64Array },
): Deflated {
  const { kept, dropped, types, from, rho, z } = parts;
  const starts = [0, 0, 0, 0, 0];
  for (const row of kept) starts[types[row - from] + 1]++;
  for (let type = 1; type < 5; type++) starts[type] += starts[type - 1];
  const topCount = starts[BOTTOM], bottomFrom = starts[BOTH];
  const byPlace = new Int32Array(kept.length);
  const place = new Int32Array(kept.length);
  for (let i = 0; i < kept.length; i++) {
    place[i] = starts[types[kept[i] - from]]++;
    byPlace[place[i]] = kept[i];
  }
  return {
    kept,
    values: kept.map((row) => values[row]),
    z: kept.map((row) => z[row - from]),
    place,
    byPlace,
    topCount,
    bottomFrom,
    dropped,
    droppedValues: dropped.map((row) => values[row]),
    rho,
  };
}
