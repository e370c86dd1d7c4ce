import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { OnnxSession } from "../runtime/onnx_session.ts";
import { exportOnnx } from "./export_onnx.ts";

await tf.setBackend("cpu");

const X = { x: { shape: [1, 8, 8, 16], dtype: "float32" } } as const;
const text = (file: Uint8Array) => new TextDecoder("latin1").decode(file);

Deno.test("a file has standard operators alone, convolutions included", () => {
  const filter = tf.randomNormal([3, 3, 16, 16]) as tf.Tensor4D;
  const file = text(exportOnnx(
    ({ x }) => ({ y: tf.relu(tf.conv2d(x, filter, 1, "valid")) }),
    { inputs: X },
  ));
  assert(file.includes("Conv"));
  assertEquals(file.includes("nchwc"), false);
  filter.dispose();
});

Deno.test("the same function gives the same file", () => {
  const write = () =>
    exportOnnx(({ x }) => ({ y: tf.mean(tf.tanh(x)) }), {
      inputs: X,
      metadata: { a: "1", b: "2" },
    });
  assertEquals(write(), write());
});

Deno.test("an open batch refuses what depends on its length otherwise", () => {
  const batch = "rows";
  const x = { shape: [1, 3], dtype: "float32" } as const;
  assertThrows(
    () =>
      exportOnnx(({ x }) => ({ y: tf.div(tf.sum(x, 0), x.shape[0]) }), {
        inputs: { x },
        batch,
      }),
    TypeError,
    "Cannot leave the batch open: the function does other operations on other lengths of it; give the length",
  );
  const file = text(
    exportOnnx(({ x }) => ({ y: tf.sum(x, 0), z: tf.tanh(x) }), {
      inputs: { x },
      batch,
    }),
  );
  assertEquals(file.match(/rows/g)?.length, 2, "of the input and one output");
});

type OfRows = (x: tf.Tensor2D) => tf.Tensor;

/** Exports a function of rows of 3 numbers, of any count. */
function openRows(fn: OfRows): Uint8Array<ArrayBuffer> {
  return exportOnnx(({ x }) => ({ y: fn(x as tf.Tensor2D) }), {
    inputs: { x: { shape: [1, 3], dtype: "float32" } },
    batch: "rows",
  });
}

const places = (count: number) => tf.range(0, count, 1, "int32");
const twos = (...shape: number[]) =>
  tf.tensor(new Float32Array(tf.util.sizeFromShape(shape)).fill(2), shape);
const flat = (x: tf.Tensor) => tf.reshape(x, [-1]);

for (
  const [name, fn] of Object.entries<OfRows>({
    "a count of all numbers": (x) =>
      tf.add(x, tf.sum(tf.gather(flat(x), places(x.size)))),
    "a count of all rows but one": (x) =>
      tf.add(x, tf.sum(tf.gather(x, places(x.shape[0] - 1)))),
    "a row repeated for each number": (x) =>
      tf.add(x, tf.sum(tf.sub(flat(x), twos(x.size)))),
    "rows as long as the batch": (x) =>
      tf.add(
        x,
        tf.sum(
          tf.add(tf.matMul(x, x, false, true), twos(x.shape[0], x.shape[0])),
        ),
      ),
  })
) {
  Deno.test(`a file of an open batch computes what the function does: ${name}`, () => {
    const session = new OnnxSession(openRows(fn), { threads: 1 });
    for (const rows of [1, 2, 5]) {
      const x = Float32Array.from({ length: 3 * rows }, (_, i) => i + 1);
      const y = new Float32Array(3 * rows), shape = [rows, 3];
      const bound = { shape, dtype: "float32" } as const;
      session.bind([{ ...bound, name: "x", data: x }], [
        { ...bound, name: "y", data: y },
      ]).run();
      const wanted = tf.tidy(() => fn(tf.tensor2d(x, [rows, 3])).dataSync());
      assertEquals([...y], [...wanted], `${rows} rows`);
    }
  });
}

Deno.test("lengths and steps that are no multiples of the batch are refused", () => {
  for (
    const fn of [
      (x) => tf.add(x, tf.sum(tf.ones([x.shape[0] ** 2]))),
      (x) => tf.add(x, tf.sum(tf.gather(flat(x), places(x.shape[0] ** 2)))),
      (x) => {
        const rows = x.shape[0];
        return tf.gather(x, tf.range(0, rows ** 2, rows, "int32"));
      },
    ] as OfRows[]
  ) {
    assertThrows(() => openRows(fn), TypeError, "Cannot leave the batch open");
  }
});
