import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { deriveSeed, SeededRandom } from "./random.ts";

Deno.test("a loaded stream goes on where it was saved", () => {
  fc.assert(fc.property(fc.nat(), fc.nat(20), (seed, skipped) => {
    const random = new SeededRandom(seed);
    for (let i = 0; i < skipped; i++) random.normal();
    const state = random.save();
    const draw = (from: SeededRandom) => [
      from.normal(),
      from.uniform(-2, 3),
      from.integer(7),
    ];
    const expected = draw(random);
    const other = new SeededRandom(0);
    other.load(state);
    assertEquals(draw(other), expected);
  }));
});

Deno.test("numbers have their ranges and moments", () => {
  const random = new SeededRandom(3);
  const n = 100_000;
  let sum = 0, squares = 0, flat = 0;
  for (let i = 0; i < n; i++) {
    const normal = random.normal();
    sum += normal;
    squares += normal * normal;
    const uniform = random.uniform(-0.05, 0.05);
    assert(uniform >= -0.05 && uniform < 0.05);
    flat += uniform;
  }
  assertAlmostEquals(sum / n, 0, 0.015);
  assertAlmostEquals(squares / n, 1, 0.02);
  assertAlmostEquals(flat / n, 0, 0.0005);
});

Deno.test("seeds of copies are whole numbers, all different", () => {
  const seen = new Set<number>();
  for (let seed = 0; seed < 40; seed++) {
    for (let copy = 0; copy < 40; copy++) {
      const derived = deriveSeed(seed, copy);
      assert(Number.isSafeInteger(derived) && derived >= 0);
      seen.add(derived);
    }
  }
  assertEquals(seen.size, 1600);
});

Deno.test("bad seeds and states are refused", () => {
  for (const seed of [-1, 0.5, NaN]) {
    assertThrows(() => new SeededRandom(seed), RangeError, "Cannot seed");
    assertThrows(() => deriveSeed(seed, 0), RangeError, "Cannot seed");
  }
  assertThrows(() => new SeededRandom(0).load(null), TypeError, "'generator'");
  assertThrows(
    () => new SeededRandom(0).load({ generator: new Int32Array(2) }),
    TypeError,
    "four words",
  );
});
