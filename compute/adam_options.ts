/** Settings of {@linkcode adam} and {@linkcode adamTf1}. */
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
