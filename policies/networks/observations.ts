import * as tf from "@tensorflow/tfjs";
import type {
  Batch,
  BoxArray,
  BoxSpace,
  DictSpace,
  ObservationScaling,
  Space,
  StateTree,
  VecStep,
} from "@bellman/types";
import { ARRAYS, flattenRows, sizeOf } from "./_layers.ts";

/** Value, or one value for each part of a dict observation by name. */
export type DictOf<T> = T | Readonly<Record<string, T>>;

/** Returns true for numbers, arrays, tensors and their types, false for records of them. */
function isOne(value: unknown): boolean {
  return typeof value === "number" || ArrayBuffer.isView(value) ||
    Array.isArray(value) || Array.isArray((value as { shape: unknown }).shape);
}

/**
 * Maps a value, or the value of each part.
 *
 * @param value Array, tensor, type or number, or a record of them by part.
 * @param change Function of a value, and of the part's name, if there are parts.
 * @returns The result, or a record of results by part.
 *
 * @example
 * ```ts
 * import { mapParts } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const sizes = { camera: Uint8Array.of(1, 2), joints: Float32Array.of(3) };
 * assertEquals(mapParts(sizes, (part) => part.length), { camera: 2, joints: 1 });
 * assertEquals(mapParts([1, 2, 3], (all) => all.length), 3);
 * ```
 */
export function mapParts<T, U>(
  value: DictOf<T>,
  change: (one: T, name?: string) => U,
): DictOf<U> {
  if (isOne(value)) return change(value as T);
  const parts = value as Readonly<Record<string, T>>;
  const changed: Record<string, U> = {};
  for (const name in parts) changed[name] = change(parts[name], name);
  return changed;
}

/**
 * Returns the value of a part, or the value itself if there are no parts.
 *
 * @param value Value, or record of values by part.
 * @param name Name of the part; undefined if there are none.
 *
 * @example
 * ```ts
 * import { partOf } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(partOf({ camera: 1, joints: 2 }, "joints"), 2);
 * assertEquals(partOf(3, undefined), 3);
 * ```
 */
export function partOf<T>(value: DictOf<T>, name: string | undefined): T {
  return name === undefined
    ? value as T
    : (value as Readonly<Record<string, T>>)[name];
}

/** Arrays of observations. */
export type ObservationArray =
  | Float32Array
  | Float64Array
  | Int32Array
  | Uint32Array
  | Uint8Array
  | readonly number[];

/** Shape and type of observations before encoding. */
export interface ObservationInput {
  /** Shape of one observation. */
  readonly shape: readonly number[];
  /** Element type. */
  readonly dtype: "float32" | "int32" | "uint8";
}

/**
 * Encoder that turns the environment's observations into network inputs. Each part of a
 * dict space has its own array until {@linkcode ObservationEncoder.encode} joins them.
 */
export interface ObservationEncoder {
  /** Shape of one encoded observation. */
  readonly observationShape: readonly number[];
  /**
   * Shapes of the encoded parts, which lie side by side in this order.
   *
   * @default there are no parts
   */
  readonly observationParts?: Readonly<Record<string, readonly number[]>>;
  /** Number of elements of one observation, as the environment returns it. */
  readonly observationSize: number;
  /** Shape and type of one observation before {@linkcode encode}. */
  readonly observationInput: DictOf<ObservationInput>;
  /** Divisor of {@linkcode encode}: 255 for bytes from 0 to 255, else 1. */
  readonly observationDivisor: DictOf<number>;
  /**
   * Copies observations into arrays of {@linkcode observationInput}'s type.
   *
   * @param batch Observations `[batchSize, ...]`, row-major.
   * @param into Target arrays; new ones if left out.
   * @returns The arrays.
   * @throws {RangeError} If the batch's length does not fit, or it contains a number
   * outside its discrete space or not finite in 32 bits.
   */
  observationArray(
    batch: ObservationBatch,
    into?: ObservationInputArrays,
  ): ObservationInputArrays;
  /**
   * Encodes observations: a pure function of tensors.
   *
   * @param batch Observations `[batchSize, ...observationInput.shape]`.
   * @returns Encoded observations, float32 `[batchSize, ...observationShape]`.
   */
  encode(batch: DictOf<tf.Tensor>): tf.Tensor;
  /**
   * Encodes observations: box as float32 (images from 0 to 1), discrete ones one-hot,
   * multi-binary as float32. The array is copied.
   *
   * @param batch Observations `[batchSize, ...]`, row-major.
   * @param batchSize Number of rows.
   * @returns Encoded observations, float32 `[batchSize, ...observationShape]`.
   * @throws {RangeError} If the array's length does not fit, or it contains a number
   * outside its discrete space or not finite in 32 bits.
   */
  observationTensor(batch: ObservationBatch, batchSize: number): tf.Tensor;
}

