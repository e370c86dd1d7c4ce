/**
 * Small dense linear algebra on row-major typed arrays: eigenvalues and eigenvectors of
 * symmetric matrices, all or the leading ones, Cholesky factors, and inverses of
 * positive definite matrices, as natural-gradient methods (K-FAC) need.
 *
 * Pure functions without tensors or gradients, in double precision, optionally in
 * single precision for eigenvectors and inverses; the inner loops are WebAssembly with
 * SIMD, which needs no permission. They take one to three times as long as LAPACK on
 * one thread.
 *
 * @example
 * ```ts
 * import { inverseSpd, symmetricEigen } from "@bellman/linear-algebra";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const covariance = new Float32Array([2, 1, 1, 2]);
 * const { values } = symmetricEigen(covariance);
 * const inverse = inverseSpd(covariance);
 * // The inverse has the inverse eigenvalues, so its trace is their sum.
 * assertAlmostEquals(inverse[0] + inverse[3], 1 / values[0] + 1 / values[1], 1e-6);
 * ```
 *
 * @module
 */
export * from "./cholesky.ts";
export * from "./leading_eigen.ts";
export type { MatrixArray, Precision } from "./_kernels.ts";
export * from "./symmetric_eigen.ts";
