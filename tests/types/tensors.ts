/** Types of tensors, which are those of the version that is computed with. */
import { compile, valueAndGradients } from "@bellman/compute";
import * as tf from "@bellman/compute/tf";
import { same, use } from "./same.ts";

export function ofLosses(): void {
  const params = { w: tf.zeros([2, 1]), b: tf.scalar(0) };
  const x = tf.ones([3, 2]);
  const { gradients, loss, aux } = valueAndGradients(({ w, b }) => {
    const error = x.matMul(w).add(b);
    return { loss: tf.mean(tf.square(error)), aux: { error } };
  }, params);
  same<typeof aux.error, tf.Tensor>(true);
  const steps: tf.Tensor[] = [loss, gradients.w.mul(0.1)];
  use(steps);
  // @ts-expect-error -- a loss is a tensor
  valueAndGradients(() => ({ loss: 3 }), params);
}

export function ofCompiled(): void {
  const program = compile(({ x }) => ({ y: x.square() }), {
    inputs: { x: { shape: [2], dtype: "float32" } },
  });
  const { y } = program.run({ x: Float32Array.of(1, 2) });
  use(y);
  // @ts-expect-error -- there is no such input
  program.run({ z: Float32Array.of(1, 2) });
}
