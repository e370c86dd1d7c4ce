import { FUSED_KERNELS, PLAIN_KERNELS } from "./_kernel_bytes.ts";

/**
 * The functions of the WebAssembly module, documented in wasm/. Addresses are
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
  dotRows(
    count: number,
    length: number,
    rows: number,
    stride: number,
    x: number,
    out: number,
  ): void;
  subtractRows(
    count: number,
    length: number,
    rows: number,
    stride: number,
    factors: number,
    y: number,
  ): void;
  rotateRows(length: number, x: number, y: number, c: number, s: number): void;
  multiplySymmetric(
    size: number,
    a: number,
    stride: number,
    x: number,
    y: number,
  ): void;
  factorBlock(size: number, a: number, stride: number): number;
  solveBlock(
    size: number,
    columns: number,
    r: number,
    rStride: number,
    b: number,
    bStride: number,
  ): void;
  solveTransposedBlock(
    size: number,
    columns: number,
    r: number,
    rStride: number,
    b: number,
    bStride: number,
  ): void;
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
  const bytes = decode(FUSED_KERNELS);
  return new WebAssembly.Module(
    fused && WebAssembly.validate(bytes) ? bytes : decode(PLAIN_KERNELS),
  );
}
