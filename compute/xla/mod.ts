/**
 * XLA on CPUs and GPUs: programs of StableHLO are compiled by a PJRT plugin and
 * run on memory that JavaScript sees. Importing this opens nothing.
 *
 * @example
 * ```ts
 * import { alignedArray, isXlaInstalled, openXla } from "@bellman/compute/xla";
 * import { assertEquals } from "@std/assert";
 *
 * // The first input gives its memory to the output: it is the state.
 * const program = `
 *   func.func @main(
 *     %sum: tensor<2xf32> {tf.aliasing_output = 0 : i32},
 *     %step: tensor<2xf32>) -> tensor<2xf32> {
 *     %next = stablehlo.add %sum, %step : tensor<2xf32>
 *     return %next : tensor<2xf32>
 *   }
 * `;
 * if (isXlaInstalled()) {
 *   using client = openXla();
 *   const sum = alignedArray("f32", 2), step = alignedArray("f32", 2);
 *   const call = client.compile(program).bind([
 *     { array: sum, use: "share" },
 *     { array: step, use: "borrow" },
 *   ]);
 *   step.set([1, 10]);
 *   for (let i = 0; i < 3; i++) call.run();
 *   assertEquals(sum, Float32Array.of(3, 30));
 * }
 * ```
 *
 * @module
 */
export { type ArrayUse, BoundCall, type CallInput } from "./bound_call.ts";
export * from "./client.ts";
export type { XlaFlags } from "./compile_options.ts";
export { Executable, type ProgramMemory } from "./executable.ts";
export { isXlaInstalled, type XlaDeviceName } from "./install/installed.ts";
export type { NamedValue } from "./named_values.ts";
export * from "./open_xla.ts";
export { XlaError } from "./plugin.ts";
export * from "./signature.ts";
export {
  alignedArray,
  type ElementArrays,
  type ElementType,
  type TensorArray,
  type TensorSpec,
} from "./tensors.ts";
