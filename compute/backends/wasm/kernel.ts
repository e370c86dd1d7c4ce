import * as tf from "@tensorflow/tfjs";
import type { BackendWasm } from "@tensorflow/tfjs-backend-wasm";

/** Name under which TensorFlow.js registers the backend. */
export const WASM = "wasm";

/** Arguments of a kernel. */
export interface KernelCall {
  readonly inputs: Record<string, tf.TensorInfo>;
  readonly backend: BackendWasm;
  readonly attrs: Record<string, unknown>;
}

/** A kernel of the wasm backend: inputs and attributes in, a tensor out. */
export type WasmKernel = (call: KernelCall) => tf.TensorInfo;

/** Calls another kernel of the wasm backend from inside of one. */
export function callKernel(
  name: string,
  { inputs, backend, attrs = {} }:
    & Omit<KernelCall, "attrs">
    & Partial<Pick<KernelCall, "attrs">>,
): tf.TensorInfo {
  const { kernelFunc } = tf.getKernel(name, WASM);
  return (kernelFunc as unknown as WasmKernel)({ inputs, backend, attrs });
}

/** Numbers of a tensor of any type but strings and complex numbers. */
export type NumberArray = Float32Array | Int32Array | Uint8Array;

/** Returns the numbers of a tensor, as a view of the backend's memory. */
export function numbersOf(
  backend: BackendWasm,
  tensor: tf.TensorInfo,
): NumberArray {
  return backend.typedArrayFromHeap(tensor as tf.Tensor) as NumberArray;
}

/** Returns the numbers of a float32 tensor, as a view of the backend's memory. */
export function floatsOf(
  backend: BackendWasm,
  tensor: tf.TensorInfo,
): Float32Array {
  return numbersOf(backend, tensor) as Float32Array;
}

/** Registers a kernel in place of the backend's own, if it has one. */
export function registerKernel(
  name: string,
  kernel: WasmKernel,
  setup?: tf.KernelConfig["setupFunc"],
): void {
  if (tf.getKernel(name, WASM) !== undefined) tf.unregisterKernel(name, WASM);
  tf.registerKernel({
    kernelName: name,
    backendName: WASM,
    setupFunc: setup,
    kernelFunc: kernel as unknown as tf.KernelConfig["kernelFunc"],
  });
}

/** Replaces a stock kernel by one that calls it. */
export function mendKernel(
  name: string,
  mend: (stock: WasmKernel) => WasmKernel,
): void {
  const { kernelFunc, setupFunc } = tf.getKernel(name, WASM);
  registerKernel(name, mend(kernelFunc as unknown as WasmKernel), setupFunc);
}
