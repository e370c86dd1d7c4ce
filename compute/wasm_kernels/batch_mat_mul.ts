import * as tf from "@tensorflow/tfjs";
import {
  callKernel,
  registerWasmKernel,
  WASM,
  type WasmKernel,
} from "./_kernel.ts";

type Kernel = tf.KernelConfig["kernelFunc"];

/** The axes of a tensor with the last two exchanged. */
function exchanged(rank: number): number[] {
  const axes = Array.from({ length: rank }, (_, i) => i);
  return [...axes.slice(0, -2), rank - 1, rank - 2];
}

function transposed(
  tensor: tf.TensorInfo,
  backend: Parameters<WasmKernel>[0]["backend"],
): tf.TensorInfo {
  return callKernel("Transpose", {
    inputs: { x: tensor },
    backend,
    attrs: { perm: exchanged(tensor.shape.length) },
  });
}

function transposeFirst(stock: Kernel): WasmKernel {
  return ({ inputs, backend, attrs }) => {
    const { transposeA, transposeB } = attrs;
    const a = transposeA ? transposed(inputs.a, backend) : inputs.a;
    const b = transposeB ? transposed(inputs.b, backend) : inputs.b;
    const product = stock({
      inputs: { a, b },
      backend,
      attrs: { transposeA: false, transposeB: false },
    }) as tf.TensorInfo;
    if (a !== inputs.a) backend.disposeData(a.dataId);
    if (b !== inputs.b) backend.disposeData(b.dataId);
    return product;
  };
}

/**
 * Makes the product of transposed matrices fast: the stock kernel takes its
 * slow path for them, so they are transposed first. Gradients of dense layers
 * consist of such products.
 */
export function registerBatchMatMul(): void {
  const stock = tf.getKernel("BatchMatMul", WASM);
  registerWasmKernel("BatchMatMul", {
    kernel: transposeFirst(stock.kernelFunc),
    setup: stock.setupFunc,
  });
}
