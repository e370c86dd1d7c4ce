import { assertEquals } from "@std/assert";
import { readSignature } from "./signature.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

Deno.test("readSignature reads what JAX writes", () => {
  const { inputs, outputs } = readSignature(
    `module @jit_step attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<9155xf32> {tf.aliasing_output = 1 : i32}, %arg1: tensor<80x4xf32> {jax.arg_info = "x -> tensor<2xf32> {"}, %arg2: tensor<i32>, %arg3: tensor<3xi1>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<9155xf32> {jax.result_info = "result[1]"}) {
    %0 = call @other(%arg0) : (tensor<9155xf32>) -> tensor<f32>
    return %0, %arg0 : tensor<f32>, tensor<9155xf32>
  }
  func.func private @other(%arg0: tensor<9155xf32>) -> tensor<f32> {
  }
}`,
  );
  assertEquals(inputs, [
    { dtype: "f32", shape: [9155], aliases: 1 },
    { dtype: "f32", shape: [80, 4] },
    { dtype: "i32", shape: [] },
    { dtype: "i1", shape: [3] },
  ]);
  assertEquals(outputs, [
    { dtype: "f32", shape: [] },
    { dtype: "f32", shape: [9155] },
  ]);
});

Deno.test("readSignature reads programs without inputs, outputs or line breaks", () => {
  assertEquals(readSignature("func.func @main() {\n  return\n}"), {
    inputs: [],
    outputs: [],
  });
  const one = readSignature(
    "func.func @main(%a: tensor<f32>) -> tensor<f32> {\nreturn %a : tensor<f32> }",
  );
  assertEquals([one.inputs.length, one.outputs.length], [1, 1]);
});

Deno.test("readSignature reads programs with long texts of numbers", () => {
  const { inputs } = readSignature(
    `func.func @main(%a: tensor<f32> {name = "a\\"{"}) -> tensor<f32> {
  %b = dense<"0x${"00".repeat(1 << 24)}">
}`,
  );
  assertEquals(inputs, [{ dtype: "f32", shape: [] }]);
});

Deno.test("readSignature refuses what it cannot read", () => {
  assertRefused({
    "SyntaxError: no func.func @main": () => readSignature("module {}"),
    "SyntaxError: no typed array holds a tensor<2xbf16>": () =>
      readSignature("func.func @main(%a: tensor<2xbf16>) {\n}"),
  });
});
