// deno-lint-ignore-file
// @ts-nocheck AssemblyScript, compiled to WebAssembly by build.ts.
/**
 * Blocked matrix multiplication in the manner of BLIS: both factors are copied
 * into panels, which a micro-kernel in registers walks through.
 */
import { bytes, fma } from "./lanes.ts";

/** Rows of the micro-kernel's tile. */
const HIGH: i32 = 6;
/** Columns of the micro-kernel's tile, in bytes: two vectors. */
const WIDE: i32 = 32;
/** Depth of a block: a panel of 256 by 32 bytes fits the first-level cache. */
const DEPTH: i32 = 256;
/** Rows of a packed left block, which fits the second-level cache. */
const ROWS: i32 = 96;
/** Columns of a packed right block. */
const COLUMNS: i32 = 512;

/** Bytes that `multiply` needs at `work`, in either precision. */
export function multiplyWorkBytes(): i32 {
  return HIGH * WIDE + ((DEPTH * (ROWS + COLUMNS)) << 3);
}

/** Two rows of a panel from two sources with contiguous numbers. */
function packPair<T>(
  from0: usize,
  from1: usize,
  depth: i32,
  scale: T,
  to: usize,
  step: usize,
): void {
  const scales = v128.splat<T>(scale);
  const end = from0 + bytes<T>(depth);
  for (; from0 + 16 <= end; from0 += 16, from1 += 16) {
    const a = v128.mul<T>(v128.load(from0), scales);
    const b = v128.mul<T>(v128.load(from1), scales);
    if (sizeof<T>() == 8) {
      v128.store(to, v128.shuffle<f64>(a, b, 0, 2));
      to += step;
      v128.store(to, v128.shuffle<f64>(a, b, 1, 3));
    } else {
      const left = v128.shuffle<f32>(a, b, 0, 4, 1, 5);
      const right = v128.shuffle<f32>(a, b, 2, 6, 3, 7);
      v128.store64_lane(to, left, 0);
      v128.store64_lane(to + step, left, 1);
      to += 2 * step;
      v128.store64_lane(to, right, 0);
      to += step;
      v128.store64_lane(to, right, 1);
    }
    to += step;
  }
  for (; from0 < end; from0 += sizeof<T>(), from1 += sizeof<T>(), to += step) {
    store<T>(to, load<T>(from0) * scale);
    store<T>(to + sizeof<T>(), load<T>(from1) * scale);
  }
}

/** A whole panel from sources whose numbers of one column are contiguous. */
function packColumns<T>(
  from: usize,
  stride: usize,
  depth: i32,
  scale: T,
  to: usize,
  step: usize,
): void {
  const scales = v128.splat<T>(scale);
  for (let k = 0; k < depth; k++, from += stride, to += step) {
    let i: usize = 0;
    for (; i + 16 <= step; i += 16) {
      v128.store(to + i, v128.mul<T>(v128.load(from + i), scales));
    }
    if (i < step) {
      const pair = v128.mul<T>(v128.load64_zero(from + i), scales);
      v128.store64_lane(to + i, pair, 0);
    }
  }
}

/** One row of a panel. */
function packRow<T>(
  from: usize,
  along: usize,
  depth: i32,
  scale: T,
  to: usize,
  step: usize,
): void {
  for (let k = 0; k < depth; k++, from += along, to += step) {
    store<T>(to, load<T>(from) * scale);
  }
}

/**
 * Copies `width` by `depth` numbers into panels of `tile`, the last filled up
 * with zeros: panel[p][k][0...] = scale * source[tile p...][k].
 */
