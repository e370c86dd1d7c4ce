/** A small seeded generator, good enough to shuffle in tests. */
export function testRandom(seed: number): { integer(n: number): number } {
  let state = seed >>> 0;
  return {
    integer(n) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor(state / 2 ** 32 * n);
    },
  };
}
