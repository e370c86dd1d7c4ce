import wasm from "./_kernels.json" with { type: "json" };

/**
 * Numbers of a matrix, row-major, in double or single precision; results have the type
 * of the argument.
 */
export type MatrixArray = Float64Array | Float32Array;

/** Precision of a computation. */
export type Precision = "double" | "single";

/** Kernel over rows, from one vector to another. */
type RowsKernel = (
  count: number,
  length: number,
  rows: number,
  stride: number,
  from: number,
  to: number,
) => void;

/** Kernel that solves with a triangular matrix and overwrites the right-hand sides. */
type SolveKernel = (
  size: number,
  columns: number,
  r: number,
  rStride: number,
  b: number,
  bStride: number,
) => void;

/**
 * Functions of the WebAssembly module, documented in its sources. Addresses are
 * in bytes, sizes and distances between rows in numbers. Those that
 * {@link SINGLE} lists exist in single precision too.
 */
export interface Kernels {
  memory: WebAssembly.Memory;
  multiply(
    m: number,
    n: number,
    k: number,
    a: number,
    aRow: number,
    aColumn: number,
    b: number,
    bRow: number,
    bColumn: number,
    c: number,
    cRow: number,
    scale: number,
    add: number,
    upper: number,
    work: number,
  ): void;
  multiplyWorkBytes(): number;
  dot(length: number, x: number, y: number): number;
  addScaled(length: number, factor: number, x: number, y: number): void;
  dotRows: RowsKernel;
  subtractRows: RowsKernel;
  rotateRows(length: number, x: number, y: number, c: number, s: number): void;
  multiplySymmetric(
    size: number,
    a: number,
    stride: number,
    x: number,
    y: number,
  ): void;
  symmetrize(
    size: number,
    from: number,
    to: number,
    stride: number,
    half: number,
  ): number;
  factorBlock(size: number, a: number, stride: number): number;
  solveBlock: SolveKernel;
  solveTransposedBlock: SolveKernel;
  secularRoot(
    size: number,
    j: number,
    d: number,
    zz: number,
    rho: number,
    gaps: number,
  ): number;
  refineWeights(
    size: number,
    d: number,
    gaps: number,
    stride: number,
    z: number,
    refined: number,
  ): void;
  secularVector(
    size: number,
    refined: number,
    place: number,
    row: number,
    spare: number,
  ): void;
}

function decode(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (it) => it.charCodeAt(0));
}

/** Compiles the kernels, with fused multiply-add if the engine has relaxed SIMD. */
export function compileKernels(
  { fused = true }: { fused?: boolean } = {},
): WebAssembly.Module {
  const relaxed = decode(wasm.fused);
  return new WebAssembly.Module(
    fused && WebAssembly.validate(relaxed) ? relaxed : decode(wasm.plain),
  );
}

const PAGE = 65536;
/** Start and alignment of blocks, in bytes. */
const ALIGNMENT = 64;
/** Pages that WebAssembly's 32-bit addresses reach. */
const MAX_PAGES = 65536;
/** Memory up to this many bytes is kept for the next call. */
const KEPT_BYTES = 64 * 1024 * 1024;

/** Kernels that exist in single precision too, with `Single` behind the name. */
const SINGLE = [
  "multiply",
  "dot",
  "addScaled",
  "dotRows",
  "subtractRows",
  "rotateRows",
  "multiplySymmetric",
  "symmetrize",
  "factorBlock",
  "solveBlock",
  "solveTransposedBlock",
  "secularVector",
];

/** The kernels in both precisions. */
interface AllKernels {
  double: Kernels;
  single: Kernels;
}

let module: WebAssembly.Module | null = null;
let kept: AllKernels | null = null;

/** Numbers in the kernels' memory. */
export interface Block<T extends MatrixArray = MatrixArray> {
  /** Address of the first number, in bytes. */
  at: number;
  /** Typed array on the same memory. */
  numbers: T;
  /** Bytes of a number. */
  bytes: number;
}

/** Matrix by address and row stride, in the kernels' memory. */
export interface Place {
  at: number;
  /** Bytes of a number. */
  bytes: number;
  /** Distance between rows, in numbers. */
  stride: number;
}

/** Matrix with contiguous rows in the kernels' memory. */
export interface MatrixBlock extends Block, Place {}

/** Returns the part of a matrix from a row and a column on. */
export function part(matrix: Place, row: number, column: number): Place {
  const { at, stride, bytes } = matrix;
  return { at: at + (row * stride + column) * bytes, stride, bytes };
}

/** Kernels and the memory for their `multiply`. */
export interface Tools {
  kernels: Kernels;
  work: number;
}

/** Kernels with blocks of memory, for the length of one call. */
interface Workspace extends Tools {
  /** A block for each count, uninitialized. */
  blocks: Block[];
}

function instance(): AllKernels {
  if (kept !== null) return kept;
  module ??= compileKernels();
  const wasm = new WebAssembly.Instance(module).exports;
  const single = SINGLE.map((name) => [name, wasm[`${name}Single`]]);
  return {
    double: wasm as unknown as Kernels,
    single: { ...wasm, ...Object.fromEntries(single) } as unknown as Kernels,
  };
}

/** Chooses the build of the kernels, for tests. */
export function chooseKernels(options: { fused: boolean }): void {
  module = compileKernels(options);
  kept = null;
}

/** Rounds a number of bytes up to the next block's start. */
function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** Views the memory of a block as numbers in double precision. */
export function doublesOf({ at, numbers }: Block): Block<Float64Array> {
  const count = Math.floor(numbers.byteLength / 8);
  const doubles = new Float64Array(numbers.buffer, at, count);
  return { at, numbers: doubles, bytes: 8 };
}

/**
 * Lays blocks out in the kernels' memory. A large memory is not kept, so that
 * one large matrix does not hold it for the life of the program.
 */
export function openWorkspace(
  counts: number[],
  precision: Precision = "double",
): Workspace {
  const loaded = instance(), kernels = loaded[precision];
  const Numbers = precision === "double" ? Float64Array : Float32Array;
  const bytes = Numbers.BYTES_PER_ELEMENT, work = ALIGNMENT;
  let end = work + aligned(kernels.multiplyWorkBytes());
  const starts = counts.map((count) => {
    const start = end;
    end += aligned(count * bytes);
    return start;
  });
  grow(kernels.memory, end);
  kept = end <= KEPT_BYTES ? loaded : null;
  const buffer = kernels.memory.buffer as ArrayBuffer;
  const blocks = starts.map((at, i) => ({
    at,
    numbers: new Numbers(buffer, at, counts[i]),
    bytes,
  }));
  return { kernels, work, blocks };
}

function grow(memory: WebAssembly.Memory, end: number): void {
  const pages = Math.ceil(end / PAGE);
  const missing = pages - memory.buffer.byteLength / PAGE;
  if (missing <= 0) return;
  if (pages > MAX_PAGES) {
    throw new RangeError(
      `Cannot work on so large a matrix: it needs ${end} bytes, and at most ${
        MAX_PAGES * PAGE
      } can be had`,
    );
  }
  memory.grow(missing);
}

/**
 * Returns the distance between rows for a matrix with rows of `size` numbers:
 * whole cache lines, and not a multiple of 512 bytes, with which the rows of a
 * column would fall on few places of the cache.
 */
export function rowStride(size: number): number {
  const stride = Math.ceil(size / 8) * 8;
  return stride % 64 === 0 ? stride + 8 : stride;
}