function pack<T>(
  source: usize,
  across: i32,
  along: i32,
  width: i32,
  depth: i32,
  scale: T,
  panel: usize,
  tile: i32,
): void {
  const acrossBytes = bytes<T>(across), alongBytes = bytes<T>(along);
  const step = bytes<T>(tile), panelBytes = (<usize> depth) * step;
  let p = 0;
  for (; p + tile <= width; p += tile, panel += panelBytes) {
    const from = source + (<usize> p) * acrossBytes;
    if (across == 1) {
      packColumns<T>(from, alongBytes, depth, scale, panel, step);
      continue;
    }
    for (let r: usize = 0; r < <usize> tile; r += 2) {
      const first = from + r * acrossBytes, second = first + acrossBytes;
      const to = panel + r * sizeof<T>();
      if (along == 1) {
        packPair<T>(first, second, depth, scale, to, step);
      } else {
        packRow<T>(first, alongBytes, depth, scale, to, step);
        packRow<T>(second, alongBytes, depth, scale, to + sizeof<T>(), step);
      }
    }
  }
  if (p == width) return;
  memory.fill(panel, 0, panelBytes);
  for (; p < width; p++, panel += sizeof<T>()) {
    const from = source + (<usize> p) * acrossBytes;
    packRow<T>(from, alongBytes, depth, scale, panel, step);
  }
}

/** Adds (or writes, when `add` is 0) two vectors to a row of a tile. */
function put<T>(c: usize, left: v128, right: v128, add: i32): void {
  if (add) {
    v128.store(c, v128.add<T>(v128.load(c), left));
    v128.store(c, v128.add<T>(v128.load(c, 16), right), 16);
  } else {
    v128.store(c, left);
    v128.store(c, right, 16);
  }
}

/** A tile of the product of a left and a right panel. */
function tile<T>(
  depth: i32,
  a: usize,
  b: usize,
  c: usize,
  rowBytes: usize,
  add: i32,
): void {
  let c00 = v128.splat<T>(0), c01 = c00;
  let c10 = c00, c11 = c00;
  let c20 = c00, c21 = c00;
  let c30 = c00, c31 = c00;
  let c40 = c00, c41 = c00;
  let c50 = c00, c51 = c00;
  for (const end = b + ((<usize> depth) << 5); b < end; b += WIDE) {
    const b0 = v128.load(b), b1 = v128.load(b, 16);
    let row = v128.load_splat<T>(a);
    c00 = fma<T>(row, b0, c00);
    c01 = fma<T>(row, b1, c01);
    row = v128.load_splat<T>(a, sizeof<T>());
    c10 = fma<T>(row, b0, c10);
    c11 = fma<T>(row, b1, c11);
    row = v128.load_splat<T>(a, 2 * sizeof<T>());
    c20 = fma<T>(row, b0, c20);
    c21 = fma<T>(row, b1, c21);
    row = v128.load_splat<T>(a, 3 * sizeof<T>());
    c30 = fma<T>(row, b0, c30);
    c31 = fma<T>(row, b1, c31);
    row = v128.load_splat<T>(a, 4 * sizeof<T>());
    c40 = fma<T>(row, b0, c40);
    c41 = fma<T>(row, b1, c41);
    row = v128.load_splat<T>(a, 5 * sizeof<T>());
    c50 = fma<T>(row, b0, c50);
    c51 = fma<T>(row, b1, c51);
    a += HIGH * sizeof<T>();
  }
  put<T>(c, c00, c01, add);
  put<T>(c + rowBytes, c10, c11, add);
  put<T>(c + 2 * rowBytes, c20, c21, add);
  put<T>(c + 3 * rowBytes, c30, c31, add);
  put<T>(c + 4 * rowBytes, c40, c41, add);
  put<T>(c + 5 * rowBytes, c50, c51, add);
}

/** A tile at the right or lower edge, by way of a whole tile at `spare`. */
function edgeTile<T>(
  depth: i32,
  a: usize,
  b: usize,
  c: usize,
  rowBytes: usize,
  add: i32,
  rows: i32,
  columns: i32,
  spare: usize,
): void {
  tile<T>(depth, a, b, spare, WIDE, 0);
  for (let i = 0; i < rows; i++, c += rowBytes, spare += WIDE) {
    for (let j: usize = 0; j < bytes<T>(columns); j += sizeof<T>()) {
      const value = load<T>(spare + j);
      store<T>(c + j, add ? load<T>(c + j) + value : value);
    }
  }
}

/**
 * The product of a packed left and a packed right block. Tiles wholly below the
 * line from row 0 and column -`offset` on are left out.
 */
