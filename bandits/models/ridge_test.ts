import { RandomStream, seedWords } from "@bellman/random";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { linear } from "./linear.ts";
import { dot, inverse, packedLength, timesVector } from "./_packed.ts";
import { Ridge, sigmoid } from "./ridge.ts";

interface Row {
  index: number;
  x: Float64Array;
  reward: number;
}

const number = fc.double({ min: -2, max: 2, noNaN: true });
const rowsOf = (count: number) =>
  fc.array(
    fc.record({
      index: fc.nat(1),
      x: fc.tuple(number, number).map(([a, b]) => Float64Array.of(1, a, b)),
      reward: number,
    }),
    { minLength: 1, maxLength: count },
  );

/** Solves a ridge regression of weighted rows from nothing. */
function solve(
  rows: readonly (readonly [row: Row, weight: number])[],
  lambda: number,
): { weights: Float64Array; covariance: Float64Array } {
  const d = 3, gram = new Float64Array(packedLength(d));
  const moment = new Float64Array(d);
  for (const [{ x, reward }, weight] of rows) {
    for (let i = 0, at = 0; i < d; i++) {
      moment[i] += weight * reward * x[i];
      for (let j = 0; j <= i; j++) gram[at++] += weight * x[i] * x[j];
    }
  }
  const covariance = inverse(gram, d, lambda);
  const weights = timesVector(covariance, moment);
  return { weights, covariance };
}

const QUERY = Float64Array.of(1, 0.5, -0.25);

function assertSolves(
  ridge: Ridge,
  weighted: readonly (readonly [row: Row, weight: number])[],
): void {
  for (const index of [0, 1]) {
    const own = weighted.filter(([row]) => row.index === index);
    const { weights, covariance } = solve(own, ridge.settings.lambda);
    assertAlmostEquals(ridge.mean(index, QUERY), dot(weights, QUERY), 1e-9);
    const width = timesVector(covariance, QUERY);
    assertAlmostEquals(ridge.variance(index, QUERY), dot(width, QUERY), 1e-9);
  }
}

Deno.test("each regression is the ridge regression of its rows", () => {
  fc.assert(fc.property(rowsOf(30), (rows) => {
    const ridge = new Ridge(2, linear({ lambda: 0.5 }));
    for (const { index, x, reward } of rows) ridge.learn(index, x, reward);
    assertSolves(ridge, rows.map((row) => [row, 1]));
  }));
});

Deno.test("a discount multiplies all rows before the last, not the prior", () => {
  fc.assert(fc.property(rowsOf(20), (rows) => {
    const ridge = new Ridge(2, linear({ discount: 0.9 }));
    for (const { index, x, reward } of rows) ridge.learn(index, x, reward);
    assertSolves(
      ridge,
      rows.map((row, i) => [row, 0.9 ** (rows.length - 1 - i)]),
    );
  }));
});

Deno.test("a window counts the last rows alone, however large earlier ones were", () => {
  fc.assert(fc.property(rowsOf(40), (rows) => {
    const ridge = new Ridge(2, linear({ window: 5 }));
    const outlier = Float64Array.of(1, 1e9, 1);
    ridge.learn(0, outlier, 1e9);
    for (let i = 0; i < 11; i++) ridge.learn(1, QUERY, 0);
    for (const { index, x, reward } of rows) ridge.learn(index, x, reward);
    const last = [...Array(5).fill({ index: 1, x: QUERY, reward: 0 }), ...rows];
    assertSolves(ridge, last.slice(-5).map((row) => [row, 1]));
    assertEquals(ridge.total, 5);
  }));
});

Deno.test("the estimated noise is that of the residuals of ridge regression", () => {
  fc.assert(fc.property(rowsOf(30), (rows) => {
    const ridge = new Ridge(2, linear());
    assertEquals(ridge.noise, 1);
    for (const { index, x, reward } of rows) ridge.learn(index, x, reward);
    let squares = rows.reduce((sum, it) => sum + it.reward ** 2, 0);
    for (const index of [0, 1]) {
      const { moment } = ridge.regression(index);
      if (moment.length === 0) continue;
      const own = rows.filter((it) => it.index === index);
      const { weights } = solve(own.map((it) => [it, 1]), 1);
      squares -= dot(moment, weights);
    }
    const expected = Math.sqrt(Math.max(0, squares) / rows.length);
    if (expected > 1e-6) assertAlmostEquals(ridge.noise, expected, 1e-7);
  }));
});

Deno.test("a logistic step is at the mode", () => {
  const reward = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(fc.property(rowsOf(10), reward, (rows, last) => {
    const ridge = new Ridge(1, linear({ logistic: true }));
    const learned = rows.map((it) => [it.x, (it.reward + 2) / 4] as const);
    for (const [x, y] of learned) ridge.learn(0, x, y);
    const before = ridge.save();
    const earlier = Ridge.of(before, ridge.settings);
    ridge.learn(0, QUERY, last);
    // H (new - old) = (y - p(new)) x, as the gradient is 0.
    const logit = ridge.mean(0, QUERY);
    const moved = logit - earlier.mean(0, QUERY);
    const expected = earlier.variance(0, QUERY) * (last - sigmoid(logit));
    assertAlmostEquals(moved, expected, 1e-9);
  }));
});

