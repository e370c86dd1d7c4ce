// deno-lint-ignore-file
// @ts-nocheck AssemblyScript, compiled to WebAssembly by build.ts.
/**
 * Blocked matrix multiplication in the manner of BLIS: both factors are copied
 * into panels four wide, which a 4 x 4 micro-kernel in registers walks through.
 */
import { bytes, fma } from "./lanes.ts";

/** Rows and columns of the micro-kernel's tile. */
const TILE: i32 = 4;
/** Depth of a block: a panel of 4 x 256 numbers fits the first-level cache. */
const DEPTH: i32 = 256;
/** Rows of a packed left block, which fits the second-level cache. */
const ROWS: i32 = 64;
/** Columns of a packed right block. */
const COLUMNS: i32 = 512;

/** Bytes that `multiply` needs at `work`. */
export function multiplyWorkBytes(): i32 {
  return (TILE * TILE + DEPTH * (ROWS + COLUMNS)) << 3;
}

/**
 * Copies `width` by `depth` numbers into panels of four, the last filled up
 * with zeros: panel[p][k][0..3] = scale * source[4p..4p+3][k].
 */
function pack(
  source: usize,
  across: i32,
  along: i32,
  width: i32,
  depth: i32,
  scale: f64,
  panel: usize,
): void {
  const scales = f64x2.splat(scale);
  const alongBytes = (<usize> along) << 3;
  const acrossBytes = (<usize> across) << 3;
  let p = 0;
  for (; p + TILE <= width; p += TILE) {
    let from = source + (<usize> p) * acrossBytes;
    if (across == 1) {
      for (let k = 0; k < depth; k++) {
        v128.store(panel, f64x2.mul(v128.load(from), scales));
        v128.store(panel, f64x2.mul(v128.load(from, 16), scales), 16);
        panel += 32;
        from += alongBytes;
      }
    } else {
      let from1 = from + acrossBytes;
      let from2 = from1 + acrossBytes;
      let from3 = from2 + acrossBytes;
      for (let k = 0; k < depth; k++) {
        f64.store(panel, f64.load(from) * scale);
        f64.store(panel, f64.load(from1) * scale, 8);
        f64.store(panel, f64.load(from2) * scale, 16);
        f64.store(panel, f64.load(from3) * scale, 24);
        panel += 32;
        from += alongBytes;
        from1 += alongBytes;
        from2 += alongBytes;
        from3 += alongBytes;
      }
    }
  }
  if (p == width) return;
  memory.fill(panel, 0, (<usize> depth) << 5);
  for (let lane: usize = 0; p < width; p++, lane += 8) {
    let from = source + (<usize> p) * acrossBytes;
    for (let k: usize = 0; k < <usize> depth; k++) {
      f64.store(panel + (k << 5) + lane, f64.load(from) * scale);
      from += alongBytes;
    }
  }
}

/** Adds (or writes, when `add` is 0) two times two lanes to a row of a tile. */
function put(c: usize, left: v128, right: v128, add: i32): void {
  if (add) {
    v128.store(c, f64x2.add(v128.load(c), left));
    v128.store(c, f64x2.add(v128.load(c, 16), right), 16);
  } else {
    v128.store(c, left);
    v128.store(c, right, 16);
  }
}

/** A 4 x 4 tile of the product of a left and a right panel. */
function tile(
  depth: i32,
  a: usize,
  b: usize,
  c: usize,
  rowBytes: usize,
  add: i32,
): void {
  let c00 = f64x2.splat(0), c01 = c00, c10 = c00, c11 = c00;
  let c20 = c00, c21 = c00, c30 = c00, c31 = c00;
  for (const end = a + ((<usize> depth) << 5); a < end; a += 32) {
    const b0 = v128.load(b), b1 = v128.load(b, 16);
    let row = v128.load64_splat(a);
    c00 = fma(row, b0, c00);
    c01 = fma(row, b1, c01);
    row = v128.load64_splat(a, 8);
    c10 = fma(row, b0, c10);
    c11 = fma(row, b1, c11);
    row = v128.load64_splat(a, 16);
    c20 = fma(row, b0, c20);
    c21 = fma(row, b1, c21);
    row = v128.load64_splat(a, 24);
    c30 = fma(row, b0, c30);
    c31 = fma(row, b1, c31);
    b += 32;
  }
  put(c, c00, c01, add);
  put(c + rowBytes, c10, c11, add);
  put(c + 2 * rowBytes, c20, c21, add);
  put(c + 3 * rowBytes, c30, c31, add);
}

/** A tile at the right or lower edge, by way of a whole tile at `spare`. */
function edgeTile(
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
  tile(depth, a, b, spare, TILE << 3, 0);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const to = c + (<usize> i) * rowBytes + ((<usize> j) << 3);
      const value = f64.load(spare + ((<usize> (i * TILE + j)) << 3));
      f64.store(to, add ? f64.load(to) + value : value);
    }
  }
}

/**
 * The product of a packed left and a packed right block. Tiles whose first row
 * is TILE or more below their first column plus `offset` are left out.
 */
function multiplyBlocks(
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
  const panelBytes = (<usize> depth) << 5;
  for (let j = 0; j < columns; j += TILE, right += panelBytes) {
    const width = min(TILE, columns - j);
    const end = min(rows, j + offset + TILE);
    let a = left, to = c + bytes(j);
    for (let i = 0; i < end; i += TILE) {
      const height = min(TILE, rows - i);
      if (height == TILE && width == TILE) {
        tile(depth, a, right, to, rowBytes, add);
      } else {
        // deno-fmt-ignore
        edgeTile(depth, a, right, to, rowBytes, add, height, width, spare);
      }
      a += panelBytes;
      to += rowBytes << 2;
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
  const left = work + ((TILE * TILE) << 3);
  const right = left + ((ROWS * DEPTH) << 3);
  const rowBytes = (<usize> cRow) << 3;
  if (k == 0 && !add) {
    for (let i = 0; i < m; i++) memory.fill(c + i * rowBytes, 0, bytes(n));
    return;
  }
  for (let j0 = 0; j0 < n; j0 += COLUMNS) {
    const columns = min(COLUMNS, n - j0);
    for (let k0 = 0; k0 < k; k0 += DEPTH) {
      const depth = min(DEPTH, k - k0);
      const keep = add | i32(k0 > 0);
      pack(
        b + ((<usize> (k0 * bRow + j0 * bColumn)) << 3),
        bColumn,
        bRow,
        columns,
        depth,
        1,
        right,
      );
      for (let i0 = 0; i0 < m; i0 += ROWS) {
        const rows = min(ROWS, m - i0);
        if (upper && i0 >= j0 + columns) break;
        pack(
          a + ((<usize> (i0 * aRow + k0 * aColumn)) << 3),
          aRow,
          aColumn,
          rows,
          depth,
          scale,
          left,
        );
        const to = c + (<usize> i0) * rowBytes + bytes(j0);
        const offset = upper ? j0 - i0 : m;
        // deno-fmt-ignore
        multiplyBlocks(
          rows, columns, depth, left, right, to, rowBytes, keep, offset, work,
        );
      }
    }
  }
}
