import type { Node, Value } from "../graph/graph.ts";

/** Operations on vectors of one size, number by number. */
export interface Loop {
  /** Numbers of each vector. */
  readonly size: number;
  /** Vectors that are read. */
  readonly inputs: readonly Value[];
  /** Single numbers that are read. */
  readonly scalars: readonly Value[];
  /** Numbers that are known. */
  readonly constants: ReadonlyMap<Value, number>;
  readonly nodes: readonly Node[];
  /** Vectors that are written. */
  readonly outputs: readonly Value[];
}

/** Instructions on one number (`f32`) or on four (`f32x4`). */
export type Lane = "f32" | "f32x4";

/** Instructions by name, for one number and for four. */
const INSTRUCTIONS = {
  abs: { f32: [0x8b], f32x4: [0xfd, 0xe0, 1] },
  neg: { f32: [0x8c], f32x4: [0xfd, 0xe1, 1] },
  sqrt: { f32: [0x91], f32x4: [0xfd, 0xe3, 1] },
  add: { f32: [0x92], f32x4: [0xfd, 0xe4, 1] },
  sub: { f32: [0x93], f32x4: [0xfd, 0xe5, 1] },
  mul: { f32: [0x94], f32x4: [0xfd, 0xe6, 1] },
  div: { f32: [0x95], f32x4: [0xfd, 0xe7, 1] },
} as const;

type Instruction = keyof typeof INSTRUCTIONS;

/** Stack program of an operation; operands are read any number of times. */
type Form = (operands: readonly number[][]) => (number[] | Instruction)[];

/**
 * The operations that a loop can take, as stack programs. They round as the
 * operations of the graph do, one by one, so that results are the same.
 */
const FORMS: Readonly<Record<string, Form>> = {
  Abs: ([x]) => [x, "abs"],
  Add: ([x, y]) => [x, y, "add"],
  Multiply: ([x, y]) => [x, y, "mul"],
  Neg: ([x]) => [x, "neg"],
  RealDiv: ([x, y]) => [x, y, "div"],
  Sqrt: ([x]) => [x, "sqrt"],
  Square: ([x]) => [x, x, "mul"],
  SquaredDifference: ([x, y]) => [x, y, "sub", x, y, "sub", "mul"],
  Sub: ([x, y]) => [x, y, "sub"],
};

/** True where a loop can take an operation. */
export function isElementwise({ op }: Node): boolean {
  return Object.hasOwn(FORMS, op);
}

/**
 * Returns the instructions of an operation.
 *
 * @param op Its name.
 * @param operands For each operand, the instructions that put it on the stack.
 */
export function instructionsOf(
  op: string,
  { operands, lane }: { operands: readonly number[][]; lane: Lane },
): number[] {
  return FORMS[op](operands).flatMap((it) =>
    typeof it === "string" ? INSTRUCTIONS[it][lane] : it
  );
}
