/**
 * Draws an index by its chance. Rounding may leave a rest, which no index without a chance
 * gets.
 *
 * @param chances Chances, which add up to 1.
 * @param uniform Number from 0 up to and without 1.
 */
export function draw(chances: ArrayLike<number>, uniform: number): number {
  let at = 0;
  for (let i = 0; i < chances.length; i++) {
    if (chances[i] <= 0) continue;
    at = i;
    if ((uniform -= chances[i]) < 0) break;
  }
  return at;
}
