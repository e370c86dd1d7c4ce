import type { MatrixArray, MatrixBlock, Precision } from "./_kernels.ts";

/** Beginnings and ends of the routines' names, by how a library was built. */
const SPELLINGS = [
  ["", "_"],
  ["", "_64_"],
  ["scipy_", "_64_"],
  ["scipy_", "_"],
];
/** Functions that set the number of threads. */
const THREAD_SETTERS = [
  "openblas_set_num_threads",
  "openblas_set_num_threads64_",
  "scipy_openblas_set_num_threads64_",
  "scipy_openblas_set_num_threads",
  "MKL_Set_Num_Threads",
];
/** First letters of the routines' names: double and single precision. */
const LETTERS = ["d", "s"];
/**
 * Counts of a routine's arguments: addresses, and the lengths of the texts among
 * them, which Fortran takes last.
 */
const ROUTINES = { syevd: [11, 2], potrf: [5, 1], potri: [5, 1] };

type Routine = (...values: readonly unknown[]) => void;
/** Routines of one precision. */
type Routines = Readonly<Record<keyof typeof ROUTINES, Routine>>;
/** Functions by their names; null for those that a library lacks. */
type Symbols = Readonly<Record<string, Routine | null>>;

/** The texts "V", vectors as well, and "L", the lower triangle. */
const VECTORS = Uint8Array.of(86), LOWER = Uint8Array.of(76);

/**
 * Makes a whole number that is not negative, of 64 bits; where a library's are
 * of 32 bits, it reads and writes the first half.
 */
function integer(value: number): Int32Array {
  return Int32Array.of(value, 0);
}

/**
 * Routines of a library in one precision, on matrices whose upper triangle
 * counts: that is the lower one by columns, as LAPACK reads it.
 */
export class Lapack {
  readonly #routines: Routines;

  /** Takes the routines. */
  constructor(routines: Routines) {
    this.#routines = routines;
  }

  /** Counts the numbers that `eigen` needs as scratch. */
  eigenScratch(size: number): number {
    return 1 + 6 * size + 2 * size * size;
  }

  /**
   * Puts a matrix's eigenvectors in its place, as rows.
   *
   * @returns The eigenvalues, ascending; null where LAPACK does not converge.
   */
  eigen(
    size: number,
    { numbers, stride }: MatrixBlock,
    scratch: MatrixArray,
  ): MatrixArray | null {
    const values = numbers.slice(0, size), integers = 3 + 5 * size;
    const info = integer(0);
    // deno-fmt-ignore -- arguments that belong together
    this.#routines.syevd(
      VECTORS, LOWER, integer(size), numbers, integer(stride), values,
      scratch, integer(this.eigenScratch(size)),
      new Int32Array(2 * integers), integer(integers), info, 1, 1,
    );
    return info[0] === 0 ? values : null;
  }

  /**
   * Puts the upper triangular R with R^T R = A in place of A's upper triangle.
   *
   * @returns The first row whose pivot is not above 0; -1 when there is none.
   */
  factor(size: number, { numbers, stride }: MatrixBlock): number {
    const info = integer(0), n = integer(size);
    this.#routines.potrf(LOWER, n, numbers, integer(stride), info, 1);
    return info[0] - 1;
  }

  /** Puts the upper triangle of A's inverse in place of the R of `factor`. */
  invert(size: number, { numbers, stride }: MatrixBlock): void {
    const info = integer(0), n = integer(size);
    this.#routines.potri(LOWER, n, numbers, integer(stride), info, 1);
  }
}

/** Routines by precision. */
type Library = Readonly<Record<Precision, Lapack>>;

const opened = new Map<string, Library>();
let chosen: string | null = null;

/** Returns the routines to compute with; null for the built-in kernels. */
export function chosenLapack(precision: Precision): Lapack | null {
  return chosen === null ? null : opened.get(chosen)![precision];
}

