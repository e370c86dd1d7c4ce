import { SeededRandom } from "../random.ts";

/** A stream for an environment that was given no seed: unlike any other. */
export function freshRandom(): SeededRandom {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return new SeededRandom((high >>> 11) * 2 ** 32 + low);
}
