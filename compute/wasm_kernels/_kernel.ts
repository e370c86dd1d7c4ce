import * as tf from "@tensorflow/tfjs";
import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";

/** The name under which TensorFlow.js registers the backend. */
export const WASM = "wasm";

/** The tensors that a kernel is given and returns, by name. */
export type KernelInputs = Record<string, tf.TensorInfo>;

/** A kernel of the wasm backend: inputs and attributes in, tensors out. */
export type WasmKernel = (call: {
  inputs: KernelInputs;
  backend: BackendWasm;
  attrs: Record<string, unknown>;
}) => tf.TensorInfo;

/** Calls another kernel of the wasm backend from inside of one. */
export function callKernel(
  name: string,
  call: {
    inputs: KernelInputs;
    backend: BackendWasm;
    attrs?: Record<string, unknown>;
  },
): tf.TensorInfo {
  const config = tf.getKernel(name, WASM);
  return config.kernelFunc({
    inputs: call.inputs,
    backend: call.backend,
    attrs: (call.attrs ?? {}) as never,
  }) as tf.TensorInfo;
}

/** The numbers of a tensor of any type but strings and complex numbers. */
export type NumberArray = Float32Array | Int32Array | Uint8Array;

/** The numbers of a tensor, as a view of the backend's memory. */
export function numbersOf(
  backend: BackendWasm,
  tensor: tf.TensorInfo,
): NumberArray {
  return backend.typedArrayFromHeap(tensor as tf.Tensor) as NumberArray;
}

/** The numbers of a float32 tensor, as a view of the backend's memory. */
export function heapView(
  backend: BackendWasm,
  tensor: tf.TensorInfo,
): Float32Array {
  return numbersOf(backend, tensor) as Float32Array;
}

/** Registers a kernel in place of the backend's own, if it has one. */
export function registerWasmKernel(
  name: string,
  { kernel, setup }: {
    kernel: WasmKernel;
    setup?: tf.KernelConfig["setupFunc"];
  },
): void {
  if (tf.getKernel(name, WASM) !== undefined) tf.unregisterKernel(name, WASM);
  tf.registerKernel({
    kernelName: name,
    backendName: WASM,
    setupFunc: setup,
    kernelFunc: kernel as unknown as tf.KernelConfig["kernelFunc"],
  });
}
