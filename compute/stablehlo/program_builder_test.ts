import { assertEquals, assertStringIncludes } from "@std/assert";
import { type HloTensor, ProgramBuilder } from "./program_builder.ts";

const x: HloTensor = { name: "%x", shape: [2, 3], dtype: "float32" };

/** The last operation of a program. */
function lastOf({ text }: ProgramBuilder): string {
  return text.slice(text.lastIndexOf("%v"));
}

Deno.test("an operation is a line with its types", () => {
  const program = new ProgramBuilder();
  const made = program.map("add", x, x);
  assertEquals(
    program.text,
    '%v0 = "stablehlo.add"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>',
  );
  assertEquals(made, { name: "%v0", shape: [2, 3], dtype: "float32" });
});

Deno.test("operations of other dialects keep their name", () => {
  const program = new ProgramBuilder();
  program.map("chlo.erf", x);
  assertStringIncludes(program.text, '= "chlo.erf"(%x)');
});

Deno.test("numbers are written exactly", () => {
  const written = (value: number, dtype: HloTensor["dtype"] = "float32") => {
    const program = new ProgramBuilder();
    program.scalar(value, dtype);
    return program.text.match(/dense<(.*?)>/)![1];
  };
  assertEquals(written(1), "1.0e+0");
  assertEquals(written(-0), "-0.0e+0");
  assertEquals(Number(written(0.1)), Math.fround(0.1));
  assertEquals(written(Infinity), "0x7F800000");
  assertEquals(written(-Infinity), "0xFF800000");
  assertEquals(written(NaN), "0x7FC00000");
  assertEquals(written(1e39), "0x7F800000");
  assertEquals(written(-7, "int32"), "-7");
  assertEquals(written(1, "bool"), "true");
});

Deno.test("equal constants are written once", () => {
  const program = new ProgramBuilder();
  assertEquals(program.fill(2, x), program.fill(2, x));
  assertEquals(program.text.split("\n").length, 1);
});

Deno.test("tensors of numbers are written as bytes", () => {
  const program = new ProgramBuilder();
  program.constant(Float32Array.of(1, 2), { shape: [2], dtype: "float32" });
  assertStringIncludes(program.text, 'dense<"0x0000803f00000040">');
  const none = program.constant(new Float32Array(), {
    shape: [0],
    dtype: "float32",
  });
  assertEquals(none.shape, [0]);
});

Deno.test("what changes nothing is left out", () => {
  const program = new ProgramBuilder();
  assertEquals(program.cast(x, "float32"), x);
  assertEquals(program.broadcast(x, [2, 3]), x);
  assertEquals(program.reshape(x, [2, 3]), x);
  assertEquals(program.transpose(x, [0, 1]), x);
  assertEquals(program.reverse(x, []), x);
  assertEquals(program.range(x, { axis: 0, from: 0, to: 2 }), x);
  assertEquals(program.pad(x, 0, { before: [0, 0], after: [0, 0] }), x);
  assertEquals(program.concat([x], 0), x);
  assertEquals(program.reduce("add", x, { axes: [], from: 0 }), x);
  assertEquals(program.text, "");
});

Deno.test("shapes follow from what is done", () => {
  const program = new ProgramBuilder();
  const shapes = [
    program.broadcast(x, [4, 2, 3]),
    program.transpose(x, [1, 0]),
    program.range(x, { axis: 1, from: 1, to: 3 }),
    program.slice(x, { start: [0, 0], limit: [2, 3], strides: [1, 2] }),
    program.concat([x, x], 1),
    program.pad(x, 0, { before: [1, 0], after: [0, 2], between: [1, 0] }),
    program.reduce("add", x, { axes: [1], from: 0 }),
    program.dot(x, x, { contract: [[1], [1]] }),
    program.dot(x, x, { batch: [[0], [0]], contract: [[1], [1]] }),
  ].map(({ shape }) => shape);
  assertEquals(shapes, [
    [4, 2, 3],
    [3, 2],
    [2, 2],
    [2, 2],
    [2, 6],
    [4, 5],
    [2],
    [2, 2],
    [2],
  ]);
});

Deno.test("a region is a function of scalars", () => {
  const program = new ProgramBuilder();
  program.reduce("maximum", x, { axes: [0, 1], from: -Infinity });
  assertEquals(
    lastOf(program).split("\n").at(-1),
    "}) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>",
  );
  assertStringIncludes(program.text, '"stablehlo.maximum"(%v1, %v2)');
  assertStringIncludes(program.text, '"stablehlo.return"');
});

Deno.test("sorting makes a result of each tensor", () => {
  const program = new ProgramBuilder();
  const made = program.sort([x, { ...x, dtype: "int32" }], 1);
  assertEquals(made.map(({ dtype }) => dtype), ["float32", "int32"]);
  assertEquals(made.map(({ name }) => name.slice(-2)), ["#0", "#1"]);
});

Deno.test("products are of float32's precision on GPUs too", () => {
  const program = new ProgramBuilder();
  program.dot(x, x, { contract: [[1], [1]] });
  assertStringIncludes(
    lastOf(program),
    "precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]",
  );
});
