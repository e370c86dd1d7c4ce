/**
 * Settings of {@linkcode adam} and {@linkcode adamTf1}.
 *
 * @example
 * ```ts
 * import { adam, type AdamOptions } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * const options: AdamOptions = { beta1: 0.5, epsilon: 1e-5 };
 * assertEquals(Object.keys(adam(options)), ["init", "apply"]);
 * ```
 */
export interface AdamOptions {
  /**
   * How much of the mean gradient is kept at each step, 0 to 1.
   *
   * @default 0.9
   */
  beta1?: number;
  /**
   * How much of the mean square is kept at each step, 0 to 1.
   *
   * @default 0.999
   */
  beta2?: number;
  /**
   * Added to the root of the mean square.
   *
   * @default 1e-8
   */
  epsilon?: number;
}
