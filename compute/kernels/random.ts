import * as tf from "@tensorflow/tfjs";
import { sizeOf } from "../graph/graph.ts";
import type { ModelBuilder } from "../onnx/model_builder.ts";
import type {
  HloTensor,
  ProgramBuilder,
} from "../stablehlo/program_builder.ts";
import type { Kernels, PrimitiveKernel } from "./kernel.ts";

/** Operations on words of 32 bits, or on tensors of them. */
interface Words<T> {
  add(a: T, b: T): T;
  xor(a: T, b: T): T;
  /** Rotates to the left. */
  rotate(x: T, by: number): T;
  word(value: number): T;
}

type Pair<T> = readonly [T, T];

const PARITY = 0x1bd11bda;
const ROTATIONS = [[13, 15, 26, 6], [17, 29, 16, 24]];

/**
 * Encrypts a counter with a key: Threefry of 2 words and 20 rounds (Salmon et
 * al. 2011, "Parallel random numbers: as easy as 1, 2, 3"). All engines draw the
 * same; XLA's own `rng_bit_generator` made loops slower by 5 %.
 */
function threefry<T>(
  { add, xor, rotate, word }: Words<T>,
  [k0, k1]: Pair<T>,
  counter: Pair<T>,
): Pair<T> {
  const keys = [k0, k1, xor(xor(k0, k1), word(PARITY))];
  let x = add(counter[0], k0), y = add(counter[1], k1);
  for (let group = 0; group < 5; group++) {
    for (const by of ROTATIONS[group % 2]) {
      x = add(x, y);
      y = xor(rotate(y, by), x);
    }
    x = add(x, keys[(group + 1) % 3]);
    y = add(add(y, keys[(group + 2) % 3]), word(group + 1));
  }
  return [x, y];
}

const NUMBERS: Words<number> = {
  add: (a, b) => (a + b) | 0,
  xor: (a, b) => a ^ b,
  rotate: (x, by) => (x << by) | (x >>> (32 - by)),
  word: (value) => value,
};

/**
 * Computes random bits on the host: the first words of all pairs, then the
 * second ones.
 *
 * @param key Two words.
 * @param counter Number of the call.
 * @param options Words to make, and lower bits of each that are shifted out.
 */
export function threefryBits(
  key: Int32Array,
  counter: number,
  { size, shift = 0 }: { size: number; shift?: number },
): Int32Array {
  const bits = new Int32Array(size);
  const half = Math.ceil(size / 2);
  for (let i = 0; i < half; i++) {
    const [x, y] = threefry(NUMBERS, [key[0], key[1]], [counter, i]);
    bits[i] = x >>> shift;
    if (half + i < size) bits[half + i] = y >>> shift;
  }
  return bits;
}

/** `TensorProto.DataType` of words without a sign, which ONNX can shift. */
const UINT32 = { to: 12 }, INT32 = { to: 6 };

/** Shifts words of `int32` as if they had no sign. */
function shifted(
  model: ModelBuilder,
  x: string,
  { by, direction }: { by: number; direction: "LEFT" | "RIGHT" },
): string {
  const unsigned = (it: string) => model.op("Cast", [it], UINT32);
  const distance = unsigned(model.scalar(by, "int32"));
  const made = model.op("BitShift", [unsigned(x), distance], { direction });
  return model.op("Cast", [made], INT32);
}

function wordsOfModel(model: ModelBuilder): Words<string> {
  return {
    add: (a, b) => model.op("Add", [a, b]),
    xor: (a, b) => model.op("BitwiseXor", [a, b]),
    rotate: (x, by) =>
      model.op("BitwiseOr", [
        shifted(model, x, { by, direction: "LEFT" }),
        shifted(model, x, { by: 32 - by, direction: "RIGHT" }),
      ]),
    word: (value) => model.scalar(value, "int32"),
  };
}

function wordsOfProgram(
  program: ProgramBuilder,
  shape: readonly number[],
): Words<HloTensor> {
  const word = (value: number) =>
    program.fill(value, { shape, dtype: "int32" });
  return {
    add: (a, b) => program.map("add", a, b),
    xor: (a, b) => program.map("xor", a, b),
    rotate: (x, by) =>
      program.map(
        "or",
        program.map("shift_left", x, word(by)),
        program.map("shift_right_logical", x, word(32 - by)),
      ),
    word,
  };
}

