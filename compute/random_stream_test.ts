import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { RandomStream } from "./random_stream.ts";

function draws(stream: RandomStream, n = 8): number[] {
  return Array.from({ length: n }, () => stream.uniform());
}

Deno.test("the same seed and names give the same numbers", () => {
  assertEquals(draws(new RandomStream(3)), draws(new RandomStream(3)));
  const split = () => new RandomStream(3).split("env").split("0");
  assertEquals(draws(split()), draws(split()));
});

Deno.test("a split does not depend on what was drawn before", () => {
  const drawn = new RandomStream(3);
  draws(drawn);
  assertEquals(draws(drawn.split("a")), draws(new RandomStream(3).split("a")));
});

Deno.test("streams of neighbouring seeds and names differ at once", () => {
  const seen = new Set<number>();
  for (let seed = 0; seed < 500; seed++) {
    const stream = new RandomStream(seed);
    seen.add(stream.uniform());
    seen.add(stream.split("a").uniform());
    seen.add(stream.split("b").uniform());
  }
  assertEquals(seen.size, 1500);
});

Deno.test("a loaded stream goes on where it was saved", () => {
  fc.assert(fc.property(fc.nat(), fc.nat(20), (seed, skipped) => {
    const stream = new RandomStream(seed);
    for (let i = 0; i < skipped; i++) stream.normal();
    const state = stream.save();
    const expected = [stream.normal(), ...draws(stream), stream.integer(9)];
    const other = new RandomStream(0);
    other.load(state);
    assertEquals([other.normal(), ...draws(other), other.integer(9)], expected);
    assertEquals(
      draws(other.split("x")),
      draws(new RandomStream(seed).split("x")),
    );
  }));
});

Deno.test("uniform numbers are flat, normal ones have their moments", () => {
  const stream = new RandomStream(1);
  const n = 200_000;
  const counts = new Array(10).fill(0);
  for (let i = 0; i < n; i++) counts[Math.floor(10 * stream.uniform())]++;
  const chiSquare = counts.reduce((sum, it) => sum + (it - n / 10) ** 2, 0) /
    (n / 10);
  assert(chiSquare < 27.9, `chi-square ${chiSquare} of 9 degrees`);
  const normal = stream.fillNormal(new Float32Array(n));
  const moment = (k: number) => normal.reduce((s, it) => s + it ** k, 0) / n;
  assertAlmostEquals(moment(1), 0, 0.01);
  assertAlmostEquals(moment(2), 1, 0.02);
  assertAlmostEquals(moment(4), 3, 0.1);
});

Deno.test("arrays have the normal numbers that single draws are", () => {
  fc.assert(fc.property(
    fc.array(fc.nat(7), { maxLength: 8 }),
    (lengths) => {
      const stream = new RandomStream(4), other = new RandomStream(4);
      const filled = lengths.flatMap((length) => [
        ...stream.fillNormal(new Float32Array(length)),
      ]);
      assertEquals(filled, filled.map(() => Math.fround(other.normal())));
      assertEquals(stream.save(), other.save());
    },
  ));
});

Deno.test("float32 noise lies in [0, 1)", () => {
  const noise = new RandomStream(2).fillUniform(new Float32Array(100_000));
  assert(noise.every((it) => it >= 0 && it < 1));
  assertAlmostEquals(noise.reduce((a, b) => a + b) / noise.length, 0.5, 0.01);
});

Deno.test("integers cover their range alike", () => {
  const stream = new RandomStream(5);
  const counts = new Array(7).fill(0);
  for (let i = 0; i < 70_000; i++) counts[stream.integer(7)]++;
  for (const count of counts) assertAlmostEquals(count, 10_000, 450);
});

Deno.test("bad seeds, ranges and states are refused", () => {
  for (const seed of [-1, 0.5, NaN, 2 ** 53]) {
    assertThrows(() => new RandomStream(seed), RangeError, "Cannot seed");
  }
  assertThrows(() => new RandomStream(0).integer(0), RangeError, "one of 0");
  assertThrows(() => new RandomStream(0).load({}), TypeError, "Cannot load");
});
