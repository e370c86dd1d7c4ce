import type { StateTree } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";
import { mixedBits, normal, RandomStream, seedWords } from "./mod.ts";

Deno.test("a loaded stream goes on where it was saved", () => {
  fc.assert(fc.property(fc.nat(), fc.nat(20), (seed, skipped) => {
    const random = new RandomStream(seedWords(seed));
    for (let i = 0; i < skipped; i++) random.normal();
    const state = random.save();
    const expected = [random.normal(), random.uniform(-2, 3)];
    const other = new RandomStream(seedWords(0));
    other.load(state);
    assertEquals([other.normal(), other.uniform(-2, 3)], expected);
  }));
});

Deno.test("uniform numbers are those of the generator", () => {
  const word = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
  const words = fc.array(word, { minLength: 4, maxLength: 4 });
  fc.assert(fc.property(words, (state) => {
    const generator = xoroshiro128plusFromState(state);
    const random = new RandomStream(state);
    for (let i = 0; i < 5; i++) {
      assertEquals(random.uniform(), uniformFloat64(generator));
    }
  }));
});

Deno.test("numbers have their ranges and moments", () => {
  const random = new RandomStream(seedWords(3));
  const n = 100_000;
  let sum = 0, squares = 0, flat = 0;
  for (let i = 0; i < n; i++) {
    const it = random.normal();
    sum += it;
    squares += it * it;
    flat += random.uniform(-0.05, 0.05);
  }
  assertAlmostEquals(sum / n, 0, 0.015);
  assertAlmostEquals(squares / n, 1, 0.02);
  assertAlmostEquals(flat / n, 0, 0.0005);
});

Deno.test("streams are those of snapshots of earlier versions", () => {
  const random = new RandomStream(seedWords(3));
  const drawn = [random.uniform(), random.normal()];
  assertEquals(drawn, [0.3069232380936979, 0.457885167118106]);
});

Deno.test("normal numbers are finite for every uniform one", () => {
  for (const uniform of [0, 0.5, 1 - 2 ** -53]) {
    assert(Number.isFinite(normal(() => uniform)));
  }
});

Deno.test("seeds share no words, above 32 bits either", () => {
  const seen = new Set<number>();
  const seeds = Array.from({ length: 100 }, (_, i) => [i, i * 2 ** 40 + 1]);
  for (const seed of seeds.flat()) {
    for (const word of seedWords(seed)) seen.add(word);
  }
  assert(seen.size > 795, `${seen.size} words`);
  assertEquals(mixedBits(5)(), mixedBits(5 + 2 ** 32)());
});

Deno.test("bad seeds and states are refused", () => {
  for (const seed of [-1, 0.5, NaN, 2 ** 53]) {
    assertThrows(() => seedWords(seed), RangeError, `with ${seed}: expected`);
  }
  const random = new RandomStream(seedWords(0));
  const states: StateTree[] = [null, {}, { generator: new Int32Array(2) }];
  for (const state of states) {
    assertThrows(() => random.load(state), TypeError, "'generator'");
  }
});