/** Batch of observations as environments return them; a record of arrays for a dict. */
export type ObservationBatch = ObservationArray | Batch;

/** Array of observations as networks take them. */
export type ObservationInputArray = Float32Array | Int32Array | Uint8Array;

/** Arrays of observations as networks take them; a record by part for a dict. */
export type ObservationInputArrays = DictOf<ObservationInputArray>;

/**
 * Makes the encoder of an observation space. Box observations become float32, and bytes
 * from 0 to 255 (images) are scaled to 0 to 1; discrete and multi-discrete ones become
 * one-hot vectors; multi-binary ones float32. The parts of a dict are encoded each,
 * flattened and joined, in the order of the space.
 *
 * @param space Observation space.
 * @returns The encoder.
 * @throws {TypeError} If it is a tuple space, or a dict of dicts or tuples.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { observationEncoder } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const encoder = observationEncoder({ type: "discrete", n: 3 });
 * const inputs = encoder.observationTensor(new Int32Array([2, 0]), 2);
 * assertEquals(inputs.arraySync(), [[0, 0, 1], [1, 0, 0]]);
 * ```
 */
export function observationEncoder(space: Space): ObservationEncoder {
  switch (space.type) {
    case "box":
      return boxEncoder(space);
    case "discrete":
      return oneHotEncoder([space.n], space.start ?? 0);
    case "multiDiscrete":
      return oneHotEncoder(space.nvec, 0);
    case "multiBinary":
      return numberEncoder({ shape: [space.n], dtype: "uint8" }, 1);
    case "dict":
      return partsEncoder(space);
    case "tuple":
      throw unflattened(space, "as inputs");
  }
}

function unflattened({ type }: Space, where: string): TypeError {
  return new TypeError(
    `Cannot use ${type} observations ${where}: wrap the environment in FlattenObservation, a single one in FlattenObservation`,
  );
}

function boxEncoder(space: BoxSpace): SingleEncoder {
  const { shape } = space;
  const bytes = space.dtype === "uint8" &&
    [space.high].flat().every((high) => high === 255);
  const dtype = space.dtype === "float64" ? "float32" : space.dtype;
  return numberEncoder({ shape, dtype }, bytes ? 255 : 1);
}

/** Encoder of observations without parts. */
interface SingleEncoder extends ObservationEncoder {
  readonly observationInput: ObservationInput;
  readonly observationDivisor: number;
  observationArray(
    batch: ObservationBatch,
    into?: ObservationInputArrays,
  ): ObservationInputArray;
}

