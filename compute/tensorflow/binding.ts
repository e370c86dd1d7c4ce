import { ATTRIBUTE_TYPES, type OperationAttribute } from "./attributes.ts";
import { createContext } from "./context.ts";
import { DATA_TYPES, type ElementArray } from "./data_types.ts";
import { type OperationOutput, OperationRunner } from "./operations.ts";
import { openTensorFlow } from "./symbols.ts";
import { TensorTable } from "./tensors.ts";

type Constants = typeof DATA_TYPES & typeof ATTRIBUTE_TYPES;

/** What tfjs-node's kernels need of TensorFlow: its addon, or ours. */
export interface TensorFlowBinding extends Constants {
  /** Copies an array into a new native tensor and gives its number. */
  createTensor(
    shape: readonly number[],
    dtype: number,
    values: unknown,
  ): number;
  /** Frees a native tensor. */
  deleteTensor(id: number): void;
  /** Copies a native tensor's elements out. */
  tensorDataSync(id: number): ElementArray;
  /** Runs one operation. */
  executeOp(
    name: string,
    attributes: readonly OperationAttribute[],
    inputs: readonly number[],
    outputs: number,
  ): OperationOutput[];
  /** How many native tensors are alive. */
  getNumOfTensors(): number;
  /** How many saved models are loaded. */
  getNumOfSavedModels(): number;
  /** Whether a GPU computes. */
  isUsingGpuDevice(): boolean;
  /** The version of the library. */
  TF_Version: string;
}

/**
 * Opens a TensorFlow library and makes of it what tfjs-node's kernels need.
 * Saved models are left out: nothing here reads them.
 *
 * @param path The library's file.
 * @param threads Threads that it may use; 0 leaves it to TensorFlow.
 * @throws {Error} If the library cannot be opened or does not start.
 */
export function openBinding(path: string, threads: number): TensorFlowBinding {
  const context = createContext(openTensorFlow(path), threads);
  const tensors = new TensorTable(context);
  const operations = new OperationRunner(context, tensors);
  return {
    ...DATA_TYPES,
    ...ATTRIBUTE_TYPES,
    TF_Version: context.version,
    createTensor: (shape, dtype, values) =>
      tensors.create(shape, dtype, values),
    deleteTensor: (id) => tensors.delete(id),
    tensorDataSync: (id) => tensors.read(id),
    executeOp: (name, attributes, inputs, outputs) =>
      operations.execute(name, attributes, inputs, outputs),
    getNumOfTensors: () => tensors.size,
    getNumOfSavedModels: () => 0,
    isUsingGpuDevice: () => context.isGpu,
  };
}
