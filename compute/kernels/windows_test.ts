import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { seeds } from "../testdata/arbitrary_shapes.ts";
import { given, testCompiled } from "../testdata/compiled_agrees.ts";

type Pair = [number, number];
type Pool = typeof tf.avgPool;

const few = fc.integer({ min: 1, max: 3 });
const length = fc.integer({ min: 3, max: 8 });

/** Images and windows; whole windows in the padding are left out. */
const settings = fc.record({
  batch: few,
  size: fc.tuple(length, length),
  channels: few,
  window: fc.tuple(few, few),
  strides: fc.tuple(few, few),
  pad: fc.constantFrom<"same" | "valid" | 0 | 1>("same", "valid", 0, 1),
  rounding: fc.constantFrom<"floor" | "round" | "ceil">(
    "floor",
    "round",
    "ceil",
  ),
  /** Whether equal numbers compete. */
  ties: fc.boolean(),
  seed: seeds,
});
/** ONNX Runtime takes no windows of padding alone. */
function sees({ size, window, strides, pad, rounding }: Settings): boolean {
  if (pad === "same" || pad === "valid") return true;
  const { outHeight, outWidth } = tf.backend_util.computePool2DInfo(
    [1, ...size, 1],
    window,
    strides,
    1,
    pad,
    rounding,
  );
  return [outHeight, outWidth].every((count, i) =>
    count > 0 && pad < window[i] && (count - 1) * strides[i] < size[i] + pad
  );
}

type Settings = typeof settings extends fc.Arbitrary<infer T> ? T : never;

const pooled = (pool: Pool, it: Settings) => (x: tf.Tensor) =>
  pool(
    x as tf.Tensor4D,
    it.window as Pair,
    it.strides as Pair,
    it.pad,
    typeof it.pad === "number" ? it.rounding : undefined,
  );

const imageOf = (it: Settings) =>
  given([it.batch, ...it.size, it.channels], {
    seed: it.seed,
    of: it.ties ? (x) => Math.round(x) : undefined,
  });

const POOLS = { maxPool: tf.maxPool, avgPool: tf.avgPool };

for (const [name, pool] of Object.entries(POOLS)) {
  testCompiled(`${name} and its gradient`, settings.filter(sees), (it) => ({
    fn: pooled(pool as Pool, it),
    inputs: [imageOf(it)],
    // The gradients of `cpu` leave out what rounding up adds.
    gradients: typeof it.pad === "string" || it.rounding === "floor",
  }), 80);
}

testCompiled("mean over the whole image", settings, (it) => ({
  fn: (x) => tf.avgPool(x as tf.Tensor4D, it.size as Pair, 1, "valid"),
  inputs: [imageOf(it)],
  gradients: true,
}));

testCompiled("maxPool of whole numbers", settings.filter(sees), (it) => ({
  fn: pooled(tf.maxPool as Pool, it),
  inputs: [{
    ...imageOf(it),
    dtype: "int32",
    data: Int32Array.from(imageOf(it).data, (x) => 4 * x),
  }],
}));