/**
 * Returns the path of the LAPACK library that this thread computes with, as it
 * was given to {@link useLapack}; null for the built-in kernels.
 *
 * @example
 * ```ts
 * import { lapackPath, useLapack } from "@bellman/linear-algebra";
 * import { assertEquals } from "@std/assert";
 *
 * // In a worker, with the path that its maker sent: the same numbers.
 * useLapack(lapackPath());
 * assertEquals(lapackPath(), null);
 * ```
 */
export function lapackPath(): string | null {
  return chosen;
}

/**
 * Computes `symmetricEigen`, `cholesky` and `inverseSpd` with a LAPACK library
 * from now on, in this thread: OpenBLAS, such as numpy's, Intel's MKL or the
 * reference library, by Deno's FFI (`--allow-ffi`). OpenBLAS and MKL are set to
 * one thread, for the whole process.
 *
 * Results are the built-in kernels' to rounding, with other last bits and signs
 * of eigenvectors: to repeat numbers, use the same library on the same kind of
 * processor. Where a library's eigenvalues do not converge, the kernels compute.
 *
 * @param path The library's file, or its name where the system finds it
 * (`libopenblas.so.0`); null for the built-in kernels.
 * @throws {Deno.errors.NotCapable} If FFI is not permitted.
 * @throws {Error} If the library cannot be opened or lacks a routine; what was
 * used before stays.
 * @example
 * ```ts
 * import { symmetricEigen, useLapack } from "@bellman/linear-algebra";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * try {
 *   useLapack("libopenblas.so.0");
 * } catch {
 *   // Not installed here: the built-in kernels compute.
 * }
 * const { values } = symmetricEigen(Float64Array.of(2, 1, 1, 2));
 * assertAlmostEquals(values[1], 3);
 * useLapack(null);
 * ```
 */
export function useLapack(path: string | null): void {
  if (path !== null && !opened.has(path)) opened.set(path, openLibrary(path));
  chosen = path;
}

function openLibrary(path: string): Library {
  const library = openSymbols(path);
  const symbols = library.symbols as Symbols;
  const [double, single] = LETTERS.map((it) => routinesOf(symbols, it));
  if (double === undefined || single === undefined) {
    library.close();
    throw new Error(
      `Cannot use LAPACK of '${path}': it has no routines such as dsyevd_`,
    );
  }
  for (const name of THREAD_SETTERS) symbols[name]?.(1);
  return { double: new Lapack(double), single: new Lapack(single) };
}

/** Opens a library with all functions that it may have. */
function openSymbols(path: string) {
  const definitions: Record<string, Deno.ForeignFunction> = {};
  const define = (name: string, parameters: Deno.NativeType[]) => {
    definitions[name] = { parameters, result: "void", optional: true };
  };
  for (const name of THREAD_SETTERS) define(name, ["i32"]);
  for (const [routine, [addresses, lengths]] of Object.entries(ROUTINES)) {
    const parameters = [
      ...Array<"buffer">(addresses).fill("buffer"),
      ...Array<"usize">(lengths).fill("usize"),
    ];
    for (const letter of LETTERS) {
      for (const [start, end] of SPELLINGS) {
        define(start + letter + routine + end, parameters);
      }
    }
  }
  try {
    return Deno.dlopen(path, definitions);
  } catch (error) {
    const isDenied = error instanceof Deno.errors.NotCapable;
    const why = (error as Error).message.split("\n")[0]
      .replaceAll("Could not open library: ", "");
    throw new (isDenied ? Deno.errors.NotCapable : Error)(
      `Cannot use LAPACK of '${path}': ${why}`,
      { cause: error },
    );
  }
}

/** Finds a precision's routines; undefined where a library lacks one. */
function routinesOf(symbols: Symbols, letter: string): Routines | undefined {
  const names = Object.keys(ROUTINES);
  for (const [start, end] of SPELLINGS) {
    const found = names.map((it) => [it, symbols[start + letter + it + end]]);
    if (found.every(([, routine]) => routine !== null)) {
      return Object.fromEntries(found);
    }
  }
}
