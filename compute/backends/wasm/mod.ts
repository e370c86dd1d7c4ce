import * as tf from "@tensorflow/tfjs";
import {
  conv2DBackpropFilter,
  maxPoolGrad,
  samePadding,
} from "./convolutions.ts";
import {
  callKernel,
  floatsOf,
  type KernelCall,
  numbersOf,
  WASM,
  type WasmKernel,
} from "./kernel.ts";

/** Casts to `bool` by comparing with 0: the stock kernel keeps the low byte. */
const cast = (stock: WasmKernel): WasmKernel => (call) => {
  const { inputs: { x }, backend, attrs } = call;
  if (attrs.dtype !== "bool") return stock(call);
  const out = backend.makeOutput(x.shape, "bool");
  const from = numbersOf(backend, x), to = numbersOf(backend, out);
  for (let i = 0; i < from.length; i++) to[i] = from[i] === 0 ? 0 : 1;
  return out;
};

/** Makes one-hot rows of any type: the stock kernel is right for int32 alone. */
const oneHot = (stock: WasmKernel): WasmKernel => (call) => {
  const { backend, attrs } = call;
  const whole = stock({ ...call, attrs: { ...attrs, dtype: "int32" } });
  if (attrs.dtype === "int32") return whole;
  const cast = callKernel("Cast", {
    inputs: { x: whole },
    backend,
    attrs: { dtype: attrs.dtype },
  });
  backend.disposeData(whole.dataId);
  return cast;
};

/**
 * Clips each number and passes NaN on: the stock kernel turns NaN into the
 * lower bound, which would hide that a training run has diverged.
 */
const clipByValue: WasmKernel = ({ inputs: { x }, backend, attrs }) => {
  const minimum = attrs.clipValueMin as number;
  const maximum = attrs.clipValueMax as number;
  const out = backend.makeOutput(x.shape, x.dtype);
  const from = numbersOf(backend, x), to = numbersOf(backend, out);
  for (let i = 0; i < from.length; i++) {
    const value = from[i];
    to[i] = value < minimum ? minimum : value > maximum ? maximum : value;
  }
  return out;
};

/** Computes `log(1 + x)`, exact near 0, where the stock kernel adds the 1 first. */
const log1p: WasmKernel = ({ inputs: { x }, backend }) => {
  const out = backend.makeOutput(x.shape, "float32");
  const from = floatsOf(backend, x), to = floatsOf(backend, out);
  for (let i = 0; i < from.length; i++) to[i] = Math.log1p(from[i]);
  return out;
};

/** Below this, the sigmoid's form would lose digits to cancellation. */
const SERIES_LIMIT = 0.25;

/** Sums the Taylor series of tanh up to x^9: exact to float32 below the limit. */
function tanhSeries(x: number): number {
  const s = x * x;
  return x *
    (1 + s * (-1 / 3 + s * (2 / 15 + s * (-17 / 315 + s * (62 / 2835)))));
}

/**
 * Computes the hyperbolic tangent as `2 sigmoid(2x) - 1`. The stock kernel takes
 * one scalar library call an element; the sigmoid is vectorised.
 */
const tanh: WasmKernel = ({ inputs: { x }, backend }) => {
  const doubled = backend.makeOutput(x.shape, "float32");
  const from = floatsOf(backend, x), twice = floatsOf(backend, doubled);
  for (let i = 0; i < from.length; i++) twice[i] = 2 * from[i];
  const out = callKernel("Sigmoid", { inputs: { x: doubled }, backend });
  backend.disposeData(doubled.dataId);
  // The memory may have grown and moved: views are taken again.
  const values = floatsOf(backend, x), target = floatsOf(backend, out);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    target[i] = Math.abs(value) < SERIES_LIMIT
      ? tanhSeries(value)
      : 2 * target[i] - 1;
  }
  return out;
};

/** Swaps the last two axes. */
function transposed(
  x: tf.TensorInfo,
  backend: KernelCall["backend"],
): tf.TensorInfo {
  const rank = x.shape.length;
  const perm = Array.from({ length: rank }, (_, axis) => axis);
  [perm[rank - 2], perm[rank - 1]] = [rank - 1, rank - 2];
  return callKernel("Transpose", { inputs: { x }, backend, attrs: { perm } });
}

/**
 * Makes the product of transposed matrices fast: the stock kernel takes its
 * slow path for them, so they are transposed first. Gradients of dense layers
 * consist of such products.
 */
const batchMatMul =
  (stock: WasmKernel): WasmKernel => ({ inputs, backend, attrs }) => {
    const a = attrs.transposeA ? transposed(inputs.a, backend) : inputs.a;
    const b = attrs.transposeB ? transposed(inputs.b, backend) : inputs.b;
    const product = stock({
      inputs: { a, b },
      backend,
      attrs: { transposeA: false, transposeB: false },
    });
    if (a !== inputs.a) backend.disposeData(a.dataId);
    if (b !== inputs.b) backend.disposeData(b.dataId);
    return product;
  };

/** Reduces nothing to a number: the stock kernels leave memory as it was. */
const ofNothing =
  (value: number) => (stock: WasmKernel): WasmKernel => (call) => {
    const out = stock(call);
    const isEmpty = tf.util.sizeFromShape(call.inputs.x.shape) === 0;
    if (isEmpty) numbersOf(call.backend, out).fill(value);
    return out;
  };