Deno.test("covariances stay inverses for 200,000 nearly collinear rows", () => {
  const random = new RandomStream(seedWords(0)), d = 32;
  const ridge = new Ridge(1, linear());
  const base = Array.from({ length: d }, () => random.normal());
  const draw = () =>
    Float64Array.from(base, (it) => it + 0.01 * random.normal());
  for (let i = 0; i < 200_000; i++) ridge.learn(0, draw(), random.normal());
  const { gram, covariance } = ridge.regression(0);
  for (let j = 0; j < d; j++) {
    const column = Float64Array.from({ length: d }, (_, i) => {
      const [row, at] = i >= j ? [i, j] : [j, i];
      return gram[packedLength(row) + at] + Number(i === j);
    });
    const product = timesVector(covariance, column);
    product.forEach((it, i) => assertAlmostEquals(it, Number(i === j), 1e-8));
  }
});

Deno.test("features of very unequal sizes are learned", () => {
  const ridge = new Ridge(1, linear());
  for (let i = 0; i < 5000; i++) {
    ridge.learn(0, Float64Array.of(1e8, 1e8 + i % 2, 1), 1);
  }
  assertAlmostEquals(ridge.mean(0, Float64Array.of(1e8, 1e8, 1)), 1, 0.1);
});

Deno.test("a variance is never below 0", () => {
  const ridge = new Ridge(1, linear());
  for (let i = 0; i < 3000; i++) {
    const x = Float64Array.of(1e9, 1e9 + i % 3, 1e-3 * (i % 7));
    ridge.learn(0, x, 1);
    assert(ridge.variance(0, x) >= 0);
    assert(ridge.variance(0, Float64Array.of(1e9, 1e9, 0)) >= 0);
  }
});

Deno.test("a removed regression leaves the others' rows", () => {
  fc.assert(fc.property(rowsOf(20), fc.boolean(), (rows, hasWindow) => {
    const settings = linear(hasWindow ? { window: 8 } : {});
    const ridge = new Ridge(2, settings);
    for (const { index, x, reward } of rows) ridge.learn(index, x, reward);
    const mean = ridge.mean(1, QUERY), variance = ridge.variance(1, QUERY);
    ridge.remove(0);
    assertEquals(ridge.count, 1);
    assertAlmostEquals(ridge.mean(0, QUERY), mean, 1e-9);
    assertAlmostEquals(ridge.variance(0, QUERY), variance, 1e-9);
    ridge.learn(0, QUERY, 1);
    assert(Number.isFinite(ridge.mean(0, QUERY)));
  }));
});

Deno.test("a loaded state goes on as the saved one, bit for bit", () => {
  const options = fc.constantFrom({}, { discount: 0.95 }, { window: 6 }, {
    logistic: true,
  });
  fc.assert(fc.property(rowsOf(30), options, (rows, options) => {
    const ridge = new Ridge(2, linear(options));
    const learn = (to: Ridge) => {
      for (const { index, x, reward } of rows) {
        to.learn(index, x, (reward + 2) / 4);
      }
    };
    learn(ridge);
    const other = Ridge.of(ridge.save(), ridge.settings);
    learn(ridge);
    learn(other);
    for (const index of [0, 1]) {
      assertEquals(other.mean(index, QUERY), ridge.mean(index, QUERY));
      assertEquals(other.variance(index, QUERY), ridge.variance(index, QUERY));
    }
    assertEquals(other.save(), ridge.save());
  }));
});

Deno.test("damaged states are refused", () => {
  const ridge = new Ridge(1, linear({ window: 3 }));
  ridge.learn(0, QUERY, 1);
  const saved = () => ridge.save() as Record<string, never>;
  const sums = { gram: new Float64Array(6), moment: new Float64Array(3) };
  const damages: Record<string, unknown>[] = [
    { numbers: null },
    { numbers: Float64Array.of(NaN, 0, 0, 3) },
    { numbers: Float64Array.of(1, 0, -1, 3) },
    { numbers: Float64Array.of(1, 0, 0, 2.5) },
    { regressions: [] },
    { regressions: [{ ...sums, gram: new Float64Array(5) }] },
    { regressions: [{ ...sums, gram: new Float64Array(6).fill(-1) }] },
    { regressions: [{ ...sums, moment: new Float64Array(3).fill(NaN) }] },
    { regressions: [7] },
    { rows: null },
    { rows: new Float64Array(5) },
    { rows: Float64Array.of(3, 1, 1, 0, 1, 0, 0) },
  ];
  for (const damage of damages) {
    const state = { ...saved(), ...damage } as never;
    assertThrows(() => Ridge.of(state, ridge.settings), TypeError, "damaged");
  }
  assertThrows(() => Ridge.of(null, ridge.settings), TypeError, "damaged");
});

Deno.test("collinear features are learned with a prior of next to nothing", () => {
  const random = new RandomStream(seedWords(1));
  for (const lambda of [1e-8, 1e-12, 1e-30]) {
    const ridge = new Ridge(1, linear({ lambda, noise: 1 }));
    const sums = [0, 0], counts = [0, 0];
    for (let i = 0; i < 3000; i++) {
      const k = i % 2, x = Float64Array.of(1, 1 - k, k);
      const reward = k + random.uniform();
      ridge.learn(0, x, reward);
      sums[k] += reward;
      counts[k]++;
      if (i < 100) continue;
      assertAlmostEquals(ridge.mean(0, x), sums[k] / counts[k], 1e-3);
      assertAlmostEquals(ridge.variance(0, x) * counts[k], 1, 0.02);
    }
  }
});
