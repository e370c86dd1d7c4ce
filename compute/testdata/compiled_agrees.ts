import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { selectBackend } from "../backends/select_backend.ts";
import { compile } from "../compile/compile.ts";
import {
  type DType,
  sizeOf,
  type TensorData,
  type TensorType,
  typeName,
} from "../graph/graph.ts";
import { noise } from "./backends_agree.ts";
import { type CompiledEngine, testCompiledEngines } from "./engines.ts";

await selectBackend("cpu");

/** A tensor that a compared function is given. */
export interface Given extends TensorType {
  readonly data: TensorData;
}

/** A function of tensors that is run eagerly and compiled. */
export interface CompiledCase {
  readonly fn: (...inputs: tf.Tensor[]) => tf.Tensor | tf.Tensor[];
  readonly inputs: readonly Given[];
  /** The largest difference, relative to the largest number of a tensor. */
  readonly tolerance?: number;
  /** Whether differences are relative to each number instead. */
  readonly each?: boolean;
  /** Whether to compare the gradients of a weighted sum as well. */
  readonly gradients?: boolean;
}

/** Random numbers of a type: small whole ones where it is not `float32`. */
export function given(
  shape: readonly number[],
  { dtype = "float32", seed = 1, of = (value) => value }: {
    dtype?: DType;
    seed?: number;
    /** What is done to the normal numbers. */
    of?: (value: number) => number;
  } = {},
): Given {
  const numbers = noise(shape, seed).map(of);
  switch (dtype) {
    case "float32":
      return { shape, dtype, data: numbers };
    case "bool":
      return {
        shape,
        dtype,
        data: Uint8Array.from(numbers, (it) => +(it > 0)),
      };
    default:
      return { shape, dtype, data: Int32Array.from(numbers, (it) => 4 * it) };
  }
}

/** Numbers that are known. */
export function exactly(
  numbers: readonly number[],
  shape: readonly number[] = [numbers.length],
  dtype: DType = "float32",
): Given {
  const data = { float32: Float32Array, int32: Int32Array, bool: Uint8Array };
  return { shape, dtype, data: data[dtype as "bool"].from(numbers) };
}

/** Whole numbers from 0 to below `end`, many of them equal. */
export function indices(
  shape: readonly number[],
  { end, seed = 1 }: { end: number; seed?: number },
): Given {
  const data = Int32Array.from(
    noise(shape, seed),
    (it) => Math.floor(Math.abs(it * 1e4)) % Math.max(end, 1),
  );
  return { shape, dtype: "int32", data };
}

function toTensor({ data, shape, dtype }: Given): tf.Tensor {
  return tf.tensor(data.slice(), [...shape], dtype as tf.DataType);
}

/** The function with the gradients of its sum, weighted by the last input. */
function withGradients(fn: CompiledCase["fn"]): CompiledCase["fn"] {
  return (...all) => {
    const inputs = all.slice(0, -1);
    const weights = all[all.length - 1];
    const loss = (...xs: tf.Tensor[]) =>
      tf.sum(tf.mul(fn(...xs) as tf.Tensor, weights));
    return [fn(...inputs) as tf.Tensor, ...tf.grads(loss)(inputs)];
  };
}

/** The case of a function and its gradients. */
function gradientCase({ fn, inputs }: CompiledCase): CompiledCase {
  const { shape } = tf.tidy(() => fn(...inputs.map(toTensor)) as tf.Tensor);
  const weights = given(shape, { seed: 99 });
  return { fn: withGradients(fn), inputs: [...inputs, weights] };
}

/**
 * Asserts that a compiled function gives what it gives eagerly on `cpu`:
 * shapes, types and numbers.
 */
export function assertCompiledAgrees(
  it: CompiledCase,
  engine: CompiledEngine,
): void {
  const { tolerance = 2e-5, each = false } = it;
  const { fn, inputs } = it.gradients ? gradientCase(it) : it;
  const list = (given: Record<string, tf.Tensor>) =>
    [fn(...inputs.map((_, i) => given[`x${i}`]))].flat();
  const named = <T>(of: (input: Given) => T) =>
    Object.fromEntries(inputs.map((input, i) => [`x${i}`, of(input)]));
  const compiled = compile(
    (given) => ({ ...list(given as Record<string, tf.Tensor>) }),
    {
      inputs: named(({ shape, dtype }) => ({ shape, dtype })),
      engine,
      threads: 1,
    },
  );
  const arrays = compiled.run(named(({ data }) => data));
  tf.tidy(() => {
    list(named(toTensor)).forEach((expected, i) => {
      const { value } = compiled.graph.outputs[i];
      assertEquals(typeName(value), typeName(expected as TensorType));
      const actual = arrays[i] as unknown as TensorData;
      assertSameNumbers(actual, expected, { tolerance, each });
    });
  });
}

