const WORD = 2 ** 32;

function wordsOf(seed: number): number[] {
  return seed < WORD ? [seed] : [seed % WORD, Math.floor(seed / WORD)];
}

/** A hash whose constant changes with each number that it takes. */
function hasher(constant: number, multiplier: number) {
  return (value: number): number => {
    const mixed = value ^ constant;
    constant = Math.imul(constant, multiplier);
    const product = Math.imul(mixed, constant);
    return (product ^ (product >>> 16)) >>> 0;
  };
}

function mix(a: number, b: number): number {
  const mixed = Math.imul(a, 0xca01f9dd) - Math.imul(b, 0x4973f715);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/**
 * The seeds that NumPy's `SeedSequence(seed).generate_state(count)` gives: by
 * way of it, Gymnasium seeds an Atari game.
 *
 * @param seed A whole number of at least 0.
 * @param count How many.
 * @returns Whole numbers of 32 bits.
 */
export function seedSequence(seed: number, count: number): number[] {
  const entropy = wordsOf(seed);
  const hash = hasher(0x43b0d7e5, 0x931e8875);
  const pool = [0, 1, 2, 3].map((i) => hash(entropy[i] ?? 0));
  for (let from = 0; from < pool.length; from++) {
    for (let to = 0; to < pool.length; to++) {
      if (from !== to) pool[to] = mix(pool[to], hash(pool[from]));
    }
  }
  const draw = hasher(0x8b51f9dd, 0x58f38ded);
  return Array.from({ length: count }, (_, i) => draw(pool[i % pool.length]));
}
