import * as tf from "@tensorflow/tfjs";
import {
  cloneParams,
  disposeParams,
  mapParams,
  type Params,
  ravel,
  unravel,
} from "./params.ts";

/** The loss, and further results of a loss function. */
export interface LossValue<A extends Params = Params> {
  /** Number that the gradients are of, a scalar. */
  loss: tf.Tensor;
  /** Further results, kept and returned as they are. */
  aux?: A;
}

/** The value of a loss function, its further results and its gradients. */
export interface ValueAndGradients<A extends Params = Params> {
  /** The loss. */
  loss: tf.Scalar;
  /** The loss function's further results; empty if it gave none. */
  aux: A;
  /** The gradient of the loss with respect to each parameter, by path. */
  gradients: Params;
}

/**
 * Computes a loss and its gradients with respect to every parameter.
 *
 * A parameter that the loss does not depend on has a gradient of zeros.
 * All results are the caller's to dispose; nothing else is left behind.
 *
 * @param loss A pure function of the parameters in TensorFlow.js operations.
 * @param params The parameters, floating point.
 * @returns The loss, the further results and the gradients.
 * @throws {TypeError} If the loss is no scalar, or depends on no parameter at all, or
 * the function returns further results outside `aux`.
 * @example
 * ```ts
 * import { valueAndGradients } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * const params = { w: tf.tensor1d([3, 4]) };
 * const { loss, gradients } = valueAndGradients(
 *   ({ w }) => ({ loss: tf.sum(tf.square(w)) }),
 *   params,
 * );
 * assertEquals(loss.dataSync()[0], 25);
 * assertEquals([...gradients.w.dataSync()], [6, 8]);
 * ```
 */
export function valueAndGradients<A extends Params = Params>(
  loss: (params: Params) => LossValue<A>,
  params: Params,
): ValueAndGradients<A> {
  const paths = Object.keys(params);
  const inputs = paths.map((path) => params[path]);
  // The engine frees what the loss made once it has the gradients, so the
  // further results are kept and handed over to the scope outside.
  let kept = {} as A;
  const forward = (): tf.Scalar => {
    const value = loss(params);
    checkLoss(value);
    kept = mapParams(value.aux ?? {}, (it) => tf.keep(it.clone())) as A;
    return value.loss as tf.Scalar;
  };
  return tf.tidy(() => {
    const { value, grads } = tf.engine().gradients(
      forward,
      inputs,
      undefined,
      true,
    );
    if (grads.every((it) => !it)) {
      throw new TypeError(
        `Cannot take gradients of a loss that depends on no parameter: expected one of ${
          paths.join(", ")
        }`,
      );
    }
    const gradients: Params = {};
    paths.forEach((path, i) =>
      gradients[path] = grads[i] ?? tf.zerosLike(inputs[i])
    );
    const aux = cloneParams(kept) as A;
    disposeParams(kept);
    return { loss: value as tf.Scalar, aux, gradients };
  });
}

function checkLoss(value: LossValue): void {
  const { loss, aux: _, ...others } = Object(value) as LossValue;
  const refuse = (found: string, wanted: string) => {
    throw new TypeError(
      `Cannot take gradients of a loss function that returned ${found}: expected ${wanted}`,
    );
  };
  const [name] = Object.keys(others);
  if (loss?.rank === undefined) refuse("no loss", "{ loss }");
  if (name !== undefined) {
    refuse(`'${name}' beside its loss`, `{ loss, aux: { ${name} } }`);
  }
  if (loss.rank === 0) return;
  throw new TypeError(
    `Cannot take gradients of a loss of shape [${loss.shape}]: expected one number, such as its tf.mean`,
  );
}

/**
 * Computes the L2 norm of all numbers of a map taken together.
 *
 * @param gradients Tensors by path, of any shapes.
 * @returns The norm, a scalar.
 * @example
 * ```ts
 * import { globalNorm } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * const norm = globalNorm({ a: tf.tensor1d([3]), b: tf.tensor2d([[0, 4]]) });
 * assertEquals(norm.dataSync()[0], 5);
 * ```
 */
export function globalNorm(gradients: Params): tf.Scalar {
  return tf.tidy(() => {
    const flat = ravel(gradients, Object.keys(gradients));
    return tf.sqrt(tf.sum(tf.square(flat)));
  });
}

/** Gradients after clipping, and their norm before it. */
export interface ClippedGradients {
  /** The gradients, scaled down where their norm was above the maximum. */
  gradients: Params;
  /** The global norm before clipping. */
  norm: tf.Scalar;
}

/**
 * Scales gradients down so that their global norm is at most `maxNorm`, as
 * TensorFlow's `clip_by_global_norm` does: `g * maxNorm / max(norm, maxNorm)`.
 *
 * @param gradients Gradients by path.
 * @param maxNorm The largest norm, above 0; `null` clips nothing.
 * @returns The clipped gradients and the norm before clipping.
 * @throws {RangeError} If `maxNorm` is a number that is not above 0.
 * @example
 * ```ts
 * import { clipByGlobalNorm } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const { gradients, norm } = clipByGlobalNorm({ w: tf.tensor1d([3, 4]) }, 1);
 * assertAlmostEquals(norm.dataSync()[0], 5);
 * assertAlmostEquals(gradients.w.dataSync()[0], 0.6, 1e-6);
 * ```
 */
export function clipByGlobalNorm(
  gradients: Params,
  maxNorm: number | tf.Scalar | null,
): ClippedGradients {
  if (typeof maxNorm === "number" && !(maxNorm > 0)) {
    throw new RangeError(
      `Cannot clip gradients to a norm of ${maxNorm}: expected a number above 0, or null for no clipping`,
    );
  }
  return tf.tidy(() => {
    const norm = globalNorm(gradients);
    if (maxNorm === null) {
      return { gradients: mapParams(gradients, (it) => it.clone()), norm };
    }
    const scale = tf.div(maxNorm, tf.maximum(norm, maxNorm));
    const flat = ravel(gradients, Object.keys(gradients));
    const scaled = tf.mul(flat, scale) as tf.Tensor1D;
    return { gradients: unravel(scaled, gradients), norm };
  });
}
