import * as tf from "@tensorflow/tfjs";
import type { Params } from "./params.ts";

/** The tensors of some paths, one after the other, as one vector. */
export function flattenParams(
  params: Params,
  paths: readonly string[],
): tf.Tensor1D {
  return tf.concat1d(
    paths.map((path) => tf.reshape(params[path], [-1]) as tf.Tensor1D),
  );
}

/** A vector cut into tensors of the shapes and paths of others. */
export function unflattenParams(
  flat: tf.Tensor1D,
  like: Params,
  prefix = "",
): Params {
  const paths = Object.keys(like);
  const parts = tf.split(flat, paths.map((path) => like[path].size));
  const params: Params = {};
  paths.forEach((path, i) =>
    params[prefix + path] = tf.reshape(parts[i], like[path].shape)
  );
  return params;
}
