import * as tf from "@tensorflow/tfjs";
import {
  callKernel,
  type KernelCall,
  mendKernel,
  numbersOf,
  registerKernel,
  type WasmKernel,
} from "./kernel.ts";

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

/** Sums nothing to 0: the stock kernel leaves memory as it found it. */
const sum = (stock: WasmKernel): WasmKernel => (call) => {
  const out = stock(call);
  const isEmpty = tf.util.sizeFromShape(call.inputs.x.shape) === 0;
  if (isEmpty) numbersOf(call.backend, out).fill(0);
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

/** Registers the kernels that add up products and rows. */
export function registerSums(): void {
  mendKernel("BatchMatMul", batchMatMul);
  mendKernel("Sum", sum);
  registerKernel("UnsortedSegmentSum", unsortedSegmentSum);
}
