import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import { float } from "./traced.ts";

/** One operation: which, of which earlier tensors, and with which number. */
interface Instruction {
  readonly operation: number;
  readonly a: number;
  readonly b: number;
  readonly number: number;
}

/** A small function of tensors, as a list of operations. */
export type RandomProgram = readonly Instruction[];

/** What an operation is given: two tensors that broadcast, and a number. */
type Operation = (
  a: tf.Tensor,
  b: tf.Tensor,
  options: { number: number; inputs: readonly tf.Tensor[] },
) => tf.Tensor | tf.Tensor[];

/** The inputs of each program. */
export const PROGRAM_INPUTS = { x: float(2, 3), y: float(3), z: float() };

const flat = (x: tf.Tensor) => tf.reshape(x, [-1]);
const matrix = (x: tf.Tensor) => tf.reshape(x, [x.size, 1]);

/** Numbers stay small: where they could grow, `tanh` comes last. */
const OPERATIONS: readonly Operation[] = [
  (a) => tf.neg(a),
  (a) => a.clone(),
  (a) => tf.tanh(tf.exp(tf.tanh(a))),
  (a) => tf.tanh(tf.square(a)),
  (a, b) => tf.add(a, b),
  (a, b) => tf.sub(a, b),
  (a, b) => tf.tanh(tf.mul(a, b)),
  (a, b) => tf.maximum(a, b),
  (a, b) => tf.where(tf.greater(tf.add(a, b), 0.1), tf.add(a, b), tf.sub(b, a)),
  (a, _, { number }) => tf.add(number, a),
  (a, _, { number }) => tf.sub(number, a),
  (a, _, { number }) => tf.tanh(tf.mul(a, number)),
  (a, _, { number }) => tf.div(tf.mul(tf.tanh(a), number), 4),
  (a, _, { number }) => tf.div(a, number || 0.5),
  (a, _, { number }) => tf.add(a, tf.fill([2, ...a.shape], number)),
  (a, _, { number }) =>
    tf.tanh(tf.mul(tf.fill(a.shape.map(() => 1), number), a)),
  (a) => tf.transpose(a),
  (a) => tf.reshape(a, [...a.shape, 1]),
  (a) => flat(a),
  (a) => tf.sum(a, a.rank > 0 ? a.rank - 1 : [], true),
  (a) => tf.mean(a),
  (a) => tf.tile(tf.reshape(tf.mean(a), [1]), [3]),
  (a) => tf.broadcastTo(tf.mean(a), [2, 3]),
  (a) => tf.logSoftmax(a.rank === 0 ? flat(a) : a),
  (a, b) => tf.concat([tf.mul(flat(a), 0.5), tf.mul(flat(b), 0.5)]),
  (a) => tf.split(tf.concat([flat(a), flat(a)]), 2),
  (a) => tf.tanh(tf.add(tf.matMul(matrix(a), matrix(a), false, true), 1)),
  (a, _, { inputs: [, y] }) => tf.add(tf.matMul(matrix(a), tf.ones([1, 3])), y),
  (_, __, { inputs: [x], number }) =>
    tf.cast(tf.cast(tf.mul(x, 1.7 * number), "int32"), "float32"),
  (a, _, { inputs: [, , z] }) => tf.tanh(tf.mul(tf.mul(a, tf.tanh(z)), z)),
  (a, _, { inputs: [, , z] }) =>
    tf.mul(tf.mul(z, tf.tanh(a)), tf.div(z, tf.add(tf.square(tf.tanh(a)), 1))),
  (a, _, { inputs: [, , z] }) =>
    tf.add(tf.tanh(tf.square(a)), tf.tanh(tf.square(tf.mul(a, z)))),
  (a) => tf.grad((a) => tf.sum(tf.square(tf.tanh(a))))(a),
];

/** Numbers of which the optimizer knows something, and others. */
const NUMBERS = [0, -0, 1, -1, 2, 0.5, 3, 0.3];

/** Programs of a few operations. */
export const randomPrograms: fc.Arbitrary<RandomProgram> = fc.array(
  fc.record({
    operation: fc.nat(OPERATIONS.length - 1),
    a: fc.nat(),
    b: fc.nat(),
    number: fc.constantFrom(...NUMBERS),
  }),
  { minLength: 1, maxLength: 10 },
);

/** The tensors that a program makes. */
export function runProgram(
  program: RandomProgram,
  given: Record<keyof typeof PROGRAM_INPUTS, tf.Tensor>,
): Record<string, tf.Tensor> {
  const inputs = [given.x, given.y, given.z];
  const made: tf.Tensor[] = [];
  for (const { operation, number, ...at } of program) {
    const all = [...inputs, ...made];
    const chosen = all[all.length - 1 - at.a % all.length];
    const a = chosen.size > 64 || chosen.rank > 3 ? given.x : chosen;
    const b = all[at.b % all.length];
    const other = broadcasts(a, b) ? b : given.z;
    made.push(...[OPERATIONS[operation](a, other, { number, inputs })].flat());
  }
  // Some of what the program makes is used by nothing.
  const returned = made.filter((_, i) => (made.length - 1 - i) % 3 === 0);
  return Object.fromEntries(returned.map((it, i) => [`out${i}`, it]));
}

function broadcasts(a: tf.Tensor, b: tf.Tensor): boolean {
  const lengths = b.shape.toReversed();
  return a.shape.toReversed().every((length, i) =>
    length === 1 || [1, length, undefined].includes(lengths[i])
  );
}
