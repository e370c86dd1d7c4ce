import { assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../../backends/select_backend.ts";
import { float, operationsOf } from "../../testdata/traced.ts";
import { trace } from "../../tracing/trace.ts";
import { separateParts } from "./separate_parts.ts";

await selectBackend("cpu");

const LARGE = 1 << 14;
const inputs = {
  a: float(LARGE),
  b: float(3),
  c: float(4),
  d: float(2, LARGE),
  x: float(LARGE + 7 + 2 * LARGE),
  rate: float(),
};
type Given = Record<keyof typeof inputs, tf.Tensor>;

const SIZES = [LARGE, 3, 4, 2 * LARGE];
const join = ({ a, b, c, d }: Given) =>
  tf.concat([a, b, c, tf.reshape(d, [-1])]);

/** Operations and their shapes. */
function separated(fn: (given: Given) => Record<string, tf.Tensor>): string[] {
  const graph = separateParts(trace((given) => fn(given), inputs));
  return graph.nodes.map(({ op, outputs }) =>
    `${op} ${outputs.map(({ shape }) => shape.join("x"))}`
  );
}

Deno.test("large parts have operations of their own, small ones are joined", () => {
  const made = separated((given) => {
    const whole = tf.sqrt(tf.mul(join(given), given.rate));
    const [a, b, c, d] = tf.split(whole, SIZES);
    return { a, b, c, d: tf.reshape(d, [2, LARGE]) };
  });
  assertEquals(made, [
    "Reshape 32768",
    "Concat 7",
    "Multiply 16384",
    "Multiply 32768",
    "Multiply 7",
    "Sqrt 16384",
    "Sqrt 32768",
    "Sqrt 7",
    "Split 3,4",
    "Reshape 2x16384",
  ]);
});

Deno.test("vectors of the same parts are gone through together", () => {
  const made = separated((given) => {
    const whole = join(given);
    const [a, b] = tf.split(tf.sub(whole, tf.square(whole)), SIZES);
    return { a, b };
  });
  assertEquals(made.filter((it) => it.startsWith("S")), [
    "Square 16384",
    "Square 7",
    "Sub 16384",
    "Sub 7",
    "Split 3,4",
  ]);
});

Deno.test("a vector that is summed stays joined beside its parts", () => {
  const made = separated((given) => {
    const whole = join(given);
    const scaled = tf.mul(whole, tf.sum(whole));
    const [a] = tf.split(scaled, SIZES);
    return { a };
  });
  assertEquals(made, [
    "Reshape 32768",
    "Concat 49159",
    "Sum ",
    "Multiply 16384",
  ]);
});

Deno.test("what is not split at the same places is left as it is", () => {
  const cases = [
    (given: Given) => ({ y: tf.neg(join(given)) }),
    (given: Given) => ({ y: tf.sum(tf.neg(join(given))) }),
    (given: Given) => {
      const [y, z] = tf.split(tf.add(join(given), given.x), SIZES);
      return { y, z };
    },
    ({ b, c }: Given) => {
      const [y, z] = tf.split(tf.neg(tf.concat([b, c])), [3, 4]);
      return { y, z };
    },
  ];
  for (const fn of cases) {
    const graph = trace((given: Given) => fn(given), inputs);
    assertEquals(operationsOf(separateParts(graph)), operationsOf(graph));
  }
});
