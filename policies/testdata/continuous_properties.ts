import { assert } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import type { ReparameterizedDistribution } from "../distributions/distribution.ts";
import { assertClose, assertNoLeaks } from "./assertions.ts";
import { testOnBackends, values } from "./backends.ts";
import { testCompiled } from "./compiled.ts";
import { noiseFor } from "./distribution_properties.ts";

/** Points of a grid: actions, what is before the tanh, and their shares. */
interface Grid {
  readonly raw: tf.Tensor2D;
  readonly actions: tf.Tensor2D;
  /** Size of the action's cell. */
  readonly cells: Float64Array;
}

/** What a distribution is tested with. */
export interface ContinuousCase {
  readonly distribution: ReparameterizedDistribution;
  /** One row of parameters. */
  readonly parameters: readonly number[];
  /** Whether actions are the tanh of what is before. */
  readonly squash?: boolean;
  /** The numbers before the tanh that are of any weight are up to this. */
  readonly reach?: number;
}

/** Midpoints of so many intervals on an axis. */
function midpoints(points: number, reach: number): number[] {
  const width = 2 * reach / points;
  return Array.from({ length: points }, (_, i) => (i + 0.5) * width - reach);
}

/** A grid over one or two numbers, whose cells are equal before the tanh. */
function gridOf(
  size: number,
  points: number,
  { squash = true, reach = 8 }: ContinuousCase,
): Grid {
  const axis = midpoints(points, reach);
  const width = 2 * reach / points;
  const rows = size === 1
    ? axis.map((x) => [x])
    : axis.flatMap((x) => axis.map((y) => [x, y]));
  const slope = (x: number) => squash ? Math.cosh(x) ** -2 : 1;
  const action = (x: number) => squash ? Math.tanh(x) : x;
  return {
    raw: tf.tensor2d(rows),
    actions: tf.tensor2d(rows.map((row) => row.map(action))),
    cells: Float64Array.from(
      rows,
      (row) => row.reduce((cell, x) => cell * width * slope(x), 1),
    ),
  };
}

function repeat(row: readonly number[], times: number): tf.Tensor2D {
  const one = tf.tensor2d(row as number[], [1, row.length]);
  return tf.tile(one, [times, 1]);
}

const sizeOf = ({ distribution }: ContinuousCase) =>
  distribution.actionShape.reduce((a, b) => a * b, 1);

/** Tests of a density and of samples from it, for one or two numbers. */
export function testContinuous(name: string, it: ContinuousCase): void {
  const { distribution, parameters } = it;
  const size = sizeOf(it);

  testOnBackends(`${name}: the density integrates to 1`, () => {
    const { raw, actions, cells } = gridOf(size, size === 1 ? 4000 : 300, it);
    const rows = repeat(parameters, cells.length);
    const integral = (logProb: tf.Tensor1D) =>
      values(logProb).reduce((sum, l, i) => sum + Math.exp(l) * cells[i], 0);
    assertClose([integral(distribution.logProbOfRaw(rows, raw))], [1], 2e-5);
    // Close to 1 and -1 actions are rounded to float32.
    assertClose([integral(distribution.logProb(rows, actions))], [1], 2e-4);
  });

  testOnBackends(`${name}: samples match the density`, () => {
    const samples = 20_000, bins = size === 1 ? 20 : 5;
    const rows = repeat(parameters, samples);
    const { raw } = distribution.sampleWithLogProb(
      rows,
      noiseFor(distribution, samples, 7),
    );
    const counts = binned(values(raw), { size, bins, it });
    const likely = binProbabilities(it, bins);
    assertSameFrequencies(counts, likely, samples);
  });

  testOnBackends(`${name}: log-probabilities agree with each other`, () => {
    const rows = repeat(parameters, 200);
    const noise = noiseFor(distribution, 200, 3);
    const sampled = distribution.sampleWithLogProb(rows, noise);
    assertClose(distribution.sample(rows, noise), values(sampled.action));
    const expected = values(sampled.logProb);
    assertClose(distribution.logProbOfRaw(rows, sampled.raw), expected, 1e-4);
    const fixed = distribution.sampleWithLogProb(rows, noise, {
      reparameterize: false,
    });
    assertClose(fixed.logProb, expected, 1e-5);
    // Close to 1 and -1 actions are rounded to float32.
    const far = values(tf.max(tf.abs(sampled.raw), 1));
    const again = values(distribution.logProb(rows, sampled.action));
    const near = far.flatMap((x, i) => x < 4 ? [i] : []);
    assert(near.length > 50);
    assertClose(near.map((i) => again[i]), near.map((i) => expected[i]), 1e-3);
  });

  testOnBackends(`${name}: nothing is left behind`, () => {
    const rows = repeat(parameters, 3);
    const noise = noiseFor(distribution, 3);
    const { raw } = distribution.sampleWithLogProb(rows, noise);
    assertNoLeaks(() => ({ ...distribution.sampleWithLogProb(rows, noise) }));
    assertNoLeaks(() => ({
      logProb: distribution.logProbOfRaw(rows, raw),
      regularization: distribution.regularization(rows),
    }));
  });

  for (const reparameterize of [true, false]) {
    testCompiled(
      `${name}: samples and gradients, ${reparameterize ? "moving" : "fixed"}`,
      () => ({
        rows: repeat(parameters, 40),
        noise: noiseFor(distribution, 40, 5),
      }),
      ({ rows, noise }) =>
        sampleWithGradients(distribution, { rows, noise, reparameterize }),
    );
  }

  testCompiled(
    `${name}: log-probabilities and the mode`,
    () => ({
      rows: repeat(parameters, 40),
      actions: tf.linspace(-0.95, 0.95, 40 * size)
        .reshape([40, ...distribution.actionShape]),
    }),
    ({ rows, actions }) => ({
      logProb: distribution.logProb(rows as tf.Tensor2D, actions),
      mode: distribution.mode(rows as tf.Tensor2D),
      regularization: distribution.regularization(rows as tf.Tensor2D),
    }),
  );
}

