import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { diagonalGaussian, squashedGaussian } from "./continuous.ts";
import { assertClose } from "../testdata/assertions.ts";
import { testOnBackends as test, values } from "../testdata/backends.ts";
import {
  noiseFor,
  testAnyDistribution,
  testClosedForms,
  testSampling,
} from "../testdata/distribution_properties.ts";
import { testCompiled } from "../testdata/compiled.ts";
import { testContinuous } from "../testdata/continuous_properties.ts";

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

test("integrals are what they should be", () => {
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
        assertClose(distribution.entropy(P), [integral((i) => -p[i])], 1e-4);
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

test("the density is the product over the numbers", () => {
  const [mean, std, x] = [[1, -2], [2, 0.5], [0, -1.5]];
  const density = mean.map((m, i) =>
    Math.exp(-0.5 * ((x[i] - m) / std[i]) ** 2) /
    (std[i] * Math.sqrt(2 * Math.PI))
  );
  const parameters = tf.tensor2d([[...mean, ...std.map(Math.log)]]);
  const logProb = diagonalGaussian(2).logProb(parameters, tf.tensor2d([x]));
  assertClose(logProb, [Math.log(density[0] * density[1])], 1e-6);
});

test("samples have the mean and the deviation", () => {
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

test("gradients are finite for small and large deviations", () => {
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

const cases = {
  "squashedGaussian(2)": squashedGaussian(2),
  "squashedGaussian(6) as [2, 3]": squashedGaussian(6, { shape: [2, 3] }),
  "squashedGaussian(1) as a number": squashedGaussian(1, { shape: [] }),
  "squashedGaussian(2) with epsilon": squashedGaussian(2, {
    squashCorrection: "epsilon",
  }),
};
for (const [name, distribution] of Object.entries(cases)) {
  testSampling(name, distribution);
  testClosedForms(name, distribution);
}

testContinuous("a squashed Gaussian of one number", {
  distribution: squashedGaussian(1),
  parameters: [0.4, Math.log(0.8)],
});
testContinuous("a wide squashed Gaussian", {
  distribution: squashedGaussian(1, { shape: [] }),
  parameters: [-0.5, Math.log(1.4)],
});
testContinuous("a squashed Gaussian of two numbers", {
  distribution: squashedGaussian(2),
  parameters: [0.4, -1, Math.log(1.2), Math.log(0.9)],
});

const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);

/** `log(1 - tanh(x)^2)` in doubles. */
function logSlope(x: number): number {
  const far = Math.abs(x);
  return 2 * (Math.LN2 - far - Math.log1p(Math.exp(-2 * far)));
}

const slopes = {
  exact: logSlope,
  epsilon: (x: number) => Math.log(Math.exp(logSlope(x)) + 1e-6),
};

/** Derivative of {@link slopes}. */
const slopeGradients = {
  exact: (x: number) => -2 * Math.tanh(x),
  epsilon: (x: number) => {
    const slope = Math.exp(logSlope(x));
    return -2 * Math.tanh(x) * slope / (slope + 1e-6);
  },
};

for (const squashCorrection of ["exact", "epsilon"] as const) {
  test(`${squashCorrection}: exact to |x| = 30, and its gradient`, () => {
    const distribution = squashedGaussian(1, { squashCorrection });
    const rows = [
      -30,
      -20,
      -12,
      -8.5,
      -5,
      -1,
      -1e-4,
      0,
      1e-3,
      2,
      7,
      10,
      25,
      30,
    ]
      .flatMap((x) => [-3, 0, 1.5].map((logStd) => ({ x, logStd, z: 0.75 })));
    const means = rows.map(({ x, logStd, z }) =>
      Math.fround(x - Math.exp(logStd) * z)
    );
    const parameters = tf.tensor2d(
      rows.map(({ logStd }, i) => [means[i], logStd]),
    );
    const noise = tf.tensor2d(rows.map(({ z }) => [z]));
    const raw = rows.map(({ logStd, z }, i) =>
      means[i] + Math.exp(Math.fround(logStd)) * z
    );
    const score = (p: tf.Tensor) =>
      distribution.sampleWithLogProb(p as tf.Tensor2D, noise).logProb;
    const expected = rows.map(({ logStd, z }, i) =>
      -0.5 * z * z - logStd - HALF_LOG_TWO_PI -
      slopes[squashCorrection](raw[i])
    );
    assertClose(score(parameters), expected, 1e-6);
    assertClose(
      distribution.logProbOfRaw(
        parameters,
        tf.tensor2d(raw, [raw.length, 1]),
      ),
      expected,
      1e-5,
    );
    const gradients = rows.flatMap(({ logStd, z }, i) => {
      const slope = -slopeGradients[squashCorrection](raw[i]);
      return [slope, slope * Math.exp(logStd) * z - 1];
    });
    assertClose(tf.grad(score)(parameters), gradients, 2e-6);
  });
}

test("a constant sample has the score as its gradient", () => {
  const distribution = squashedGaussian(2);
  const [mean, logStd, z] = [[0.5, -2], [-1, 0.25], [0.75, -1.5]];
  const parameters = tf.tensor2d([[...mean, ...logStd]]);
  const noise = tf.tensor2d([z]);
  const of = (key: "logProb" | "action") => (p: tf.Tensor) =>
    distribution.sampleWithLogProb(p as tf.Tensor2D, noise, {
      reparameterize: false,
    })[key];
  assertClose(tf.grad(of("logProb"))(parameters), [
    ...z.map((z, i) => z / Math.exp(logStd[i])),
    ...z.map((z) => z * z - 1),
  ]);
  assertEquals(values(tf.grad(of("action"))(parameters)), [0, 0, 0, 0]);
});

test("noise may come from a computation that is tidied away", () => {
  const distribution = squashedGaussian(1);
  const score = (p: tf.Tensor) =>
    tf.tidy(() =>
      distribution.sampleWithLogProb(
        p as tf.Tensor2D,
        tf.add(tf.ones([1, 1]), 1),
        { reparameterize: false },
      ).logProb
    );
  assertClose(tf.grad(score)(tf.zeros([1, 2])), [2, 3]);
});

test("the entropy is the mean of -logProb", () => {
  const number = fc.integer({ min: -100, max: 100 });
  const distribution = squashedGaussian(1);
  fc.assert(
    fc.property(number, number, (m, s) => {
      const [mean, logStd] = [m / 10, s / 40 - 0.5];
      const std = Math.exp(logStd), points = 20_000;
      // Midpoints over nine deviations either side, in doubles.
      let spread = 0;
      for (let i = 0; i < points; i++) {
        const z = 18 * (i + 0.5) / points - 9;
        const density = Math.exp(-0.5 * z * z - HALF_LOG_TWO_PI);
        spread += density * logSlope(mean + std * z) * 18 / points;
      }
      const expected = logStd + 0.5 + HALF_LOG_TWO_PI + spread;
      tf.tidy(() => {
        const row = tf.tensor2d([[mean, logStd]]);
        assertClose(distribution.entropy(row), [expected], 2e-6);
      });
    }),
    { numRuns: 30, seed: 8 },
  );
});

test("the divergence is that of the Gaussians", () => {
  const [p, q] = [1, 2].map((seed) =>
    tf.clipByValue(
      noiseFor({ noise: { kind: "normal", size: 4 } }, 20, seed),
      -2,
      2,
    )
  ) as tf.Tensor2D[];
  assertClose(
    squashedGaussian(2).klDivergence(p, q),
    values(diagonalGaussian(2).klDivergence(p, q)),
    1e-6,
  );
});

test("deviations are clipped, with no gradient outside", () => {
  const distribution = squashedGaussian(1, { logStdBounds: [-2, 1] });
  const inside = [-2, -2, -1.999, 1, 1];
  const parameters = tf.tensor2d([-9, -2, -1.999, 1, 7].map((s) => [0.3, s]));
  const clipped = tf.tensor2d(inside.map((s) => [0.3, s]));
  const noise = tf.tensor2d([[1], [-1], [0.5], [-0.25], [2]]);
  const logProb = (p: tf.Tensor) =>
    distribution.sampleWithLogProb(p as tf.Tensor2D, noise).logProb;
  assertEquals(values(logProb(parameters)), values(logProb(clipped)));
  for (const  of of["entropy", "regularization"] as const) {
    const [actual, expected] = [parameters, clipped].map((it) =>
      values(distribution[of](it))
    );
    assertEquals(actual, expected);
  }
  const moved = values(tf.grad(logProb)(parameters))
    .flatMap((slope, i) => i % 2 === 1 ? [slope !== 0] : []);
  assertEquals(moved, [false, true, true, true, false]);
});

test("actions at the bounds are moved inside", () => {
  const distribution = squashedGaussian(1);
  const parameters = tf.tensor2d([[0, 0.5], [0, 0.5]]);
  const actions = tf.tensor2d([[1], [-1]]);
  const x = Math.atanh(1 - 2 ** -24);
  const expected = -0.5 * (x / Math.exp(0.5)) ** 2 - 0.5 - HALF_LOG_TWO_PI -
    logSlope(x);
  assertClose(
    distribution.logProb(parameters, actions),
    [expected, expected],
    1e-6,
  );
  const gradient = tf.grad((a) => distribution.logProb(parameters, a))(actions);
  assert(values(gradient).every(Number.isFinite));
});

test("the mode is the tanh of the mean", () => {
  const mode = squashedGaussian(2).mode(tf.tensor2d([[0.5, -40, 1, 1]]));
  assertClose(mode, [Math.tanh(0.5), -1], 1e-6);
});

test("regularization is as in the original", () => {
  const row = tf.tensor2d([[1, -2, 0.5, -30]]);
  assertClose(squashedGaussian(2).regularization(row), [
    0.5 * (1 + 4) / 2 + 0.5 * (0.25 + 400) / 2,
  ]);
});

testCompiled("entropy and divergence", () => ({
  p: noiseFor({ noise: { kind: "normal", size: 4 } }, 7, 1),
  q: noiseFor({ noise: { kind: "normal", size: 4 } }, 7, 2),
}), ({ p, q }) => {
  const distribution = squashedGaussian(2);
  const [P, Q] = [p, q] as tf.Tensor2D[];
  return {
    entropy: distribution.entropy(P),
    divergence: distribution.klDivergence(P, Q),
    gradient: tf.grad((p) => distribution.entropy(p as tf.Tensor2D))(P),
  };
});

Deno.test("sizes and bounds that do not fit are refused", () => {
  assertThrows(() => squashedGaussian(0), RangeError, "over 0 numbers");
  assertThrows(
    () => squashedGaussian(1, { logStdBounds: [2, -20] }),
    RangeError,
    "Cannot clip the logarithm of a deviation to [2, -20]",
  );
});
