import { shuffle } from "@bellman/buffers";
import type {
  ArrayWithShape,
  RandomStream,
  TensorData,
  TensorType,
} from "@bellman/compute";
import { type DictOf, drawNoise, type Policy } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import type { Draw, Tensors } from "./algorithm.ts";
import { hintAt } from "@bellman/files/options";

/** Kinds of random numbers of updates. */
const KINDS = ["normal", "uniform", "permutation"];

/** Draws random numbers of updates from a stream. */
export function hostDraw(random: RandomStream): Draw {
  return ({ kind, size }, rows) => {
    const shape = [rows, size];
    if (!KINDS.includes(kind)) {
      throw new TypeError(
        `Cannot draw '${kind}' numbers: ${hintAt(String(kind), KINDS)}`,
      );
    }
    if (!shape.every((it) => Number.isSafeInteger(it) && it >= 0)) {
      throw new RangeError(
        `Cannot draw [${shape}] random numbers: expected whole numbers of at least 0`,
      );
    }
    if (kind !== "permutation") {
      const data = new Float32Array(rows * size);
      drawNoise({ noise: { kind, size } }, random, data);
      return { data, shape };
    }
    const data = new Int32Array(rows * size);
    for (let at = 0; at < data.length; at += size) {
      const row = data.subarray(at, at + size);
      for (let i = 0; i < size; i++) row[i] = i;
      shuffle(row, random);
    }
    return { data, shape };
  };
}

/** Shapes and types of what an update takes beside its batch, by name. */
export function inputTypes(
  inputs: Readonly<Record<string, number | ArrayWithShape>>,
): Record<string, TensorType> {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [name, typeOf(name, input)]),
  );
}

function typeOf(name: string, input: number | ArrayWithShape): TensorType {
  if (typeof input === "number") return { shape: [], dtype: "float32" };
  const { data, shape } = input ?? {};
  if (shape === undefined) {
    throw new TypeError(
      `Cannot learn with ${input} as the input '${name}': expected a number, or what draw gave`,
    );
  }
  const dtype = data instanceof Int32Array ? "int32" : "float32";
  return { shape, dtype };
}

/** Throws unless inputs can be told from the batch, and the learning rate be logged. */
export function checkInputs(
  inputs: Readonly<Record<string, number | ArrayWithShape>>,
  batch: object,
): void {
  const { learningRate = 0 } = inputs;
  if (typeof learningRate !== "number") {
    throw new TypeError(
      "Cannot log the input 'learningRate' as an array: expected a number",
    );
  }
  const twice = Object.keys(inputs).find((name) => name in batch);
  if (twice === undefined) return;
  throw new TypeError(
    `Cannot learn with '${twice}' in the batch and in the inputs: expected two names`,
  );
}

/** Fields of a batch that hold observations. */
const OBSERVATIONS = [
  "observations",
  "nextObservations",
  "betweenObservations",
  "heldObservations",
] as const;

/** Encodes the observations of a batch, and turns `terminated` into numbers. */
export function encodeBatch(
  policy: Policy,
  batch: Readonly<Record<string, DictOf<tf.Tensor>>>,
): Tensors {
  const encoded = { ...batch } as Record<string, tf.Tensor>;
  for (const name of OBSERVATIONS) {
    if (name in batch) encoded[name] = policy.encode(batch[name]);
  }
  if (encoded.terminated) {
    encoded.terminated = tf.cast(encoded.terminated, "float32");
  }
  return encoded;
}

/** Calls an update; where it took a tensor that is not there, the error says which are. */
export function callWithHint<T>(update: () => T, hint: string): T {
  try {
    return update();
  } catch (error) {
    const { message } = error as Error;
    if (/\b(undefined|null)\b/.test(message)) {
      (error as Error).message = `${message}; ${hint}`;
    }
    throw error;
  }
}

/** Returns the inputs of an update without their shapes; throws where a number is not finite. */
export function finiteInputs(
  inputs: Readonly<Record<string, number | ArrayWithShape>>,
): Record<string, number | TensorData> {
  const numbers: Record<string, number | TensorData> = {};
  for (const name in inputs) {
    const input = inputs[name];
    numbers[name] = typeof input === "number" ? input : input.data;
    if (typeof input !== "number" || Number.isFinite(input)) continue;
    throw new RangeError(
      `Cannot learn with ${input} as the input '${name}': expected a finite number`,
    );
  }
  return numbers;
}
