import bytes from "./_kernels.json" with { type: "json" };

/** A kernel over rows, from one vector to another. */
type RowsKernel = (
  count: number,
  length: number,
  rows: number,
  stride: number,
  from: number,
  to: number,
) => void;

/** A kernel that solves with a triangle, in place of the right-hand sides. */
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
 * in bytes, sizes and distances between rows in numbers.
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

/** Compiles the kernels, fused where the engine knows relaxed SIMD. */
export function compileKernels(
  { fused = true }: { fused?: boolean } = {},
): WebAssembly.Module {
  const relaxed = decode(bytes.fused);
  return new WebAssembly.Module(
    fused && WebAssembly.validate(relaxed) ? relaxed : decode(bytes.plain),
  );
}

const PAGE = 65536;
/** Start and alignment of blocks, in bytes. */
const ALIGNMENT = 64;
/** Pages that WebAssembly's 32-bit addresses reach. */
const MAX_PAGES = 65536;
/** Memory up to this many bytes is kept for the next call. */
const KEPT_BYTES = 64 * 1024 * 1024;

let module: WebAssembly.Module | null = null;
let kept: Kernels | null = null;

/** Numbers in the kernels' memory. */
export interface Block {
  /** The address of the first number, in bytes. */
  at: number;
  /** The same memory as an array. */
  numbers: Float64Array;
}

/** A matrix by address and row stride, in the kernels' memory. */
export interface Place {
  at: number;
  /** The distance between rows, in numbers. */
  stride: number;
}

/** A matrix with contiguous rows in the kernels' memory. */
export interface MatrixBlock extends Block, Place {}

/** Returns the part of a matrix from a row and a column on. */
export function part(matrix: Place, row: number, column: number): Place {
  const { at, stride } = matrix;
  return { at: at + (row * stride + column) * 8, stride };
}

/** The kernels and the memory for their `multiply`. */
export interface Tools {
  kernels: Kernels;
  work: number;
}

/** The tools with blocks of their memory, for the length of one call. */
interface Workspace extends Tools {
  /** Blocks for the counts asked for, of unknown content. */
  blocks: Block[];
}

function instance(): Kernels {
  if (kept !== null) return kept;
  module ??= compileKernels();
  return new WebAssembly.Instance(module).exports as unknown as Kernels;
}

/** Chooses the build of the kernels from here on, for tests. */
export function chooseKernels(options: { fused: boolean }): void {
  module = compileKernels(options);
  kept = null;
}

/** Counts the bytes of some numbers, up to the next block's start. */
function blockBytes(count: number): number {
  return Math.ceil(count * 8 / ALIGNMENT) * ALIGNMENT;
}

/**
 * Lays blocks out in the kernels' memory. A large memory is not kept, so that
 * one large matrix does not hold it for the life of the program.
 */
export function openWorkspace(counts: number[]): Workspace {
  const kernels = instance();
  const work = ALIGNMENT;
  let end = work + blockBytes(kernels.multiplyWorkBytes() / 8);
  const starts = counts.map((count) => {
    const start = end;
    end += blockBytes(count);
    return start;
  });
  grow(kernels.memory, end);
  kept = end <= KEPT_BYTES ? kernels : null;
  const { buffer } = kernels.memory;
  const blocks = starts.map((at, i) => ({
    at,
    numbers: new Float64Array(buffer, at, counts[i]),
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
