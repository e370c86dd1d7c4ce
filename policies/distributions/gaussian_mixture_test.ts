import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { gaussianMixture } from "./gaussian_mixture.ts";
import { squashedGaussian } from "./continuous.ts";
import { assertClose } from "../testdata/assertions.ts";
import { testOnBackends as test, values } from "../testdata/backends.ts";
import { testContinuous } from "../testdata/continuous_properties.ts";
import { noiseFor, testSampling } from "../testdata/distribution_properties.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

const cases = {
  "gaussianMixture(2)": gaussianMixture(2),
  "gaussianMixture(6) of 3 as [2, 3]": gaussianMixture(6, {
    components: 3,
    shape: [2, 3],
  }),
  "gaussianMixture(1) of 1 as a number": gaussianMixture(1, {
    components: 1,
    shape: [],
  }),
  "gaussianMixture(2) without tanh": gaussianMixture(2, { squash: false }),
};
for (const [name, distribution] of Object.entries(cases)) {
  testSampling(name, distribution);
}

/** Log-weight, means, logarithms of the deviations, by component. */
const TWO = [[0.3, 1.2, -0.7, -0.4, 0.1], [-0.5, -0.8, 0.4, -0.1, -0.9]];

testContinuous("a mixture of three", {
  distribution: gaussianMixture(1, { components: 3 }),
  parameters: [0, 1.5, -0.5, Math.log(2), -1, -0.2, Math.log(0.3), 3, -1],
});
testContinuous("a mixture over two numbers", {
  distribution: gaussianMixture(2, { components: 2 }),
  parameters: TWO.flat(),
});
testContinuous("a mixture without tanh", {
  distribution: gaussianMixture(1, { components: 2, squash: false }),
  parameters: [0, 2, 0, 1, -2, 0.3],
  squash: false,
});

/** `log p(x)` of a mixture before the tanh, in doubles. */
function mixtureLogProb(components: number[][], x: readonly number[]): number {
  const size = x.length;
  const densities = components.map(([w, ...rest]) =>
    x.reduce((sum, x, i) => {
      const z = (x - rest[i]) * Math.exp(-rest[size + i]);
      return sum - 0.5 * z * z - rest[size + i] - 0.5 * Math.log(2 * Math.PI);
    }, w)
  );
  const sumExp = (xs: number[]) =>
    Math.log(xs.reduce((sum, x) => sum + Math.exp(x), 0));
  return sumExp(densities) - sumExp(components.map(([w]) => w));
}

const squashed = (x: readonly number[]) =>
  x.reduce((sum, x) => sum - Math.log(Math.cosh(x) ** -2), 0);

/** What the noise makes of a component. */
function rawOf(component: readonly number[], noise: readonly number[]) {
  const size = noise.length;
  return noise.map((z, i) =>
    component[1 + i] + Math.exp(component[1 + size + i]) * z
  );
}

/** Central differences of a function of the parameters, in doubles. */
function numericGradient(
  f: (components: number[][]) => number,
  components: number[][],
): number[] {
  const step = 1e-5;
  return components.flatMap((row, k) =>
    row.map((_, i) => {
      const [above, below] = [step, -step].map((by) =>
        f(components.map((it, at) =>
          at === k ? it.map((x, j) => j === i ? x + by : x) : it
        ))
      );
      return (above - below) / (2 * step);
    })
  );
}

for (const component of [0, 1]) {
  for (const reparameterize of [true, false]) {
    test(
      `component ${component}, ${
        reparameterize ? "moving" : "fixed"
      }: value and gradient`,
      () => {
        const noise = [0.6, -1.1];
        const mixture = gaussianMixture(2, { components: 2 });
        const sample = (p: tf.Tensor) =>
          mixture.sampleComponent(p as tf.Tensor2D, {
            component: tf.tensor1d([component], "int32"),
            noise: tf.tensor2d([noise]),
            reparameterize,
          });
        const parameters = tf.tensor2d([TWO.flat()]);
        const fixed = rawOf(TWO[component], noise);
        const expected = (components: number[][]) => {
          const x = reparameterize
            ? rawOf(components[component], noise)
            : fixed;
          return mixtureLogProb(components, x) + squashed(x);
        };
        const { raw, logProb } = sample(parameters);
        assertClose(raw, fixed, 1e-6);
        assertClose(logProb, [expected(TWO)], 1e-6);
        assertClose(
          tf.grad((p) => sample(p).logProb)(parameters),
          numericGradient(expected, TWO),
          1e-5,
        );
      },
    );
  }
}