/** Makes the encoder of a dict from the encoders of its parts. */
function partsEncoder({ spaces }: DictSpace): ObservationEncoder {
  if (Object.keys(spaces).length === 0) {
    throw new TypeError(
      "Cannot use dict observations without parts: expected one or more",
    );
  }
  const parts = Object.entries(spaces).map(([name, space]) => {
    if (space.type === "dict" || space.type === "tuple") {
      throw unflattened(space, "within a dict");
    }
    return { name, encoder: observationEncoder(space) as SingleEncoder };
  });
  type Part = typeof parts[number];
  const each = <T>(valueOf: (part: Part) => T): Record<string, T> =>
    Object.fromEntries(parts.map((part) => [part.name, valueOf(part)]));
  const total = (sizeOf: (encoder: SingleEncoder) => number) =>
    parts.reduce((sum, { encoder }) => sum + sizeOf(encoder), 0);
  const joined = (encoded: (part: Part) => tf.Tensor) =>
    tf.tidy(() => tf.concat(parts.map((it) => flattenRows(encoded(it))), 1));
  return {
    observationShape: [total((it) => sizeOf(it.observationShape))],
    observationParts: each(({ encoder }) => encoder.observationShape),
    observationSize: total((it) => it.observationSize),
    observationInput: each(({ encoder }) => encoder.observationInput),
    observationDivisor: each(({ encoder }) => encoder.observationDivisor),
    observationArray: (batch, into) =>
      each(({ name, encoder }) =>
        encoder.observationArray(
          partIn(batch, name),
          into && partOf(into, name),
        )
      ),
    encode: (batch) =>
      joined(({ name, encoder }) => encoder.encode(partOf(batch, name))),
    observationTensor: (batch, batchSize) =>
      joined(({ name, encoder }) =>
        encoder.observationTensor(partIn(batch, name), batchSize)
      ),
  };
}

/**
 * Returns the array of a part.
 *
 * @throws {TypeError} If it is missing.
 */
function partIn(batch: ObservationBatch, name: string): ObservationArray {
  const array = (batch as Readonly<Record<string, unknown>>)[name];
  if (ArrayBuffer.isView(array) || Array.isArray(array)) {
    return array as ObservationArray;
  }
  throw new TypeError(
    `Cannot encode observations without an array '${name}': expected one for each part of the space`,
  );
}

/** Makes an encoder from the functions that differ between spaces. */
function encoderOf(
  { check, encode, ...parts }:
    & Omit<SingleEncoder, "observationArray" | "observationTensor" | "encode">
    & {
      check?: (batch: ObservationArray) => void;
      encode: (batch: tf.Tensor) => tf.Tensor;
    },
): SingleEncoder {
  const { observationInput: input, observationSize: size } = parts;
  const observationArray = (
    observations: ObservationBatch,
    target?: ObservationInputArrays,
  ) => {
    const batch = observations as ObservationArray;
    const into = (target ??
      new ARRAYS[input.dtype](batch.length)) as ObservationInputArray;
    checkLength(batch, into.length);
    check?.(batch);
    into.set(batch as ObservationInputArray);
    if (into instanceof Float32Array) checkFinite(into);
    return into;
  };
  return {
    ...parts,
    encode: (batch) => encode(batch as tf.Tensor),
    observationArray,
    observationTensor: (batch, batchSize) => {
      checkLength(batch as ObservationArray, batchSize * size);
      const numbers = observationArray(batch);
      return tf.tidy(() =>
        encode(tf.tensor(
          numbers instanceof Uint8Array ? Int32Array.from(numbers) : numbers,
          [batchSize, ...input.shape],
          input.dtype === "float32" ? "float32" : "int32",
        ))
      );
    },
  };
}

function numberEncoder(
  input: ObservationInput,
  divisor: number,
): SingleEncoder {
  return encoderOf({
    observationShape: input.shape,
    observationSize: sizeOf(input.shape),
    observationInput: input,
    observationDivisor: divisor,
    encode: (batch) => {
      const numbers = tf.cast(batch, "float32");
      return divisor === 1 ? numbers : tf.div(numbers, divisor);
    },
  });
}

function oneHotEncoder(
  nvec: readonly number[],
  start: number,
): SingleEncoder {
  const size = nvec.length;
  return encoderOf({
    observationShape: [nvec.reduce((sum, n) => sum + n, 0)],
    observationSize: size,
    observationInput: { shape: [size], dtype: "int32" },
    observationDivisor: 1,
    encode: (batch) =>
      tf.tidy(() => {
        const parts = nvec.map((n, i) => {
          const column = tf.slice(batch, [0, i], [-1, 1]);
          const choices = tf.range(start, start + n, 1, "int32");
          return tf.cast(tf.equal(column, choices), "float32");
        });
        return parts.length === 1 ? parts[0] : tf.concat(parts, 1);
      }),
    check: (batch) => {
      for (let i = 0; i < batch.length; i++) {
        checkIndex(batch[i] - start, nvec[i % size], start);
      }
    },
  });
}

