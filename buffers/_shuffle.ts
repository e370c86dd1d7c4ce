import type { RandomIntegers } from "./random_integers.ts";

/** Puts numbers into a random order, each order as likely. */
export function shuffle(numbers: Int32Array, random: RandomIntegers): void {
  for (let last = numbers.length - 1; last > 0; last--) {
    const other = random.integer(last + 1);
    const kept = numbers[last];
    numbers[last] = numbers[other];
    numbers[other] = kept;
  }
}