test("gradients reach the action only through the component", () => {
  const mixture = gaussianMixture(1, { components: 2, squash: false });
  const parameters = tf.tensor2d([[0, 1, 0.5, 0, -1, -0.5]]);
  const gradient = (reparameterize?: boolean) =>
    values(
      tf.grad((p) =>
        mixture.sampleWithLogProb(
          p as tf.Tensor2D,
          tf.tensor2d([[2, 1]]), // Phi(1) = 0.84: the second component
          { reparameterize },
        ).action
      )(parameters),
    );
  assertEquals(gradient(), [0, 0, 0, 0, 0, 0]);
  assertClose(gradient(true), [0, 0, 0, 0, 1, 2 * Math.exp(-0.5)]);
});

test("components are chosen as often as they weigh", () => {
  const rows = 20_000;
  const mixture = gaussianMixture(1, { components: 4 });
  const weights = [0.5, 0.05, 0.15, 0.3];
  const means = [-3, -1, 1, 3];
  const row = weights.flatMap((w, k) => [Math.log(w) + 2, means[k], -20]);
  const parameters = tf.tile(tf.tensor2d([row]), [rows, 1]) as tf.Tensor2D;
  const { raw } = mixture.sampleWithLogProb(
    parameters,
    noiseFor(mixture, rows),
  );
  const chosen = values(raw).map((x) => Math.round((x + 3) / 2));
  weights.forEach((weight, k) => {
    const often = chosen.filter((it) => it === k).length / rows;
    const deviation = Math.sqrt(weight * (1 - weight) / rows);
    assert(Math.abs(often - weight) < 4 * deviation, `${often} of ${weight}`);
  });
});

test("the ends of the noise choose the first and the last", () => {
  const mixture = gaussianMixture(1, { components: 3, squash: false });
  const row = [0, 1, -20, 0, 2, -20, 0, 3, -20];
  const parameters = tf.tensor2d([row, row]);
  const noise = tf.tensor2d([[0, -40], [0, 40]]);
  assertEquals(values(mixture.sample(parameters, noise)), [1, 3]);
});

test("nothing breaks with far and narrow components", () => {
  const mixture = gaussianMixture(1, { components: 2 });
  const parameters = tf.tensor2d([[-60, 30, -20, 60, -30, 2]]);
  const noise = tf.tensor2d([[-2.5, -3]]);
  for (const reparameterize of [true, false]) {
    const score = (p: tf.Tensor) =>
      mixture.sampleWithLogProb(p as tf.Tensor2D, noise, { reparameterize })
        .logProb;
    assert(values(score(parameters)).every(Number.isFinite));
    assert(values(tf.grad(score)(parameters)).every(Number.isFinite));
  }
});

test("a mixture of one is a squashed Gaussian", () => {
  const one = gaussianMixture(2, { components: 1 });
  const gaussian = squashedGaussian(2);
  const noise = noiseFor(one, 10);
  const parameters = noiseFor({ noise: { kind: "normal", size: 4 } }, 10, 9);
  const weighted = tf.concat([tf.ones([10, 1]), parameters], 1) as tf.Tensor2D;
  const two = tf.slice(noise, [0, 0], [-1, 2]);
  const [a, b] = [
    one.sampleWithLogProb(weighted, noise),
    gaussian.sampleWithLogProb(parameters, two),
  ];
  for (const key of ["action", "logProb", "raw"] as const) {
    assertClose(a[key], values(b[key]));
  }
  assertClose(
    one.regularization(weighted),
    values(gaussian.regularization(parameters)),
  );
});

test("the mode is the mean of the heaviest component", () => {
  const mixture = gaussianMixture(2, { components: 2 });
  const parameters = tf.tensor2d([[0, 1, 2, 0, 0, 0.5, -1, -2, 0, 0]]);
  const heaviest = [-1, -2].map(Math.tanh);
  assertClose(mixture.mode(parameters), heaviest, 1e-6);
});

Deno.test("what has no closed form says so", () => {
  const mixture = gaussianMixture(1);
  const parameters = tf.zeros([1, mixture.parameterSize]) as tf.Tensor2D;
  assertRefused({
    "TypeError: Cannot compute the entropy of a Gaussian mixture": () =>
      mixture.entropy(parameters),
    "TypeError: Cannot compute the divergence of a Gaussian mixture": () =>
      mixture.klDivergence(parameters, parameters),
  });
  parameters.dispose();
});

Deno.test("sizes that do not fit are refused", () => {
  for (const [size, components] of [[0, 1], [1, 0], [1, 1.5]]) {
    assertRefused({
      [`RangeError: mixture of ${components} Gaussians over ${size} numbers`]:
        () => gaussianMixture(size, { components }),
    });
  }
});
