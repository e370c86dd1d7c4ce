import type { Executable } from "../executable.ts";
import { testsWith } from "../../../tests/testdata/tests_with.ts";
import { isXlaInstalled } from "../install/installed.ts";
import type { TensorArray } from "../tensors.ts";

/** Adds a test that needs a plugin: run `install-xla` for them. */
export const test = testsWith("XLA", isXlaInstalled());

/** Adds two vectors of four; the first one is the state. */
export const ADD_TO_STATE = `module @add {
  func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<4xf32>) -> (tensor<4xf32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
`;

/** Adds and multiplies vectors of a length. */
export function addAndMultiply(length: number): string {
  const type = `tensor<${length}xf32>`;
  return `module @add_and_multiply {
  func.func public @main(%a: ${type}, %b: ${type}) -> (${type}, ${type}) {
    %sum = stablehlo.add %a, %b : ${type}
    %product = stablehlo.multiply %a, %b : ${type}
    return %sum, %product : ${type}, ${type}
  }
}
`;
}

/** Runs a program once, on copies of arrays; returns all its outputs. */
export function runOnce(
  program: Executable,
  ...arrays: TensorArray[]
): TensorArray[] {
  using call = program.bind(arrays.map((array) => ({ array })));
  call.run();
  return program.outputs.map((_, i) => call.read(i));
}
