import * as tf from "@tensorflow/tfjs";

/** Smallest normal float32: keeps `log 0` out. */
const SMALLEST = 1.1754944e-38;
/** Largest float32 below 1: uniform numbers may round up to 1. */
const LARGEST = 1 - 2 ** -24;

/**
 * Index of a random entry of each row, with probabilities `softmax(logits)`:
 * the largest of `logits - log(-log(uniform))` (Gumbel 1954).
 */
export function argMaxWithGumbelNoise(
  logits: tf.Tensor2D,
  uniform: tf.Tensor2D,
): tf.Tensor1D {
  const inside = tf.clipByValue(uniform, SMALLEST, LARGEST);
  const negativeGumbel = tf.log(tf.neg(tf.log(inside)));
  return tf.argMax(tf.sub(logits, negativeGumbel), 1);
}
