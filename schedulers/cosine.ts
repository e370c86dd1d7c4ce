/**
 * Falls from 1 to 0 along half a cosine: slowly, fast, slowly. It holds its
 * ends outside of 0 to 1, as it would rise again.
 *
 * Source: Loshchilov and Hutter 2017 (https://arxiv.org/abs/1608.03983),
 * equation 5, without restarts.
 *
 * @param progress Fraction of the whole.
 * @returns `(1 + cos(pi progress)) / 2`
 * @example
 * ```ts
 * import { cosine } from "@bellman/schedulers";
 * import { assertAlmostEquals, assertEquals } from "@std/assert";
 *
 * assertAlmostEquals(cosine(0.5), 0.5);
 * assertEquals(cosine(2), 0);
 * ```
 */
export function cosine(progress: number): number {
  const inside = Math.min(Math.max(progress, 0), 1);
  return (1 + Math.cos(Math.PI * inside)) / 2;
}
