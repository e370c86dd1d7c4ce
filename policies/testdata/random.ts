import type { RandomSource } from "@bellman/types";

/** A small seeded generator (mulberry32), so that tests repeat. */
export function seededRandom(seed: number): RandomSource {
  let state = seed >>> 0;
  function uniform(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  }
  function normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
    return radius * Math.cos(2 * Math.PI * uniform());
  }
  const integer = (n: number): number => Math.floor(n * uniform());
  return { uniform, normal, integer };
}