/** Shape of the words, and lower bits of each that are shifted out. */
type Bits = { readonly shape: number[]; readonly shift: number };

/**
 * Counts the rows that have a counter each, and the numbers of one.
 *
 * @throws {RangeError} If there is another number of counters than of rows.
 */
export function rowsOf(
  shape: readonly number[],
  counters: readonly number[],
): { rows: number; size: number } {
  const [rows = 1, ...others] = counters;
  if (others.length > 0 || (counters.length > 0 && rows !== shape[0])) {
    const each = shape.length > 0 ? ` or [${shape[0]}]` : "";
    throw new RangeError(
      `Cannot draw random numbers [${shape}] by counters [${counters}]: expected a scalar${each}`,
    );
  }
  return { rows, size: rows === 0 ? 0 : sizeOf(shape) / rows };
}

const THREEFRY: PrimitiveKernel<Bits> = {
  inputs: ["key", "counter"],
  infer: ([, counter], { shape }) => {
    rowsOf(shape, counter.shape);
    return { shape, dtype: "int32" };
  },
  lower: ({ model, inputs: [key, counter], node }) => {
    const { shape, shift: by } = node.attributes;
    const { rows, size } = rowsOf(shape, node.inputs[1].shape);
    const half = Math.ceil(size / 2);
    const [k0, k1] = [0, 1].map((i) =>
      model.slice(key, { starts: [i], ends: [i + 1], axes: [0] })
    );
    const places = model.tensor(
      Int32Array.from({ length: half }, (_, i) => i),
      { shape: [1, half], dtype: "int32" },
    );
    const made = threefry(wordsOfModel(model), [k0, k1], [
      model.reshape(counter, [rows, 1]),
      places,
    ]);
    const all = model.op("Concat", made, { axis: 1 });
    const cut = model.slice(all, { starts: [0], ends: [size], axes: [1] });
    const bits = by === 0
      ? cut
      : shifted(model, cut, { by, direction: "RIGHT" });
    return model.reshape(bits, shape);
  },
  lowerHlo: ({ program, inputs: [key, counter], node }) => {
    const { shape, shift: by } = node.attributes;
    const { rows, size } = rowsOf(shape, counter.shape);
    const pairs = [rows, Math.ceil(size / 2)];
    const [k0, k1] = [0, 1].map((from) =>
      program.broadcast(
        program.range(key, { axis: 0, from, to: from + 1 }),
        pairs,
      )
    );
    const made = threefry(wordsOfProgram(program, pairs), [k0, k1], [
      program.broadcast(program.reshape(counter, [rows, 1]), pairs),
      program.iota({ shape: pairs, dtype: "int32" }, 1),
    ]);
    const all = program.concat(made, 1);
    const cut = program.range(all, { axis: 1, from: 0, to: size });
    return program.reshape(program.with("shift_right_logical", cut, by), shape);
  },
};

/** Kernels that make random numbers of a key and a counter. */
export const RANDOM: Kernels = { Threefry: THREEFRY };

/** Backends of eager functions, which compute them on the host. */
const EAGER = ["cpu", "wasm", "tensorflow"];

for (const backendName of EAGER) {
  tf.registerKernel({
    kernelName: "Threefry",
    backendName,
    kernelFunc: ({ inputs: { key, counter }, backend, attrs }) => {
      const { shape, shift } = attrs as unknown as Bits;
      const host = backend as tf.KernelBackend;
      const words = host.readSync(key!.dataId) as Int32Array;
      const calls = host.readSync(counter!.dataId) as Int32Array;
      const { size } = rowsOf(shape, counter!.shape);
      const bits = new Int32Array(sizeOf(shape));
      calls.forEach((call, i) =>
        bits.set(threefryBits(words, call, { size, shift }), i * size)
      );
      const dataId = host.write(bits, shape, "int32");
      return { dataId, shape, dtype: "int32" };
    },
  });
}