/** Numbers below this are compared as if they were as large. */
const SMALL = 1e-2;

const absolute = (it: number) => Number.isFinite(it) ? Math.abs(it) : 0;

function assertSameNumbers(
  actual: TensorData,
  expected: tf.Tensor,
  { tolerance, each }: { tolerance: number; each: boolean },
): void {
  const numbers = expected.dataSync() as Float32Array;
  assertEquals(actual.length, sizeOf(expected.shape));
  const largest = numbers.reduce((a, it) => Math.max(a, absolute(it)), SMALL);
  const close = CLOSE[expected.dtype] ?? Object.is;
  for (let i = 0; i < actual.length; i++) {
    const scale = each ? Math.max(SMALL, absolute(numbers[i])) : largest;
    assert(
      close(actual[i], numbers[i], tolerance * scale),
      `number ${i}: ${actual[i]} compiled, ${numbers[i]} on cpu`,
    );
  }
}

/** Whether numbers of a type are the same. */
const CLOSE: Readonly<
  Record<string, (a: number, b: number, within: number) => boolean>
> = {
  float32: (a, b, within) => Math.abs(a - b) <= within || Object.is(a, b),
  // TensorFlow.js lets booleans be any byte.
  bool: (a, b) => (a !== 0) === (b !== 0),
};

/** The case with its inputs as constants, which are computed at once. */
function ofConstants(it: CompiledCase): CompiledCase {
  const { fn, inputs } = it.gradients ? gradientCase(it) : it;
  return {
    ...it,
    fn: () => fn(...inputs.map(toTensor)),
    inputs: [],
    gradients: false,
  };
}

/** Runs of a test with constants. */
const CONSTANT_RUNS = 2;

/** Whether tests have all of their runs, as in `tests/long`, or a third. */
const IS_LONG = Deno.env.has("BELLMAN_LONG_TESTS");

/** Share of the runs that an engine takes part in: XLA compiles for longer. */
const SHARES = IS_LONG ? { onnx: 1, xla: 1 / 3 } : { onnx: 1 / 3, xla: 1 / 6 };

/** Tests that what is made of random settings agrees, on each engine. */
export function testCompiled<T>(
  name: string,
  settings: fc.Arbitrary<T>,
  make: (it: T) => CompiledCase,
  runs = 15,
): void {
  testCompiledEngines(name, (engine) => {
    const check = (of: (it: CompiledCase) => CompiledCase, numRuns: number) =>
      fc.assert(
        fc.property(
          settings,
          (it) => assertCompiledAgrees(of(make(it)), engine),
        ),
        { seed: 1, numRuns },
      );
    check((it) => it, Math.ceil(runs * SHARES[engine]));
    // What is computed at once does not reach an engine.
    if (engine === "onnx") check(ofConstants, CONSTANT_RUNS);
  });
}

/** A random tensor that a function is given. */
interface OneTensor {
  readonly shape: readonly number[];
  readonly dtype?: DType;
  readonly seed: number;
  readonly of?: (value: number) => number;
}

/**
 * Tests that a function of one random tensor agrees, as do its gradients where
 * there are some: those of whole numbers are none.
 */
export function testCompiledOne<T extends OneTensor>(
  name: string,
  settings: fc.Arbitrary<T>,
  fn: (x: tf.Tensor, it: T) => tf.Tensor | tf.Tensor[],
  { runs, gradients = () => true }: {
    runs?: number;
    gradients?: (it: T) => boolean;
  } = {},
): void {
  testCompiled(name, settings, (it) => ({
    fn: (x) => fn(x, it),
    inputs: [given(it.shape, it)],
    gradients: (it.dtype ?? "float32") === "float32" && gradients(it),
  }), runs);
}
