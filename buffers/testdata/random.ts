import type { Random } from "../samplers/sampler.ts";

/** A small seeded generator, good enough for tests. */
export function testRandom(seed: number): Random {
  let state = seed >>> 0;
  function uniform(): number {
    // A Weyl sequence, mixed: streams of seeds side by side differ.
    state = (state + 0x9e3779b9) >>> 0;
    let bits = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
    return ((bits ^ (bits >>> 15)) >>> 0) / 2 ** 32;
  }
  return { uniform, integer: (n) => Math.floor(uniform() * n) };
}
