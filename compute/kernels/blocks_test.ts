import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { seeds } from "../testdata/arbitrary_shapes.ts";
import { given, testCompiled } from "../testdata/compiled_agrees.ts";

const few = fc.integer({ min: 1, max: 3 });

const blocks = fc.record({
  batch: few,
  counts: fc.tuple(few, few),
  block: fc.tuple(few, few),
  channels: few,
  /** Whether only one axis is cut into blocks. */
  one: fc.boolean(),
  seed: seeds,
});

testCompiled("batchToSpaceND and spaceToBatchND", blocks, (it) => {
  const count = it.one ? 1 : 2;
  const block = it.block.slice(0, count);
  const product = block.reduce((a, b) => a * b, 1);
  const crops = block.map((length) => [length - 1, 0]);
  return {
    fn: (x) => {
      const space = tf.batchToSpaceND(x, block, crops);
      return tf.concat1d([
        space.flatten(),
        tf.spaceToBatchND(space, block, crops).flatten(),
      ]);
    },
    inputs: [
      given([it.batch * product, ...it.counts, it.channels], { seed: it.seed }),
    ],
    gradients: true,
  };
}, 25);

testCompiled("depthToSpace", blocks, (it) => ({
  fn: (x) => tf.depthToSpace(x as tf.Tensor4D, it.block[0] + 1),
  inputs: [
    given([it.batch, ...it.counts, it.channels * (it.block[0] + 1) ** 2], {
      seed: it.seed,
    }),
  ],
}));
