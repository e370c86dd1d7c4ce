import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { compile } from "../compile/compile.ts";
import { float } from "../testdata/traced.ts";
import { trace } from "./trace.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

await selectBackend("cpu");

const x = float(4);

/** What tracing a function of one tensor throws. */
function refusal(fn: (x: tf.Tensor) => unknown): string {
  const error = assertThrows(() => trace(({ x }) => fn(x), { x }), TypeError);
  assertEquals(tf.getBackend(), "cpu", "the backend before is restored");
  return error.message;
}

const LINE = String.raw`trace_errors_test\.ts:\d+`;

/** Asserts what tracing a function throws: a pattern in which LINE is a line. */
function assertSays(fn: (x: tf.Tensor) => unknown, pattern: string): void {
  assertMatch(refusal(fn), new RegExp(pattern.replaceAll("LINE", LINE)));
}

const READINGS: Record<string, (x: tf.Tensor) => unknown> = {
  dataSync: (x) => x.dataSync(),
  arraySync: (x) => x.arraySync(),
  data: (x) => void x.data(),
  array: (x) => void x.array(),
  print: (x) => x.print(),
  "data in an async function": async (x) => await x.data(),
};

for (const [name, read] of Object.entries(READINGS)) {
  Deno.test(`reading by ${name} names operation, line and remedy`, () => {
    assertSays((x) => {
      const y = tf.tanh(x);
      const returned = read(y);
      return returned instanceof Promise ? returned : { y };
    }, "^Cannot read the result of 'Tanh' \\(LINE\\) at LINE: .*tf\\.where");
  });
}

Deno.test("reading an input says so", () => {
  const fn = (x: tf.Tensor) => ({ y: tf.mul(x, x.dataSync()[0]) });
  assertSays(fn, "^Cannot read an input at LINE");
});

Deno.test("a reading that was refused is forgotten after its trace", () => {
  assertThrows(() =>
    trace(({ x }) => {
      x.data();
      throw new RangeError("of its own");
    }, { x }), RangeError);
  assertEquals(trace(({ x }) => ({ x }), { x }).nodes.length, 0);
});

Deno.test("numbers that are known may be read", async () => {
  const outside = tf.tensor1d([3, 4]);
  let numbers: Promise<unknown> | undefined;
  trace(({ x }) => {
    numbers = tf.tensor1d([5, 6]).data();
    return { y: tf.mul(x, outside.dataSync()[0]) };
  }, { x });
  assertEquals(await numbers, Float32Array.of(5, 6));
});

const DRAWS: Record<string, (x: tf.Tensor) => tf.Tensor> = {
  randomNormal: () => tf.randomNormal([]),
  randomUniform: () => tf.randomUniform([4]),
  truncatedNormal: () => tf.truncatedNormal([4]),
  randomStandardNormal: () => tf.randomStandardNormal([4]),
  randomGamma: () => tf.randomGamma([4], 1),
  randomUniformInt: () => tf.randomUniformInt([4], 0, 9),
  rand: () => tf.rand([4], Math.random),
  dropout: (x) => tf.dropout(x, 0.5),
};

for (const [name, draw] of Object.entries(DRAWS)) {
  Deno.test(`tf.${name} is refused`, () => {
    const says = `^Cannot trace tf\\.${name} at LINE: .* as an input$`;
    assertSays((x) => ({ y: tf.add(x, draw(x)) }), says);
  });
}

Deno.test("a function of the program's may be called like one that draws", () => {
  function dropout(x: tf.Tensor) {
    return tf.mul(x, tf.tensor1d([0, 1, 0, 1]));
  }
  trace(({ x }) => ({ y: dropout(x) }), { x });
});

Deno.test("an operation without a lowering names itself and its line", () => {
  const fourier = (x: tf.Tensor) => ({ y: tf.real(tf.spectral.rfft(x)) });
  assertSays(
    fourier,
    "^Cannot compile the operation '\\w+' at LINE: .*'eager'$",
  );
  const crop = (x: tf.Tensor) => {
    const image = tf.reshape(x, [1, 2, 2, 1]) as tf.Tensor4D;
    return { y: tf.image.cropAndResize(image, [[0, 0, 1, 1]], [0], [4, 4]) };
  };
  assertSays(crop, "^Cannot compile the operation 'CropAndResize' at LINE");
});

Deno.test("a trace within a trace is refused", () => {
  const says =
    "at LINE: Cannot trace a function while another is traced: call it directly$";
  const exp = ({ x }: { x: tf.Tensor }) => ({ z: tf.exp(x) });
  assertSays((x) => ({ y: trace(exp, { x }) }), says);
  assertSays((x) => compile(exp, { inputs: { x } }).run({ x }), says);
  // Nor is a compiled function called within a traced one.
  const compiled = compile(exp, { inputs: { x } });
  assertSays((x) => compiled.run({ x }), "^Cannot read an input");
});

Deno.test("a tensor of another trace is refused", () => {
  let kept: tf.Tensor | undefined;
  trace(({ x }) => ({ y: kept = tf.keep(tf.exp(x)) }), { x });
  const says = "at LINE: Cannot use a tensor of another traced function";
  assertSays((x) => ({ y: tf.add(x, kept!) }), says);
  kept!.dispose();
});

Deno.test("the function's own error comes through, the backend restored", () => {
  assertRefused({
    "RangeError: of its own": () =>
      trace(() => {
        throw new RangeError("of its own");
      }, { x }),
  });
  assertEquals(tf.getBackend(), "cpu");
});

Deno.test("what a function returns must be tensors in records", () => {
  const expected = ": expected tensors in nested records";
  const wrong: [unknown, string][] = [
    [undefined, `undefined by itself`],
    [3, `a number by itself`],
    [[1], `an array by itself`],
    [new Map(), `a Map by itself`],
    [Promise.resolve({}), `a Promise by itself`],
    [{ y: [1] }, `an array as 'y'`],
    [{ y: { z: 3 } }, `a number as 'y.z'`],
    [{ y: null }, `null as 'y'`],
    [{ y: new Float32Array(1) }, `a Float32Array as 'y'`],
  ];
  for (const [returned, what] of wrong) {
    assertEquals(refusal(() => returned), `Cannot use ${what}${expected}`);
  }
  const alone = refusal((x) => tf.exp(x));
  assertEquals(alone, `Cannot use a Tensor by itself${expected}`);
});

Deno.test("names that are not told apart are refused", () => {
  const message = refusal((x) => ({ "a.b": x, a: { b: tf.exp(x) } }));
  assertEquals(message, "Cannot compile outputs of one name, 'a.b'");
  assertMatch(refusal((x) => ({ "": x })), /outputs without a name/);
  assertRefused({
    "TypeError: Cannot compile inputs of one name, 'a.b'": () =>
      trace(() => ({}), { "a.b": x, a: { b: x } }),
  });
});

Deno.test("declarations that are none are refused", () => {
  const declare = (it: unknown) => () => trace(() => ({}), { x: it as never });
  assertRefused({
    "TypeError: Cannot declare 'x' as float64: expected one of float32, int32, bool, uint8":
      declare({ shape: [2], dtype: "float64" }),
    "RangeError: Cannot declare 'x' with the shape [-1,2]": declare({
      shape: [-1, 2],
      dtype: "float32",
    }),
    "TypeError: Cannot use an array as 'x'": declare([2, 3]),
    "TypeError: by itself": () => trace(() => ({}), x as never),
  });
});
