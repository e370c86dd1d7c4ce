import * as tf from "@tensorflow/tfjs";
import { numbersOf, registerWasmKernel, WASM } from "./_kernel.ts";
import type { WasmKernel } from "./_kernel.ts";

type Kernel = tf.KernelConfig["kernelFunc"];

/** Casts to `bool` by comparing with 0: the stock kernel keeps the low byte. */
function comparingWithZero(stock: Kernel): WasmKernel {
  return (call) => {
    const { inputs, backend, attrs } = call;
    if (attrs.dtype !== "bool") {
      return stock(call as never) as tf.TensorInfo;
    }
    const { x } = inputs;
    const out = backend.makeOutput(x.shape, "bool");
    const from = numbersOf(backend, x), to = numbersOf(backend, out);
    for (let i = 0; i < from.length; i++) to[i] = from[i] === 0 ? 0 : 1;
    return out;
  };
}

/** Registers the kernel in place of the stock one. */
export function registerCast(): void {
  const stock = tf.getKernel("Cast", WASM);
  registerWasmKernel("Cast", {
    kernel: comparingWithZero(stock.kernelFunc),
    setup: stock.setupFunc,
  });
}
