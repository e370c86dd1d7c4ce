import { compile, type Engine } from "@bellman/compute";
import {
  diagonalGaussian,
  gaussianMixture,
  squashedGaussian,
} from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { checkEach, type Comparison, type Expected } from "./comparison.ts";

interface GaussianCase {
  name: string;
  inputs: { mu: number[][]; log_sig: number[][]; raw_actions: number[][] };
  expected: Record<string, Expected>;
}

interface MixtureCase {
  name: string;
  inputs: {
    log_w: number[][];
    mu: number[][][];
    log_sig: number[][][];
    component: number[];
    noise: number[][];
  };
  expected: Record<string, Expected>;
}

function runGaussian(
  it: GaussianCase,
  comparison: Comparison,
  engine: Engine,
): void {
  const { mu, log_sig, raw_actions } = it.inputs;
  const size = mu[0].length;
  const inputs = {
    mean: tf.tensor2d(mu),
    logStd: tf.tensor2d(log_sig),
    raw: tf.tensor2d(raw_actions),
  };
  const gaussian = diagonalGaussian(size);
  const squashed = squashedGaussian(size);
  const withEpsilon = squashedGaussian(size, { squashCorrection: "epsilon" });
  const results = compile(({ mean, logStd, raw }: typeof inputs) => {
    const parameters: tf.Tensor2D = tf.concat([mean, logStd], 1);
    const actions = squashed.mode(tf.concat([raw, logStd], 1));
    const normal = gaussian.logProb(parameters, raw);
    const exact = squashed.logProbOfRaw(parameters, raw);
    const epsilon = withEpsilon.logProbOfRaw(parameters, raw);
    const standard = tf.zeros([raw.shape[0], 2 * size]) as tf.Tensor2D;
    return {
      actions,
      gaussian_log_prob: normal,
      log_pi_exact: exact,
      log_pi_eps: epsilon,
      squash_correction_exact: tf.sub(normal, exact),
      squash_correction_eps: tf.sub(normal, epsilon),
      standard_normal_log_prob_of_action: gaussian.logProb(standard, actions),
      entropy_gaussian: gaussian.entropy(parameters),
    };
  }, { inputs, engine }).run(inputs);
  comparison.named(results, it.expected);
}

/** The fixture's `component_log_prob` is a part of `log_p`, not of any API. */
function runMixture(
  it: MixtureCase,
  comparison: Comparison,
  engine: Engine,
): void {
  const { log_w, mu, log_sig, component, noise } = it.inputs;
  const [size, components] = [noise[0].length, log_w[0].length];
  const rows = log_w.map((weights, i) =>
    weights.flatMap((weight, k) => [weight, ...mu[i][k], ...log_sig[i][k]])
  );
  const inputs = {
    parameters: tf.tensor2d(rows, undefined, "float32"),
    component: tf.tensor1d(component, "int32"),
    noise: tf.tensor2d(noise),
  };
  const [exact, withEpsilon, unsquashed] = [
    {},
    { squashCorrection: "epsilon" as const },
    { squash: false },
  ].map((options) => gaussianMixture(size, { components, ...options }));
  const results = compile(({ parameters, ...given }: typeof inputs) => {
    const sample = exact.sampleComponent(parameters, given);
    const { logProb } = withEpsilon.sampleComponent(parameters, given);
    return {
      raw_actions: sample.raw,
      actions: sample.action,
      log_p: unsquashed.sampleComponent(parameters, given).logProb,
      log_pi_exact: sample.logProb,
      log_pi_eps: logProb,
      reg_loss_per_reg: tf.mean(exact.regularization(parameters)),
    };
  }, { inputs, engine }).run(inputs);
  comparison.named(results, it.expected);
}

/** haarnoja/sac: log-probabilities of squashed Gaussians and mixtures. */
export const runner = checkEach({ gaussian: runGaussian, gmm: runMixture });
