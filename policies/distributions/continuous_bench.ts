/**
 * Samples with log-probabilities and their gradient, compiled, compared with the same
 * numbers as one would write them from the formulas: the action is sampled, and
 * its log-probability computed from it.
 */
import { compile, selectBackend } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import type { ReparameterizedDistribution } from "./distribution.ts";
import { gaussianMixture } from "./gaussian_mixture.ts";
import { squashedGaussian } from "./continuous.ts";
import { seededRandom } from "../testdata/random.ts";

await selectBackend("cpu");

const BATCH = 256, SIZE = 6;

type Sampler = Pick<ReparameterizedDistribution, "sampleWithLogProb">;

const gaussian = squashedGaussian(SIZE);

const fromTheAction: Sampler = {
  sampleWithLogProb(parameters, noise) {
    const raw = tf.atanh(gaussian.sample(parameters, noise)) as tf.Tensor2D;
    const action = tf.tanh(raw);
    return { action, logProb: gaussian.logProb(parameters, action), raw };
  },
};

/** A function of a sample, with its gradient. */
function scored(
  { sampleWithLogProb }: Sampler,
  { parameters, noise }: { parameters: tf.Tensor; noise: tf.Tensor },
) {
  const score = (parameters: tf.Tensor): tf.Scalar => {
    const { action, logProb } = sampleWithLogProb(
      parameters as tf.Tensor2D,
      noise as tf.Tensor2D,
      { reparameterize: true },
    );
    return tf.add(tf.mean(logProb), tf.mean(action));
  };
  return tf.valueAndGrad(score)(parameters);
}

for (
  const [name, sampler, parameterSize, noiseSize] of [
    ["squashed Gaussian", gaussian, 2 * SIZE, SIZE],
    ["squashed Gaussian, from the action", fromTheAction, 2 * SIZE, SIZE],
    [
      "mixture of 4",
      gaussianMixture(SIZE),
      4 * (1 + 2 * SIZE),
      SIZE + 1,
    ],
  ] as const
) {
  const matrix = (columns: number) =>
    ({ shape: [BATCH, columns], dtype: "float32" }) as const;
  const run = compile((inputs) => scored(sampler, inputs), {
    inputs: { parameters: matrix(parameterSize), noise: matrix(noiseSize) },
    engine: "onnx",
    threads: 1,
  });
  const random = seededRandom(1);
  const normal = (columns: number) =>
    Float32Array.from({ length: BATCH * columns }, () => random.normal());
  const given = { parameters: normal(parameterSize), noise: normal(noiseSize) };
  Deno.bench(`${name}: sample and gradient, [${BATCH}, ${SIZE}]`, () => {
    run.run(given);
  });
}
