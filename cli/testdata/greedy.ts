import { a2c, type A2CBatch, type A2CConfig } from "@bellman/a2c";
import type { Algorithm } from "@bellman/agent";
import { registerAlgorithm } from "@bellman/runs/settings";
import * as tf from "@tensorflow/tfjs";

/** Numbers on each side of a matrix of 16 TiB. */
const WIDTH = 2 ** 21;

/** A2C with an update that no machine has the memory for. */
const greedy: Algorithm<A2CConfig> = {
  ...a2c,
  meta: { ...a2c.meta, name: "greedy", title: "Greedy", presets: {} },
  build(config, context) {
    const parts = a2c.build(config, context);
    const learn = parts.learn({ steps: 0, updates: 0, fraction: 0 });
    const update: typeof learn = (state, batch: A2CBatch, inputs) => {
      const result = learn(state, batch, inputs);
      const count = WIDTH / batch.advantages.size;
      const wide: tf.Tensor1D = tf.tile(batch.advantages, [count]);
      const outer = tf.tanh(tf.outerProduct(wide, wide));
      const sums = tf.dot(outer, wide);
      return { ...result, stats: { ...result.stats, sum: tf.mean(sums) } };
    };
    return { ...parts, learn: () => update };
  },
};
registerAlgorithm(greedy as Algorithm);
