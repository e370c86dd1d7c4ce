import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "./backends/select_backend.ts";
import { compile, compileStep } from "./compile/compile.ts";
import { randomBits, randomNormal, randomUniform } from "./random_bits.ts";
import { testCompiledEngines, testEngines } from "./testdata/engines.ts";
import { typed } from "./testdata/traced.ts";

await selectBackend("cpu");

const KEY = Int32Array.of(123, -456);

/** All kinds of numbers, of one key and counter. */
function numbersOf({ key, counter }: { key: tf.Tensor; counter: tf.Tensor }) {
  const source = { key, counter };
  return {
    bits: randomBits([3, 5], source),
    uniform: randomUniform([3, 5], source),
    normal: randomNormal([3, 5], source),
  };
}

function eagerNumbers(counter: number) {
  return tf.tidy(() => {
    const key = tf.tensor1d(KEY, "int32");
    const made = numbersOf({ key, counter: tf.scalar(counter, "int32") });
    return Object.fromEntries(
      Object.entries(made).map(([name, it]) => [name, it.dataSync().slice()]),
    );
  });
}

testCompiledEngines("numbers are those of eager functions", (engine) => {
  const fn = compile(numbersOf, {
    inputs: { key: typed("int32", 2), counter: typed("int32") },
    engine,
  });
  for (const counter of [0, 1, 2 ** 31 - 1]) {
    const { bits, uniform, normal } = fn.run({ key: KEY, counter });
    const eager = eagerNumbers(counter);
    assertEquals(bits, eager.bits);
    assertEquals(uniform, eager.uniform);
    normal.forEach((it, i) => assertAlmostEquals(it, eager.normal[i], 1e-5));
  }
});

Deno.test("numbers are the same on cpu and wasm", async () => {
  const cpu = eagerNumbers(7);
  await selectBackend("wasm");
  const wasm = eagerNumbers(7);
  await selectBackend("cpu");
  assertEquals(wasm.bits, cpu.bits);
  assertEquals(wasm.uniform, cpu.uniform);
});

testEngines("a state of a key and a counter resumes the numbers", (engine) => {
  const make = () =>
    compileStep(({ key, counter }) => ({
      state: { key, counter: tf.add(counter, tf.scalar(1, "int32")) },
      numbers: randomUniform([4], { key, counter }),
    }), {
      state: { key: tf.tensor1d(KEY, "int32"), counter: tf.scalar(0, "int32") },
      inputs: {},
      engine,
    });
  const step = make(), later = make();
  const seen = [0, 1, 2].map(() => step.run({}).numbers.slice());
  assertEquals(new Set(seen.map(String)).size, 3);
  const saved = step.read();
  assertEquals(saved.counter.data[0], 3);
  later.write(saved);
  assertEquals(later.run({}).numbers, step.run({}).numbers);
  step.close();
  later.close();
});

Deno.test("each row of several counters is that of a call of its own", () => {
  const key = tf.tensor1d(KEY, "int32");
  const counters = [7, 0, 8];
  for (const draw of [randomBits, randomUniform, randomNormal]) {
    for (const shape of [[5], [2, 3], []]) {
      const counter = tf.tensor1d(counters, "int32");
      const made = draw([3, ...shape], { key, counter }).dataSync();
      const rows = counters.flatMap((it) => {
        const counter = tf.scalar(it, "int32");
        return [...draw(shape, { key, counter }).dataSync()];
      });
      assertEquals([...made], rows);
    }
  }
});

Deno.test("uniform numbers fill the range, normal ones have its moments", () => {
  const size = 20_000;
  const key = tf.tensor1d([1, 2], "int32"), counter = tf.scalar(3, "int32");
  const uniform = randomUniform([size], { key, counter }).dataSync();
  assert(uniform.every((it) => it >= 0 && it < 1));
  const buckets = new Array(10).fill(0);
  for (const it of uniform) buckets[Math.floor(10 * it)]++;
  for (const count of buckets) assertAlmostEquals(count / size, 0.1, 0.01);
  const { mean, variance } = tf.moments(randomNormal([size], { key, counter }));
  assertAlmostEquals(mean.dataSync()[0], 0, 0.03);
  assertAlmostEquals(variance.dataSync()[0], 1, 0.03);
});

testEngines("counters that are not one a row are refused", (engine) => {
  const cases: [number[], number[], string][] = [
    [[6], [4], "random numbers [6] by counters [4]: expected a scalar or [6]"],
    [[2, 3], [3], "expected a scalar or [2]"],
    [[3, 3], [3, 1], "by counters [3,1]: expected a scalar or [3]"],
    [[], [1], "random numbers [] by counters [1]: expected a scalar"],
    [[0], [2], "expected a scalar or [0]"],
  ];
  for (const draw of [randomBits, randomUniform, randomNormal]) {
    for (const [shape, counters, message] of cases) {
      const draws = () =>
        compile((source) => ({ numbers: draw(shape, source) }), {
          inputs: {
            key: typed("int32", 2),
            counter: typed("int32", ...counters),
          },
          engine,
        }).run({
          key: KEY,
          counter: new Int32Array(tf.util.sizeFromShape(counters)),
        });
      assertThrows(draws, RangeError, message);
    }
  }
});