function checkLength(batch: ObservationArray, wanted: number): void {
  if (batch.length !== wanted) {
    throw new RangeError(
      `Cannot encode ${batch.length} numbers as observations: the batch must have ${wanted}, of all environments; agent.policy({ numEnvs }) acts in another number of them`,
    );
  }
}

/** Throws unless all numbers are finite: then the sum of their products with 0 is 0. */
function checkFinite(batch: Float32Array): void {
  let sum = 0;
  for (let i = 0; i < batch.length; i++) sum += batch[i] * 0;
  if (sum === 0) return;
  const at = batch.findIndex((it) => !Number.isFinite(it));
  throw new RangeError(
    `Cannot encode the observations: number ${at} of the batch is ${
      batch[at]
    } in 32 bits, expected a finite one`,
  );
}

function checkIndex(index: number, n: number, start: number): void {
  if (!(Number.isInteger(index) && index >= 0 && index < n)) {
    throw new RangeError(
      `Cannot encode the observation ${index + start}: ` +
        `the space has ${start} to ${start + n - 1}`,
    );
  }
}

/**
 * Allocates observations in a policy's input type.
 *
 * @param policy The policy.
 * @param rows Number of observations.
 * @returns New arrays `[rows, ...observationInput.shape]` of zeros, one for each part
 * of a dict.
 *
 * @example
 * ```ts
 * import { observationBuffer, stochasticPolicy } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const policy = stochasticPolicy({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 * });
 * assertEquals(observationBuffer(policy, 3), new Int32Array(3));
 * ```
 */
export function observationBuffer(
  { observationInput }: Pick<ObservationEncoder, "observationInput">,
  rows: number,
): ObservationInputArrays {
  return mapParts(
    observationInput,
    ({ shape, dtype }) => new ARRAYS[dtype](rows * sizeOf(shape)),
  );
}

/**
 * Running normalization of observations, such as `ObservationNormalizer` of
 * `@bellman/envs`.
 */
export interface ObservationScale {
  /** Space of normalized observations. */
  readonly space: Space;
  /** Current scaling, for exported policies. */
  readonly scaling: ObservationScaling;
  /** Updates the running statistics with observations `[rows, ...]`. */
  see(batch: ObservationBatch): void;
  /**
   * Normalizes observations `[rows, ...]` with the current statistics. Parts of a dict
   * that `scaling` does not name are copied.
   */
  apply(batch: ObservationInputArrays, target: ObservationInputArrays): void;
  /** Saves the running statistics. */
  save(): StateTree;
  /** Restores a saved state. */
  load(state: StateTree): void;
}

/**
 * Observations as buffers store them and as the policy sees them: the same, or
 * normalized with the current running statistics.
 *
 * @example
 * ```ts
 * import { Observations } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const seen = new Observations({ type: "discrete", n: 4 });
 * assertEquals(seen.reader(2)([3, 1]), Int32Array.of(3, 1));
 * ```
 */
export class Observations {
  /** Encoder of the stored observations. */
  readonly encoder: ObservationEncoder;
  /** Observation space of the policy. */
  readonly space: Space;
  readonly #scale: ObservationScale | undefined;

  /**
   * Creates the conversion from stored observations to the policy's.
   *
   * @param space Observation space of the environment.
   * @param scale Running normalization; none by default.
   * @throws {RangeError} If the normalization is for observations of another size.
   */
  constructor(space: Space, scale?: ObservationScale) {
    this.encoder = observationEncoder(space);
    this.space = scale?.space ?? space;
    this.#scale = scale;
    const { observationSize: size } = this.encoder;
    const scaled = observationEncoder(this.space).observationSize;
    if (scaled !== size) {
      throw new RangeError(
        `Cannot normalize observations of ${size} numbers by statistics of ${scaled}: expected those of the same space`,
      );
    }
  }

