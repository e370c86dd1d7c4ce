import * as tf from "@tensorflow/tfjs";
import { callKernel, registerWasmKernel, WASM } from "./_kernel.ts";
import type { WasmKernel } from "./_kernel.ts";

type Kernel = tf.KernelConfig["kernelFunc"];

/** One-hot rows of any type: the stock kernel is right for int32 alone. */
function throughInt32(stock: Kernel): WasmKernel {
  return ({ inputs, backend, attrs }) => {
    const whole = stock({
      inputs,
      backend,
      attrs: { ...attrs, dtype: "int32" } as never,
    }) as tf.TensorInfo;
    if (attrs.dtype === "int32") return whole;
    const cast = callKernel("Cast", {
      inputs: { x: whole },
      backend,
      attrs: { dtype: attrs.dtype },
    });
    backend.disposeData(whole.dataId);
    return cast;
  };
}

/** Registers the kernel in place of the stock one. */
export function registerOneHot(): void {
  const stock = tf.getKernel("OneHot", WASM);
  registerWasmKernel("OneHot", {
    kernel: throughInt32(stock.kernelFunc),
    setup: stock.setupFunc,
  });
}
