import * as tf from "@tensorflow/tfjs";

/** Half the logarithm of 2 pi: what a normal log-density starts from. */
export const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);

/** Means and logarithms of the deviations, both `[batch, size]`. */
export function meanAndLogStd(
  parameters: tf.Tensor2D,
  size: number,
): [tf.Tensor2D, tf.Tensor2D] {
  return tf.split(parameters, [size, size], 1) as [tf.Tensor2D, tf.Tensor2D];
}

/** What was left as it was has the gradient of what it became. */
function gradientWhereEqual(dy: tf.Tensor, [before, after]: tf.Tensor[]) {
  return tf.where(tf.equal(before, after), dy, tf.zerosLike(dy));
}

/**
 * Clips logarithms of deviations to bounds, with no gradient outside.
 *
 * @throws {RangeError} If the bounds are not in order.
 */
export function clipLogStd(
  [low, high]: readonly [number, number],
): <T extends tf.Tensor>(logStd: T) => T {
  if (!(low <= high)) {
    throw new RangeError(
      `Cannot clip the logarithm of a deviation to [${low}, ${high}]: ` +
        `the bounds must be in order`,
    );
  }
  if (low === -Infinity && high === Infinity) return (logStd) => logStd;
  const clip = tf.customGrad((x, save) => {
    const logStd = x as tf.Tensor;
    const value = tf.clipByValue(logStd, low, high);
    (save as tf.GradSaveFunc)([logStd, value]);
    return { value, gradFunc: gradientWhereEqual };
  });
  return <T extends tf.Tensor>(logStd: T) => clip(logStd) as T;
}

/**
 * `log N(x; mean, std)` of each row where `x = mean + std noise` is a constant,
 * `[batch]`: the value comes from the noise, the gradient is the score at `x`.
 */
export function constantSampleLogProb(
  mean: tf.Tensor2D,
  logStd: tf.Tensor2D,
  noise: tf.Tensor2D,
): tf.Tensor1D {
  const logProb = tf.customGrad((_, logStd, save) => {
    (save as tf.GradSaveFunc)([logStd as tf.Tensor, noise]);
    return {
      value: gaussianLogProb(exponents(logStd as tf.Tensor2D, noise)),
      gradFunc: (dy, [logStd, noise]) => {
        const rows = tf.expandDims(dy, 1);
        const z = tf.mul(noise, tf.exp(tf.neg(logStd)));
        const square = tf.sub(tf.square(noise), 1);
        return [tf.mul(rows, z), tf.mul(rows, square)];
      },
    };
  });
  return logProb(mean, logStd) as tf.Tensor1D;
}

/** `-log N(x; mean, std)` but for its constant, where `x = mean + std noise`. */
export function exponents(
  logStd: tf.Tensor2D,
  noise: tf.Tensor2D,
): tf.Tensor2D {
  return tf.add(tf.mul(tf.square(noise), 0.5), logStd);
}

/** `log N(x)` of each row, `[batch]`, from the {@link exponents} of its parts. */
export function gaussianLogProb(exponents: tf.Tensor2D): tf.Tensor1D {
  const constant = exponents.shape[1] * HALF_LOG_TWO_PI;
  return tf.sub(-constant, tf.sum(exponents, 1));
}
