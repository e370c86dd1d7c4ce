import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  sampleStateDependent,
  stateDependentLogStd,
} from "./state_dependent_exploration.ts";
import { assertClose, assertNoLeaks } from "../testdata/assertions.ts";
import { testOnBackends, values } from "../testdata/backends.ts";
import { noiseFor } from "../testdata/distribution_properties.ts";

const LATENT = [[1, -2, 0.5], [0.25, 3, -1]];
const LOG_STD = [[0.1, -1], [0.5, -0.5], [-2, 1]];

testOnBackends("variances are sums over the features", () => {
  const expected = LATENT.flatMap((latent) =>
    [0, 1].map((action) => {
      const variance = latent.reduce(
        (sum, x, i) => sum + x * x * Math.exp(2 * LOG_STD[i][action]),
        1e-6,
      );
      return 0.5 * Math.log(variance);
    })
  );
  const logStd = stateDependentLogStd(
    tf.tensor2d(LATENT),
    tf.tensor2d(LOG_STD),
  );
  assertClose(logStd, expected);
});

testOnBackends("samples have the deviations of the formula", () => {
  const rows = 5000;
  const latent = tf.tile(tf.tensor2d([LATENT[1]]), [rows, 1]) as tf.Tensor2D;
  const logStd = tf.tensor2d(LOG_STD);
  const noise = noiseFor({ noise: { kind: "normal", size: 6 } }, rows);
  const mean = tf.fill([rows, 2], 3) as tf.Tensor2D;
  const actions = sampleStateDependent(mean, logStd, { latent, noise });
  const moments = tf.moments(actions, 0);
  const expected = values(
    stateDependentLogStd(tf.tensor2d([LATENT[1]]), logStd),
  );
  values(moments.mean).forEach((m, i) => {
    const error = Math.exp(expected[i]) / Math.sqrt(rows);
    assert(Math.abs(m - 3) < 5 * error, `mean ${m}`);
  });
  assertClose(moments.variance, expected.map((l) => Math.exp(2 * l)), 0.1);
});

testOnBackends("with the same noise actions are linear in the features", () => {
  const logStd = tf.tensor2d(LOG_STD);
  const noise = noiseFor({ noise: { kind: "normal", size: 6 } }, 1);
  const shift = (latent: number[]) =>
    values(sampleStateDependent(tf.zeros([1, 2]), logStd, {
      latent: tf.tensor2d([latent]),
      noise,
    }));
  const [a, b] = LATENT.map(shift);
  const sum = shift(LATENT[0].map((x, i) => 2 * x + LATENT[1][i]));
  assertClose(sum, a.map((x, i) => 2 * x + b[i]));
});

testOnBackends("gradients reach the features only where they should", () => {
  const logStd = tf.tensor2d(LOG_STD);
  const gradient = (learnFeatures: boolean) =>
    tf.grads((latent, deviations) =>
      stateDependentLogStd(latent as tf.Tensor2D, deviations as tf.Tensor2D, {
        learnFeatures,
      })
    )([tf.tensor2d(LATENT), logStd]);
  const [none, deviations] = gradient(false);
  assertEquals(values(none).map(Math.abs), [0, 0, 0, 0, 0, 0]);
  const [some, same] = gradient(true);
  assert(values(some).every((g) => g !== 0));
  assert(values(deviations).every((g) => g > 0));
  assertClose(deviations, values(same), 1e-6);
});

testOnBackends("features of 0 leave the smallest deviation", () => {
  const latent = tf.zeros([1, 3]) as tf.Tensor2D;
  const logStd = tf.tensor2d(LOG_STD);
  const result = () => stateDependentLogStd(latent, logStd);
  assertClose(result(), [Math.log(0.001), Math.log(0.001)]);
  assertNoLeaks(() => ({ result: result() }));
});
