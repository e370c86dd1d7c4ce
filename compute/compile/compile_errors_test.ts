import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import type { TensorType } from "../graph/graph.ts";
import { ENGINES, testEngines } from "../testdata/engines.ts";
import { float, typed } from "../testdata/traced.ts";
import { compile } from "./compile.ts";
import type { CompileOptions } from "./options.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

await selectBackend("cpu");

type Options = Omit<CompileOptions<unknown>, "inputs">;

/** A function of one tensor of two numbers, its mean. */
function meanOf(options: Options = {}) {
  return compile(({ batch: { x } }) => ({ mean: tf.mean(x) }), {
    inputs: { batch: { x: float(2) } },
    name: "mean",
    ...options,
  });
}

for (const engine of ENGINES) {
  const test = (name: string, run: () => void) =>
    testEngines(name, run, [engine]);

  test("an input that is missing, or of another type or size, is refused", () => {
    const run = (given: unknown) => () =>
      meanOf({ engine }).run(given as never);
    const x = (x: unknown) => run({ batch: { x } });
    const missing = "TypeError: Cannot run mean without the input 'batch.x', ";
    const input = "Cannot run mean: input 'batch.x'";
    const f32 = "expected float32[2] in a Float32Array";
    const numbers = new Float32Array(3);
    assertRefused({
      [`${missing}float32[2]; did you mean 'batch.z'?`]: run({
        batch: { z: numbers },
      }),
      [`${missing}float32`]: run({}),
      [`${missing}float32[2]`]: run(undefined),
      [`TypeError: ${input} is a Float64Array, ${f32}`]: x(new Float64Array(2)),
      [`TypeError: ${input} is a Int32Array, ${f32}`]: x(
        tf.tensor1d([1, 2], "int32"),
      ),
      [`TypeError: ${input} is no tensor, expected float32[2]`]: x([1, 2]),
      [`TypeError: ${input} is the number 3, expected float32[2]`]: x(3),
      "TypeError: input 'batch.x'": x(null),
      "TypeError: 'batch.x'": x("12"),
      [`RangeError: ${input} has 3 numbers, expected float32[2]; another shape is given as { data, shape }`]:
        x(numbers),
      [`RangeError: ${input} has 3 numbers for shape [2,2]`]: x({
        data: numbers,
        shape: [2, 2],
      }),
    });
  });

  test("a number that the type does not hold is refused", () => {
    const same = (type: TensorType) =>
      compile(({ x }) => ({ x }), { inputs: { x: type }, engine });
    assertRefused({
      "TypeError: input 'x' is the number 0.5, which no int32 is": () =>
        same(typed("int32")).run({ x: 0.5 }),
    });
    assertThrows(() => same(typed("uint8")).run({ x: 256 }), TypeError);
    assertEquals([...same(typed("bool")).run({ x: 1 }).x], [1]);
  });

  test("options out of range are refused", () => {
    for (const maxShapes of [0, -1, 1.5, NaN]) {
      assertRefused({
        [`RangeError: Cannot compile mean with maxShapes = ${maxShapes}`]: () =>
          meanOf({ engine, maxShapes }),
      });
    }
    for (const threads of [0, -1, 1.5, NaN, 1e6]) {
      assertRefused({
        [`RangeError: Cannot run on ${threads} threads`]: () =>
          meanOf({ engine, threads }),
      });
    }
    meanOf({ engine, threads: 2, maxShapes: 1 });
  });

  test("declarations that are none are refused", () => {
    const wrong = { x: { shape: [2], dtype: "float16" } };
    assertRefused({
      "TypeError: Cannot declare 'x' as float16": () =>
        compile(() => ({}), { inputs: wrong as never, engine }),
    });
    const negative = { x: float(-1, 2) };
    assertRefused({
      "RangeError: Cannot declare 'x' with the shape [-1,2]": () =>
        compile(() => ({}), { inputs: negative, engine }),
    });
  });

  test("data with another shape is taken", () => {
    const compiled = meanOf({ engine, onNotice: () => {} });
    const data = Float32Array.of(1, 2, 6);
    const { mean } = compiled.run({ batch: { x: { data, shape: [3, 1] } } });
    assertEquals([...mean], [3]);
    const tensor = tf.tensor2d([[1, 2], [3, 6]]);
    assertEquals([...compiled.run({ batch: { x: tensor } }).mean], [3]);
    const { mean: rest } = compiled.run({ batch: { x: data.subarray(1) } });
    assertEquals([...rest], [4]);
  });
}

Deno.test("other shapes are compiled once each, with a notice", () => {
  const notices: string[] = [];
  const compiled = meanOf({
    engine: "onnx",
    maxShapes: 3,
    onNotice: (line) => notices.push(line),
  });
  const meanOver = (length: number) => {
    const data = new Float32Array(length).fill(length);
    return compiled.run({ batch: { x: { data, shape: [length] } } }).mean[0];
  };
  assertEquals([2, 3, 4, 3, 2, 4].map(meanOver), [2, 3, 4, 3, 2, 4]);
  assertEquals(notices, [
    "Compiled mean again for batch.x [3] (2 of at most 3 sets of shapes)",
    "Compiled mean again for batch.x [4] (3 of at most 3 sets of shapes)",
  ]);
  assertRefused({
    "RangeError: Cannot compile mean for batch.x [5]: it was compiled for 3 sets of shapes already; pad the batch or raise maxShapes":
      () => meanOver(5),
  });
  assertEquals(meanOver(3), 3);
});

Deno.test("a shape that cannot be compiled is no notice and takes no place", () => {
  const notices: string[] = [];
  const compiled = compile(
    ({ x }) => ({ y: tf.reshape(x, [2]) }),
    {
      inputs: { x: float(2) },
      engine: "onnx",
      onNotice: (line) => notices.push(line),
    },
  );
  const data = new Float32Array(3);
  assertThrows(() => compiled.run({ x: { data, shape: [3] } }));
  assertEquals(notices, []);
  assertEquals([...compiled.run({ x: Float32Array.of(1, 2) }).y], [1, 2]);
});

Deno.test("an unknown engine names the nearest one", () => {
  assertRefused({
    "RangeError: Unknown engine 'onxx': did you mean 'onnx'?": () =>
      meanOf({ engine: "onxx" as never }),
  });
});

Deno.test("what cannot be compiled is an error at once, and runs eagerly", () => {
  const real = ({ x }: { x: tf.Tensor }) => ({
    y: tf.real(tf.spectral.rfft(x)),
  });
  const inputs = { x: float(2) };
  assertRefused({
    "TypeError: it has no lowering; use other operations, or the engine 'eager'":
      () => compile(real, { inputs, engine: "onnx" }),
  });
  const { y } = compile(real, { inputs, engine: "eager" })
    .run({ x: Float32Array.of(1, 2) });
  assertEquals([...y], [3, -1]);
});

Deno.test("messages call a function by its own name, or 'the function'", () => {
  function ownName({ x }: { x: tf.Tensor }) {
    return { x };
  }
  const inputs = { x: float(2) };
  const run = (it: { run(inputs: never): unknown }) => () =>
    it.run({} as never);
  const unnamed = compile(({ x }) => ({ x }), { inputs });
  assertRefused({
    "TypeError: run ownName ": run(compile(ownName, { inputs })),
    "TypeError: run the function ": run(unnamed),
  });
});
