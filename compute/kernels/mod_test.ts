import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { traceKernel } from "../testdata/trace_kernel.ts";
import { trace } from "../tracing/trace.ts";
import { findKernel } from "./mod.ts";

await selectBackend("cpu");

/** Kernels that are not compiled, by the reason. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  "texts are no numbers":
    "StaticRegexReplace StringNGrams StringSplit StringToHashBucketFast",
  "ONNX has no complex numbers": "Complex ComplexAbs FFT IFFT Imag Real",
  "shapes of results depend on numbers": "Bincount DenseBincount " +
    "NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 Unique " +
    "RaggedGather RaggedRange RaggedTensorToTensor " +
    "SparseFillEmptyRows SparseReshape",
  "shapes as tensors": "BroadcastArgs",
  "random numbers are inputs": "Multinomial",
  "volumes are not what agents see": "AvgPool3D AvgPool3DGrad Conv3D " +
    "Conv3DBackpropFilterV2 Conv3DBackpropInputV2 MaxPool3D MaxPool3DGrad",
  "images are scaled and turned before": "CropAndResize Draw ResizeBilinear " +
    "ResizeBilinearGrad ResizeNearestNeighbor ResizeNearestNeighborGrad " +
    "RotateWithOffset Transform",
  "no network of ours has it": "BatchToSpaceND BitwiseAnd DepthToSpace " +
    "DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter " +
    "DepthwiseConv2dNativeBackpropInput Diag Dilation2D " +
    "Dilation2DBackpropFilter Dilation2DBackpropInput FlipLeftRight " +
    "FusedDepthwiseConv2D LRN LRNGrad MaxPoolWithArgmax MirrorPad Prelu " +
    "SearchSorted SpaceToBatchND SparseSegmentMean SparseSegmentSum " +
    "SparseToDense",
  "TensorFlow.js has no gradient of it": "Einsum",
};

const listed = Object.values(UNSUPPORTED).flatMap((names) => names.split(" "));

Deno.test("each kernel of TensorFlow.js is compiled, or there is a reason", () => {
  const all = tf.getKernelsForBackend("cpu").map((it) => it.kernelName);
  assert(all.length > 100);
  const missing = all.filter((name) => findKernel(name) === undefined);
  assertEquals(missing.toSorted(), listed.toSorted());
});

Deno.test("what is not compiled says which operation and where", () => {
  for (const name of listed) {
    const error = assertThrows(() => traceKernel(name), TypeError);
    const { message } = error;
    assert(message.startsWith(`Cannot compile the operation '${name}' at `));
    assert(/ at trace_kernel\.ts:\d+: .* 'eager'$/.test(message), message);
  }
});

Deno.test("operations whose kernels are not compiled are named as well", () => {
  const x = { shape: [1, 2, 2, 1], dtype: "float32" } as const;
  const resize = (x: tf.Tensor) =>
    tf.image.resizeBilinear(x as tf.Tensor4D, [4, 4]);
  const cases = {
    ResizeBilinear: resize,
    LRN: (x: tf.Tensor) => tf.localResponseNormalization(x as tf.Tensor4D),
    Unique: (x: tf.Tensor) => tf.unique(tf.reshape(x, [-1])).values,
    ResizeBilinearGrad: (x: tf.Tensor) => tf.grad(resize)(x),
  };
  for (const [name, fn] of Object.entries(cases)) {
    assertThrows(
      () => trace(({ x }) => ({ y: fn(x) }), { x }),
      TypeError,
      name.startsWith("ResizeBilinear") ? "'ResizeBilinear'" : `'${name}'`,
    );
  }
});
