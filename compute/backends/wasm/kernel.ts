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

/** Calls another kernel of the wasm backend from inside one. */
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
