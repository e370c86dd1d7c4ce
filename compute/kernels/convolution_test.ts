import { assertAlmostEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { compile } from "../compile/compile.ts";
import { ACTIVATIONS } from "../testdata/activations.ts";
import {
  convolutions,
  convolve,
  fusedConvolution,
  imageAndFilter,
  namedPadding,
  withoutDilations,
} from "../testdata/arbitrary_convolutions.ts";
import { given, testCompiled } from "../testdata/compiled_agrees.ts";
import { testCompiledEngines } from "../testdata/engines.ts";
import { trace } from "../tracing/trace.ts";

testCompiled("conv2d", convolutions, (it) => ({
  fn: convolve(it),
  inputs: imageAndFilter(it),
}), 40);

testCompiled("both gradients of conv2d", withoutDilations, (it) => ({
  fn: convolve(it),
  inputs: imageAndFilter(it),
  gradients: true,
}), 60);

for (const activation of ACTIVATIONS) {
  testCompiled(
    `fused conv2d with ${activation}`,
    fc.record({ it: withoutDilations, bias: fc.boolean() }),
    (it) => fusedConvolution(activation, it),
  );
}

testCompiled("conv2dTranspose", withoutDilations, (it) => {
  const pad = namedPadding(it);
  const [height, width] = it.size.map((length, i) =>
    pad === "same"
      ? length * it.strides[i]
      : (length - 1) * it.strides[i] + it.filter[i]
  );
  return {
    fn: (x, filter) =>
      tf.conv2dTranspose(
        x as tf.Tensor4D,
        filter as tf.Tensor4D,
        [it.batch, height, width, it.out],
        it.strides,
        pad,
      ),
    inputs: [
      given([it.batch, ...it.size, it.channels], { seed: it.seed }),
      given([...it.filter, it.out, it.channels], { seed: it.seed + 1 }),
    ],
    gradients: true,
  };
}, 30);

testCompiled("conv1d", convolutions, (it) => ({
  fn: (x, filter) =>
    tf.conv1d(
      x as tf.Tensor3D,
      filter as tf.Tensor3D,
      it.strides[0],
      namedPadding(it),
      "NWC",
      it.dilations[0],
    ),
  inputs: [
    given([it.batch, it.size[0], it.channels], { seed: it.seed }),
    given([it.filter[0], it.channels, it.out], { seed: it.seed + 1 }),
  ],
  gradients: it.dilations[0] === 1,
}));

const ROUNDINGS = ["floor", "round", "ceil"] as const;

for (const rounding of ROUNDINGS) {
  testCompiled(
    `conv2d of sizes rounded by ${rounding}`,
    withoutDilations,
    (it) => ({
      fn: (x, filter) =>
        tf.conv2d(
          x as tf.Tensor4D,
          filter as tf.Tensor4D,
          it.strides,
          typeof it.pad === "number" ? it.pad : 2,
          "NHWC",
          1,
          rounding,
        ),
      inputs: imageAndFilter(it),
    }),
  );
}

/** The `cpu` backend leaves out the windows that rounding up adds. */
testCompiledEngines("the gradients of a size that is rounded up", (engine) => {
  const [x, filter] = [[1, 5, 5, 1], [2, 2, 1, 1]].map((shape) => given(shape));
  const gradients = (options: (x: tf.Tensor4D, w: tf.Tensor4D) => tf.Tensor) =>
    compile(({ x, filter }) => {
      const loss = (x: tf.Tensor, w: tf.Tensor) =>
        tf.sum(tf.square(options(x as tf.Tensor4D, w as tf.Tensor4D)));
      const [dx, dw] = tf.grads(loss)([x, filter]);
      return { dx, dw };
    }, { inputs: { x, filter }, engine, threads: 1 })
      .run({ x: x.data, filter: filter.data });
  const rounded = gradients((x, w) => tf.conv2d(x, w, 2, 0, "NHWC", 1, "ceil"));
  const padded = gradients((x, w) =>
    tf.conv2d(x, w, 2, [[0, 0], [0, 1], [0, 1], [0, 0]])
  );
  for (const name of ["dx", "dw"] as const) {
    rounded[name].forEach((it, i) =>
      assertAlmostEquals(it, padded[name][i], 1e-5)
    );
  }
});

Deno.test("windows that are longer than the image are refused", () => {
  const inputs = {
    x: { shape: [1, 2, 2, 1], dtype: "float32" },
    filter: { shape: [3, 3, 1, 1], dtype: "float32" },
  } as const;
  assertThrows(
    () =>
      trace(({ x, filter }) => ({
        y: tf.conv2d(x as tf.Tensor4D, filter as tf.Tensor4D, 1, "valid"),
      }), inputs),
    RangeError,
    "3x3 over images of 2x2",
  );
});