function multiplyBlocks<T>(
  rows: i32,
  columns: i32,
  depth: i32,
  left: usize,
  right: usize,
  c: usize,
  rowBytes: usize,
  add: i32,
  offset: i32,
  spare: usize,
): void {
  const wide = WIDE / sizeof<T>();
  const rightBytes = (<usize> depth) * WIDE;
  const leftBytes = (<usize> depth) * bytes<T>(HIGH);
  for (let j = 0; j < columns; j += wide, right += rightBytes) {
    const width = min(wide, columns - j);
    const end = min(rows, j + offset + wide);
    let a = left, to = c + bytes<T>(j);
    for (let i = 0; i < end; i += HIGH) {
      const height = min(HIGH, rows - i);
      if (height == HIGH && width == wide) {
        tile<T>(depth, a, right, to, rowBytes, add);
      } else {
        // deno-fmt-ignore
        edgeTile<T>(depth, a, right, to, rowBytes, add, height, width, spare);
      }
      a += leftBytes;
      to += HIGH * rowBytes;
    }
  }
}

function multiplyOf<T>(
  m: i32,
  n: i32,
  k: i32,
  a: usize,
  aRow: i32,
  aColumn: i32,
  b: usize,
  bRow: i32,
  bColumn: i32,
  c: usize,
  cRow: i32,
  scale: T,
  add: i32,
  upper: i32,
  work: usize,
): void {
  const left = work + HIGH * WIDE;
  const right = left + bytes<T>(ROWS * DEPTH);
  const rowBytes = bytes<T>(cRow);
  if (k == 0 && !add) {
    for (let i = 0; i < m; i++) memory.fill(c + i * rowBytes, 0, bytes<T>(n));
    return;
  }
  for (let j0 = 0; j0 < n; j0 += COLUMNS) {
    const columns = min(COLUMNS, n - j0);
    for (let k0 = 0; k0 < k; k0 += DEPTH) {
      const depth = min(DEPTH, k - k0);
      const keep = add | i32(k0 > 0);
      pack<T>(
        b + bytes<T>(k0 * bRow + j0 * bColumn),
        bColumn,
        bRow,
        columns,
        depth,
        1,
        right,
        WIDE / sizeof<T>(),
      );
      for (let i0 = 0; i0 < m; i0 += ROWS) {
        const rows = min(ROWS, m - i0);
        if (upper && i0 >= j0 + columns) break;
        pack<T>(
          a + bytes<T>(i0 * aRow + k0 * aColumn),
          aRow,
          aColumn,
          rows,
          depth,
          scale,
          left,
          HIGH,
        );
        const to = c + (<usize> i0) * rowBytes + bytes<T>(j0);
        const offset = upper ? j0 - i0 : m;
        // deno-fmt-ignore
        multiplyBlocks<T>(
          rows, columns, depth, left, right, to, rowBytes, keep, offset, work,
        );
      }
    }
  }
}

/**
 * C = scale A B, or C += scale A B when `add` is not 0.
 *
 * A is m x k and B is k x n, each with the distance (in numbers) between rows
 * and between columns, so that a transpose needs no copy; C is m x n with
 * contiguous rows. With `upper`, tiles wholly below the diagonal of C are
 * left out.
 */
export function multiply(
  m: i32,
  n: i32,
  k: i32,
  a: usize,
  aRow: i32,
  aColumn: i32,
  b: usize,
  bRow: i32,
  bColumn: i32,
  c: usize,
  cRow: i32,
  scale: f64,
  add: i32,
  upper: i32,
  work: usize,
): void {
  // deno-fmt-ignore
  multiplyOf<f64>(
    m, n, k, a, aRow, aColumn, b, bRow, bColumn, c, cRow, scale, add, upper, work,
  );
}

/** `multiply` in single precision. */
export function multiplySingle(
  m: i32,
  n: i32,
  k: i32,
  a: usize,
  aRow: i32,
  aColumn: i32,
  b: usize,
  bRow: i32,
  bColumn: i32,
  c: usize,
  cRow: i32,
  scale: f32,
  add: i32,
  upper: i32,
  work: usize,
): void {
  // deno-fmt-ignore
  multiplyOf<f32>(
    m, n, k, a, aRow, aColumn, b, bRow, bColumn, c, cRow, scale, add, upper, work,
  );
}
