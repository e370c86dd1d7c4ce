import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertFalse,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import {
  copySeeds,
  DEFAULT_SEED,
  deriveSeed,
  EnvStreams,
  SeededRandom,
} from "./random.ts";

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

Deno.test("streams are those of checkpoints of earlier versions", () => {
  const random = new SeededRandom(3);
  assertEquals([
    random.uniform(),
    random.normal(),
    random.integer(1000),
    random.integer(2 ** 40),
  ], [0.5954791384533031, 1.357675873169466, 677, 253367425990]);
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

const seeds = fc.nat({ max: Number.MAX_SAFE_INTEGER });

Deno.test("a number gives each copy a seed derived from it, whatever their number", () => {
  fc.assert(fc.property(seeds, fc.integer({ min: 1, max: 6 }), (seed, n) => {
    const whole = copySeeds(seed, 6);
    assertEquals(whole.slice(0, n), copySeeds(seed, n));
    assertEquals(whole[n - 1], deriveSeed(seed, n - 1));
  }));
});

Deno.test("a list gives each copy its own seed", () => {
  fc.assert(fc.property(fc.array(seeds), (list) => {
    assertEquals(copySeeds(list, list.length), list);
  }));
});

Deno.test("a list of another length and bad seeds are refused", () => {
  assertThrows(
    () => copySeeds([1, 2], 3),
    RangeError,
    "Cannot seed 3 copies with 2 seeds: expected one for each copy",
  );
  for (const bad of [-1, 0.5, NaN, Infinity]) {
    for (const seed of [bad, [0, bad]]) {
      assertThrows(
        () => copySeeds(seed, 2),
        RangeError,
        `Cannot seed an environment with ${bad}: expected a whole number`,
      );
    }
  }
});

/** The next number of each copy's stream. */
function draw(streams: EnvStreams, copies: number): number[] {
  return Array.from({ length: copies }, (_, i) => streams.of(i).uniform());
}

Deno.test("each copy draws from the stream of its own seed", () => {
  const streams = new EnvStreams();
  assertFalse(streams.areSeeded);
  streams.seed(3, 7);
  assert(streams.areSeeded);
  const expected = copySeeds(7, 3).map((it) => new SeededRandom(it).uniform());
  assertEquals(draw(streams, 3), expected);
});

Deno.test("streams go on without a seed, from the default one at first", () => {
  const [streams, continued] = [new EnvStreams(), new EnvStreams()];
  streams.seed(2);
  continued.seed(2, DEFAULT_SEED);
  assertEquals(draw(streams, 2), draw(continued, 2));
  streams.seed(2);
  assertEquals(draw(streams, 2), draw(continued, 2));
});

Deno.test("saved streams go on where they were", () => {
  const [streams, restored] = [new EnvStreams(), new EnvStreams()];
  streams.seed(2, [4, 5]);
  draw(streams, 2);
  restored.load(streams.save());
  assertEquals(draw(restored, 2), draw(streams, 2));
});

Deno.test("a seed for each copy, or one for all", () => {
  assertThrows(() => new EnvStreams().seed(3, [1, 2]), RangeError);
});