/**
 * Adds up the rows of each segment, which is the gradient of `tf.gather`. Rows
 * of a negative segment are left out.
 */
const unsortedSegmentSum: WasmKernel = ({ inputs, backend, attrs }) => {
  const { x, segmentIds } = inputs;
  const numSegments = attrs.numSegments as number;
  const rowShape = x.shape.slice(segmentIds.shape.length);
  const rowSize = tf.util.sizeFromShape(rowShape);
  const out = backend.makeOutput([numSegments, ...rowShape], x.dtype);
  const rows = numbersOf(backend, x);
  const ids = numbersOf(backend, segmentIds);
  const sums = numbersOf(backend, out).fill(0);
  for (let row = 0; row < ids.length; row++) {
    const segment = ids[row];
    if (segment < 0 || segment >= numSegments) continue;
    const from = row * rowSize, to = segment * rowSize;
    for (let i = 0; i < rowSize; i++) sums[to + i] += rows[from + i];
  }
  return out;
};

/**
 * Copies the wanted part alone where it lies in one piece: the stock kernel
 * copies all of the tensor first.
 */
const slice = (stock: WasmKernel): WasmKernel => (call) => {
  const { inputs: { x }, backend, attrs } = call;
  const { parseSliceParams, isSliceContinous, computeFlatOffset } =
    tf.slice_util;
  const [begin, size] = parseSliceParams(
    x as tf.Tensor,
    attrs.begin as number[],
    attrs.size as number[],
  );
  const isWhole = isSliceContinous(x.shape, begin, size);
  if (!isWhole || x.dtype === "string") return stock(call);
  const from = computeFlatOffset(begin, tf.util.computeStrides(x.shape));
  const out = backend.makeOutput(size, x.dtype), to = numbersOf(backend, out);
  to.set(numbersOf(backend, x).subarray(from, from + to.length));
  return out;
};

/**
 * Slices the parts: the stock kernel copies the whole for each of them, which
 * are all parameters for each layer of an optimizer's step. SAC's update takes
 * 10 % less time.
 */
const splitV = ({ inputs: { x }, backend, attrs }: KernelCall) => {
  const [axis] = tf.util.parseAxisParam(attrs.axis as number, x.shape);
  const sizes = tf.backend_util.prepareSplitSize(
    x as tf.Tensor,
    attrs.numOrSizeSplits as number[],
    axis,
  );
  let from = 0;
  return sizes.map((length) => {
    const begin = x.shape.map((_, i) => i === axis ? from : 0);
    const size = x.shape.with(axis, length);
    from += length;
    return callKernel("Slice", {
      inputs: { x },
      backend,
      attrs: { begin, size },
    });
  });
};

/** A kernel of one or several tensors. */
type AnyKernel = (call: KernelCall) => tf.TensorInfo | tf.TensorInfo[];

/** Kernels that replace the backend's own, or that it lacks. */
const KERNELS: Readonly<Record<string, AnyKernel>> = {
  ClipByValue: clipByValue,
  Log1p: log1p,
  Tanh: tanh,
  UnsortedSegmentSum: unsortedSegmentSum,
  Conv2DBackpropFilter: conv2DBackpropFilter,
  MaxPoolGrad: maxPoolGrad,
  SplitV: splitV,
};

/** Kernels that call the backend's own. */
const MENDED: Readonly<Record<string, (stock: WasmKernel) => WasmKernel>> = {
  Cast: cast,
  OneHot: oneHot,
  BatchMatMul: batchMatMul,
  Slice: slice,
  Sum: ofNothing(0),
  Mean: ofNothing(0),
  Prod: ofNothing(1),
  All: ofNothing(1),
  Any: ofNothing(0),
  Conv2D: samePadding,
  FusedConv2D: samePadding,
  DepthwiseConv2dNative: samePadding,
  FusedDepthwiseConv2D: samePadding,
};

/**
 * Stock kernels that return wrong numbers, and that no network here needs. They
 * are taken away: a caller gets an error that names the kernel.
 */
const BROKEN_KERNELS = [
  "Conv3DBackpropInputV2",
  "Dilation2D",
  "Dilation2DBackpropFilter",
  "Dilation2DBackpropInput",
] as const;

function unregister(name: string): void {
  if (tf.getKernel(name, WASM) !== undefined) tf.unregisterKernel(name, WASM);
}

/** Registers a kernel in place of the backend's own, if it has one. */
function registerKernel(
  kernelName: string,
  kernel: AnyKernel,
  setupFunc?: tf.KernelConfig["setupFunc"],
): void {
  unregister(kernelName);
  const kernelFunc = kernel as unknown as tf.KernelFunc;
  tf.registerKernel({ kernelName, backendName: WASM, setupFunc, kernelFunc });
}

let registered = false;

/**
 * Completes and mends the kernels of the wasm backend, once. It must come before
 * the backend is initialised, which sets the kernels up.
 */
export function registerWasmKernels(): void {
  if (registered) return;
  for (const [name, mend] of Object.entries(MENDED)) {
    const { kernelFunc, setupFunc } = tf.getKernel(name, WASM);
    const stock = kernelFunc as unknown as WasmKernel;
    registerKernel(name, mend(stock), setupFunc);
  }
  for (const name in KERNELS) registerKernel(name, KERNELS[name]);
  for (const name of BROKEN_KERNELS) unregister(name);
  registered = true;
}