/** A sample, and the gradient of a sum of all that it consists of. */
function sampleWithGradients(
  distribution: ReparameterizedDistribution,
  { rows, noise, reparameterize }: {
    rows: tf.Tensor;
    noise: tf.Tensor;
    reparameterize: boolean;
  },
): Record<string, tf.Tensor> {
  const sample = (rows: tf.Tensor) =>
    distribution.sampleWithLogProb(rows as tf.Tensor2D, noise as tf.Tensor2D, {
      reparameterize,
    });
  const score = (rows: tf.Tensor) => {
    const { action, logProb } = sample(rows);
    return tf.add(tf.sum(logProb), tf.mul(tf.sum(action), 3));
  };
  // A distribution without parameters has no gradient.
  const gradient = rows.size > 0 && { gradient: tf.grad(score)(rows) };
  return { ...sample(rows), ...gradient };
}

/** How many rows fall into each bin; bins are equal before the tanh. */
function binned(
  raw: readonly number[],
  { size, bins, it }: { size: number; bins: number; it: ContinuousCase },
): number[] {
  const { reach = 8 } = it;
  const counts = new Array(bins ** size).fill(0);
  for (let i = 0; i < raw.length; i += size) {
    const bin = raw.slice(i, i + size).reduce((index, x) => {
      const at = Math.floor((x + reach) / (2 * reach) * bins);
      return index * bins + Math.max(0, Math.min(at, bins - 1));
    }, 0);
    counts[bin]++;
  }
  return counts;
}

/** How likely each bin is, by the integral of the density over it. */
function binProbabilities(it: ContinuousCase, bins: number): number[] {
  const { distribution, parameters } = it;
  const size = sizeOf(it);
  const inside = 40;
  const { raw, cells } = gridOf(size, bins * inside, it);
  const rows = repeat(parameters, cells.length);
  const logProb = values(distribution.logProbOfRaw(rows, raw));
  const likely = new Array(bins ** size).fill(0);
  logProb.forEach((l, i) => {
    const axis = bins * inside;
    const at = size === 1 ? [i] : [Math.floor(i / axis), i % axis];
    const bin = at.reduce((b, k) => b * bins + Math.floor(k / inside), 0);
    likely[bin] += Math.exp(l) * cells[i];
  });
  return likely;
}

/** Pearson's chi-squared test, at five deviations of its distribution. */
function assertSameFrequencies(
  counts: readonly number[],
  probabilities: readonly number[],
  samples: number,
): void {
  let statistic = 0, freedom = -1, rest = 0, restExpected = 0;
  counts.forEach((count, i) => {
    const expected = probabilities[i] * samples;
    if (expected < 5) {
      rest += count;
      restExpected += expected;
      return;
    }
    statistic += (count - expected) ** 2 / expected;
    freedom++;
  });
  assert(freedom >= 4, `only ${freedom + 1} bins are likely`);
  assert(
    statistic < freedom + 5 * Math.sqrt(2 * freedom),
    `chi-squared is ${statistic} for ${freedom} degrees of freedom`,
  );
  assert(rest < restExpected + 5 * Math.sqrt(restExpected) + 5);
}
