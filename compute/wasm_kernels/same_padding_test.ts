import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { assertBackendsAgree } from "../testdata/backends_agree.ts";

const cases = fc.record({
  height: fc.integer({ min: 3, max: 9 }),
  width: fc.integer({ min: 3, max: 9 }),
  filter: fc.tuple(
    fc.integer({ min: 1, max: 3 }),
    fc.integer({ min: 1, max: 3 }),
  ),
  stride: fc.integer({ min: 1, max: 5 }),
});

Deno.test("padded convolutions of any stride are those of cpu", () =>
  fc.assert(
    fc.asyncProperty(cases, ({ height, width, filter, stride }) =>
      assertBackendsAgree({
        shapes: [[2, height, width, 2], [...filter, 2, 3]],
        op: (x, w) =>
          tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, stride, "same"),
      })),
    { numRuns: 60 },
  ));

Deno.test("so are fused ones", () =>
  fc.assert(
    fc.asyncProperty(cases, ({ height, width, filter, stride }) =>
      assertBackendsAgree({
        shapes: [[1, height, width, 2], [...filter, 2, 3], [3]],
        op: (x, w, bias) =>
          tf.fused.conv2d({
            x: x as tf.Tensor4D,
            filter: w as tf.Tensor4D,
            strides: stride,
            pad: "same",
            bias,
            activation: "relu",
          }),
        valueOnly: true,
      })),
    { numRuns: 30 },
  ));

Deno.test("and depthwise ones", () =>
  fc.assert(
    fc.asyncProperty(cases, ({ height, width, filter, stride }) =>
      assertBackendsAgree({
        shapes: [[1, height, width, 2], [...filter, 2, 2]],
        op: (x, w) =>
          tf.depthwiseConv2d(
            x as tf.Tensor4D,
            w as tf.Tensor4D,
            stride,
            "same",
          ),
        valueOnly: true,
      })),
    { numRuns: 30 },
  ));
