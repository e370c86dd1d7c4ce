import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { diagonalGaussian } from "./diagonal_gaussian.ts";
import { assertClose } from "../testdata/assertions.ts";
import { testOnBackends, values } from "../testdata/backends.ts";
import {
  noiseFor,
  testAnyDistribution,
} from "../testdata/distribution_properties.ts";

testAnyDistribution("diagonalGaussian(2)", diagonalGaussian(2));
testAnyDistribution(
  "diagonalGaussian(6) as [2, 3]",
  diagonalGaussian(6, { shape: [2, 3] }),
);
testAnyDistribution(
  "diagonalGaussian(1) as a number",
  diagonalGaussian(1, { shape: [] }),
);

const number = fc.integer({ min: -100, max: 100 }).map((n) => n / 50);

testOnBackends("integrals are what they should be", () => {
  // Midpoints over ten deviations either side.
  const points = 2000;
  fc.assert(
    fc.property(number, number, number, number, (mean, logStd, m2, s2) => {
      tf.tidy(() => {
        const distribution = diagonalGaussian(1);
        const std = Math.exp(logStd);
        const width = 20 * std / points;
        const x = Float32Array.from(
          { length: points },
          (_, i) => mean - 10 * std + (i + 0.5) * width,
        );
        const log = (m: number, s: number) =>
          values(distribution.logProb(
            tf.tile(tf.tensor2d([[m, s]]), [points, 1]) as tf.Tensor2D,
            tf.tensor2d(x, [points, 1]),
          ));
        const p = log(mean, logStd);
        const q = log(m2, s2);
        const integral = (of: (i: number) => number) =>
          p.reduce((sum, l, i) => sum + Math.exp(l) * of(i) * width, 0);
        const [P, Q] = [tf.tensor2d([[mean, logStd]]), tf.tensor2d([[m2, s2]])];
        assertClose([integral(() => 1)], [1], 1e-4);
        assertClose(
          distribution.entropy(P),
          [integral((i) => -p[i])],
          1e-4,
        );
        assertClose(
          distribution.klDivergence(P, Q),
          [integral((i) => p[i] - q[i])],
          1e-3,
        );
      });
    }),
    { numRuns: 15, seed: 6 },
  );
});

testOnBackends("the density is the product over the numbers", () => {
  const [mean, std, x] = [[1, -2], [2, 0.5], [0, -1.5]];
  const density = mean.map((m, i) =>
    Math.exp(-0.5 * ((x[i] - m) / std[i]) ** 2) /
    (std[i] * Math.sqrt(2 * Math.PI))
  );
  const parameters = tf.tensor2d([[...mean, ...std.map(Math.log)]]);
  const logProb = diagonalGaussian(2).logProb(parameters, tf.tensor2d([x]));
  assertClose(logProb, [Math.log(density[0] * density[1])], 1e-6);
});

testOnBackends("samples have the mean and the deviation", () => {
  const rows = 4000;
  const distribution = diagonalGaussian(2);
  const parameters = tf.tile(
    tf.tensor2d([[1, -3, Math.log(0.5), Math.log(2)]]),
    [rows, 1],
  ) as tf.Tensor2D;
  const drawn = distribution.sample(parameters, noiseFor(distribution, rows));
  const { mean, variance } = tf.moments(drawn, 0);
  const [a, b] = values(mean);
  assert(Math.abs(a - 1) < 5 * 0.5 / Math.sqrt(rows));
  assert(Math.abs(b + 3) < 5 * 2 / Math.sqrt(rows));
  assertClose(variance, [0.25, 4], 0.1);
});

testOnBackends("gradients are finite for small and large deviations", () => {
  for (const logStd of [-20, 0, 20]) {
    const parameters = tf.tensor2d([[3, logStd]]);
    const other = tf.tensor2d([[-2, -logStd / 4]]);
    const distribution = diagonalGaussian(1);
    const gradients = [
      tf.grad((p) =>
        distribution.logProb(p as tf.Tensor2D, tf.tensor2d([[3.5]]))
      )(parameters),
      tf.grad((p) => distribution.entropy(p as tf.Tensor2D))(parameters),
      tf.grad((p) => distribution.klDivergence(p as tf.Tensor2D, other))(
        parameters,
      ),
    ];
    for (const gradient of gradients) {
      assert(values(gradient).every(Number.isFinite));
    }
    assertEquals(values(gradients[1]), [0, 1]);
  }
});

Deno.test("a Gaussian distribution needs numbers", () => {
  assertThrows(
    () => diagonalGaussian(0),
    RangeError,
    "Cannot make a Gaussian distribution over 0 numbers",
  );
});