  /**
   * Allocates stored observations.
   *
   * @param rows Number of observations.
   * @returns A new array of zeros, or one for each part.
   */
  buffer(rows: number): ObservationInputArrays {
    return observationBuffer(this.encoder, rows);
  }

  /**
   * Updates the running statistics with observations of training.
   *
   * @param observations Observations `[rows, ...]`.
   */
  see(observations: ObservationBatch): void {
    this.#scale?.see(observations);
  }

  /**
   * Makes a function from stored observations to those that the policy sees.
   *
   * @param rows Number of observations.
   * @returns A function that returns its argument, or a normalized copy that its next
   * call overwrites.
   */
  view(rows: number): (kept: ObservationInputArrays) => ObservationInputArrays {
    const scale = this.#scale;
    if (scale === undefined) return (kept) => kept;
    const scaled = observationBuffer(observationEncoder(this.space), rows);
    return (kept) => {
      scale.apply(kept, scaled);
      return scaled;
    };
  }

  /**
   * Makes a function from the environment's observations to those that the policy sees.
   *
   * @param rows Number of observations.
   * @returns A function whose next call overwrites the arrays.
   */
  reader(rows: number): (batch: ObservationBatch) => ObservationInputArrays {
    const kept = this.buffer(rows), view = this.view(rows);
    return (batch) => view(this.encoder.observationArray(batch, kept));
  }
}

/**
 * Returns the true next observations of a step: final ones where the episode ended.
 *
 * @param step The step; observations are arrays, or a dict of them.
 * @returns Observations `[numEnvs, ...]`: those of the step, or a copy if an episode
 * ended.
 *
 * @example
 * ```ts
 * import { nextObservations } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const next = nextObservations({
 *   observations: Float32Array.of(1, 2),
 *   finalObservations: Float32Array.of(8, 9),
 *   rewards: new Float64Array(2),
 *   terminated: Uint8Array.of(0, 1),
 *   truncated: Uint8Array.of(0, 0),
 * });
 * assertEquals(next, Float32Array.of(1, 9));
 * ```
 */
export function nextObservations(step: VecStep): DictOf<BoxArray> {
  const final = step.finalObservations as DictOf<BoxArray>;
  return mapParts(
    step.observations as DictOf<BoxArray>,
    (now, name) => withFinal(step, { now, final: partOf(final, name) }),
  );
}

/**
 * Returns the action masks of {@link nextObservations}.
 *
 * @param step The step.
 * @param size Size of one environment's mask, for error messages.
 * @returns Masks `[numEnvs, size]`: those of the step, or a copy if an episode ended.
 * @throws {TypeError} If the step has none.
 *
 * @example
 * ```ts
 * import { nextActionMasks } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const masks = nextActionMasks({
 *   observations: Float32Array.of(1),
 *   finalObservations: Float32Array.of(1),
 *   rewards: new Float64Array(1),
 *   terminated: Uint8Array.of(1),
 *   truncated: Uint8Array.of(0),
 *   actionMasks: Uint8Array.of(1, 1),
 *   finalActionMasks: Uint8Array.of(0, 1),
 * }, 2);
 * assertEquals(masks, Uint8Array.of(0, 1));
 * ```
 */
export function nextActionMasks(step: VecStep, size: number): Uint8Array {
  const { actionMasks: now, finalActionMasks: final } = step;
  if (now !== undefined && final !== undefined) {
    return withFinal(step, { now, final });
  }
  throw new TypeError(
    `Cannot record a step without ${
      now ? "finalActionMasks" : "actionMasks"
    }: expected ${size} numbers for each environment, as actions are masked`,
  );
}

/** Inserts the rows of final observations; copies if there are any. */
function withFinal<T extends BoxArray>(
  { terminated, truncated }: VecStep,
  { now, final }: { readonly now: T; readonly final: T },
): T {
  const size = now.length / terminated.length;
  let merged: T | undefined;
  for (let i = 0; i < terminated.length; i++) {
    if (!(terminated[i] || truncated[i])) continue;
    merged ??= now.slice() as T;
    merged.set(final.subarray(i * size, (i + 1) * size), i * size);
  }
  return merged ?? now;
}
