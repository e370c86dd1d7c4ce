import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { selectBackend } from "../backends/select_backend.ts";
import { RandomStream } from "../random_stream.ts";

/** A function of tensors whose value and gradients are compared. */
export interface AgreementCase {
  /** The shapes of its inputs. */
  shapes: readonly (readonly number[])[];
  /** The function. */
  op: (...inputs: tf.Tensor[]) => tf.Tensor;
  /** What is done to the normal numbers of the inputs. */
  of?: (value: number) => number;
  /** The largest difference, relative to the largest number of a tensor. */
  tolerance?: number;
  /** Whether to compare the value alone. */
  valueOnly?: boolean;
}

/** Normal numbers by seed, enough for a shape. */
export function noise(shape: readonly number[], seed: number): Float32Array {
  const size = shape.reduce((a, b) => a * b, 1);
  return new RandomStream(seed).fillNormal(new Float32Array(size));
}

type Result = { shape: number[]; numbers: Float32Array };

function read(tensor: tf.Tensor): Result {
  return {
    shape: tensor.shape,
    numbers: Float32Array.from(tensor.dataSync()),
  };
}

/** The value of a case and the gradients of its weighted sum, on one backend. */
export async function valueAndGradientsOn(
  backend: "cpu" | "wasm",
  { shapes, op, of = (value) => value, valueOnly = false }: AgreementCase,
): Promise<Result[]> {
  await selectBackend(backend);
  const results: Result[] = [];
  tf.tidy(() => {
    const inputs = shapes.map((shape, i) =>
      tf.tensor(noise(shape, i + 1).map(of), [...shape])
    );
    const value = op(...inputs);
    results.push(read(value));
    if (valueOnly || value.dtype !== "float32") return;
    const weights = tf.tensor(noise(value.shape, 99), value.shape);
    const gradients = tf.grads((...xs: tf.Tensor[]) =>
      tf.sum(tf.mul(op(...xs), weights))
    )(inputs);
    results.push(...gradients.map(read));
  });
  return results;
}

/** Asserts that wasm computes the value and the gradients that cpu does. */
export async function assertBackendsAgree(it: AgreementCase): Promise<void> {
  const { tolerance = 2e-5 } = it;
  const expected = await valueAndGradientsOn("cpu", it);
  const actual = await valueAndGradientsOn("wasm", it);
  expected.forEach(({ shape, numbers }, k) => {
    const what = k === 0 ? "value" : `gradient ${k}`;
    assertEquals(actual[k].shape, shape, what);
    const scale = numbers.reduce((a, x) => Math.max(a, Math.abs(x)), 1e-3);
    numbers.forEach((number, i) => {
      const difference = Math.abs(actual[k].numbers[i] - number);
      assert(
        difference <= tolerance * scale,
        `${what}: ${actual[k].numbers[i]} on wasm, ${number} on cpu`,
      );
    });
  });
}
