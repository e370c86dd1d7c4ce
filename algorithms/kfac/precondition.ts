import type { OptimizerState } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { splitDamping } from "./damping.ts";
import { type KfacLayer, layerSlot } from "./layers.ts";
import type { KfacForm } from "./options.ts";

/**
 * Multiplies a layer's gradient with the inverse of its damped block of the
 * Fisher matrix.
 */
export function precondition(
  layer: KfacLayer,
  gradient: tf.Tensor2D,
  { state, form, dampingKind }: {
    state: OptimizerState;
    form: KfacForm;
    dampingKind: "factored" | "plain";
  },
): tf.Tensor2D {
  const of = (name: string) => state[layerSlot(name, layer)] as tf.Tensor2D;
  if (form === "inverse") {
    const left = tf.matMul(of("inverse_input"), gradient);
    return tf.matMul(left, of("inverse_output"));
  }
  const input = of("basis_input"), output = of("basis_output");
  const inBasis = tf.matMul(tf.matMul(input, gradient, true), output);
  const scaled = tf.div<tf.Tensor2D>(
    inBasis,
    form === "ekfac"
      ? tf.add(of("moments"), state.damping)
      : dampedProduct(of, state.damping, dampingKind),
  );
  return tf.matMul(tf.matMul(input, scaled), output, false, true);
}

/** Computes the damped eigenvalues of a block, as the layer's matrix lies. */
function dampedProduct(
  of: (name: string) => tf.Tensor,
  damping: tf.Tensor,
  kind: "factored" | "plain",
): tf.Tensor {
  const input = tf.reshape(of("values_input"), [-1, 1]);
  const output = tf.reshape(of("values_output"), [1, -1]);
  if (kind === "plain") return tf.add(tf.mul(input, output), damping);
  const means = { input: tf.mean(input), output: tf.mean(output) };
  const added = splitDamping(damping, means);
  return tf.mul(tf.add(input, added.input), tf.add(output, added.output));
}
