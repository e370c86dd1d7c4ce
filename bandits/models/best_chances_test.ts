import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { betaChances, normalChances } from "./best_chances.ts";

const mean = fc.double({ min: -3, max: 3, noNaN: true });
const deviation = fc.double({ min: 0.01, max: 3, noNaN: true });
const normals = fc.array(fc.tuple(mean, deviation), {
  minLength: 2,
  maxLength: 12,
});

function chancesOf(numbers: readonly (readonly [number, number])[]) {
  return normalChances(
    Float64Array.from(numbers, ([it]) => it),
    Float64Array.from(numbers, ([, it]) => it),
  );
}

function sumOf(numbers: Float64Array): number {
  return numbers.reduce((a, b) => a + b, 0);
}

/** Normal distribution function by its series. */
function normalShare(z: number): number {
  if (Math.abs(z) > 6) return z > 0 ? 1 : 0;
  let term = z, sum = z;
  for (let i = 1; i < 200; i++) {
    term *= z * z / (2 * i + 1);
    sum += term;
  }
  return 0.5 + sum * Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
}

Deno.test("of two normal numbers, the chances are those of their difference", () => {
  fc.assert(fc.property(mean, mean, deviation, deviation, (a, b, s, t) => {
    const [first, second] = chancesOf([[a, s], [b, t]]);
    assertAlmostEquals(first, normalShare((a - b) / Math.hypot(s, t)), 1e-9);
    assertAlmostEquals(first + second, 1, 1e-12);
  }));
});

Deno.test("chances add up to 1, and follow their numbers", () => {
  fc.assert(fc.property(normals, (numbers) => {
    const chances = chancesOf(numbers);
    assertAlmostEquals(sumOf(chances), 1, 1e-12);
    assert(chances.every((it) => it >= 0));
    const turned = chancesOf([...numbers.slice(1), numbers[0]]);
    numbers.forEach((_, i) =>
      assertAlmostEquals(turned.at(i - 1)!, chances[i], 1e-9)
    );
  }));
});

Deno.test("chances do not depend on the unit and on a constant", () => {
  fc.assert(fc.property(
    normals,
    fc.double({ min: -1e3, max: 1e3, noNaN: true }),
    fc.constantFrom(1e-6, 0.01, 100, 1e6),
    (numbers, shift, scale) => {
      const chances = chancesOf(numbers);
      const moved = chancesOf(
        numbers.map(([a, s]) => [scale * (a + shift), scale * s]),
      );
      chances.forEach((it, i) => assertAlmostEquals(moved[i], it, 1e-8));
    },
  ));
});

Deno.test("chances are those of a sum over many points", () => {
  const some = fc.array(
    fc.tuple(mean, fc.double({ min: 0.2, max: 3, noNaN: true })),
    {
      minLength: 2,
      maxLength: 4,
    },
  );
  fc.assert(
    fc.property(some, (numbers) => {
      const step = 0.02, sums = numbers.map(() => 0);
      for (let t = -25; t < 25; t += step) {
        const shares = numbers.map(([m, s]) => normalShare((t - m) / s));
        numbers.forEach(([m, s], i) => {
          const z = (t - m) / s, others = shares.toSpliced(i, 1);
          const density = Math.exp(-z * z / 2) / s / Math.sqrt(2 * Math.PI);
          sums[i] += step * others.reduce((p, it) => p * it, density);
        });
      }
      chancesOf(numbers).forEach((it, i) =>
        assertAlmostEquals(it, sums[i], 1e-8)
      );
    }),
    { numRuns: 20 },
  );
});

Deno.test("equal numbers have equal chances, a thousand too", () => {
  for (const n of [2, 7, 100, 1000]) {
    const chances = chancesOf(Array.from({ length: n }, () => [0.3, 0.2]));
    for (const it of chances) assertAlmostEquals(it, 1 / n, 1e-11);
  }
});

Deno.test("a narrow peak among a thousand wide ones is found", () => {
  const wide = Array.from({ length: 999 }, (_, i) => [i / 2000, 1] as const);
  const at = 3.2, deviation = 1e-6;
  const chances = chancesOf([...wide, [at, deviation]]);
  // It is the largest where all others are below it.
  const expected = wide.reduce((p, [a, s]) => p * normalShare((at - a) / s), 1);
  assertAlmostEquals(chances[999], expected, 1e-8);
});

Deno.test("numbers without deviation share the chance of the largest", () => {
  assertEquals([...chancesOf([[1, 0], [2, 0], [2, 0]])], [0, 0.5, 0.5]);
  const [fixed, normal] = chancesOf([[0, 0], [0, 1]]);
  assertAlmostEquals(fixed, 0.5, 1e-8);
  assertAlmostEquals(normal, 0.5, 1e-8);
});

Deno.test("infinite deviations share all", () => {
  const infinite: [number, number] = [0, Infinity];
  assertEquals([...chancesOf([infinite, [9, 1], infinite])], [0.5, 0, 0.5]);
});

Deno.test("of two beta numbers, the chances are the closed form", () => {
  const parameter = fc.integer({ min: 1, max: 40 });
  fc.assert(
    fc.property(parameter, parameter, parameter, parameter, (a, b, c, d) => {
      const logFactorial = (n: number) => {
        let sum = 0;
        for (let i = 2; i <= n; i++) sum += Math.log(i);
        return sum;
      };
      const logBeta = (x: number, y: number) =>
        logFactorial(x - 1) + logFactorial(y - 1) - logFactorial(x + y - 1);
      // Chance that the first is above the second, a sum over its first parameter.
      let expected = 0;
      for (let i = 0; i < a; i++) {
        expected += Math.exp(
          logBeta(c + i, b + d) - Math.log(b + i) - logBeta(1 + i, b) -
            logBeta(c, d),
        );
      }
      const [first] = betaChances(Float64Array.of(a, c), Float64Array.of(b, d));
      assertAlmostEquals(first, expected, 1e-9);
    }),
  );
});

Deno.test("beta numbers of many rewards are as normal ones", () => {
  const alphas = Float64Array.of(30_000, 30_100, 29_900);
  const betas = Float64Array.of(70_000, 69_900, 70_100);
  const found = betaChances(alphas, betas);
  const means = alphas.map((a, i) => a / (a + betas[i]));
  const deviations = means.map((it) => Math.sqrt(it * (1 - it) / 100_001));
  const expected = normalChances(means, deviations);
  found.forEach((it, i) => assertAlmostEquals(it, expected[i], 1e-3));
});
