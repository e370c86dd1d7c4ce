import type { Node, Value } from "../graph/graph.ts";

/** Types of values in the WebAssembly binary format. */
const I32 = 0x7f, F32 = 0x7d, V128 = 0x7b;

/** Instructions without operands of their own. */
const OP = {
  end: [0x0b],
  i32Add: [0x6a],
  i32Mul: [0x6c],
  i32And: [0x71],
  i32GreaterEqual: [0x4f],
  f32Load: [0x2a, 2, 0],
  f32Store: [0x38, 2, 0],
  v128Load: [0xfd, 0, 2, 0],
  v128LoadSplat: [0xfd, 9, 2, 0],
  v128Store: [0xfd, 11, 2, 0],
  f32x4Splat: [0xfd, 19],
  f32x4FirstLane: [0xfd, 31, 0],
} as const;

const SECTIONS = { type: 1, import: 2, function: 3, export: 7, code: 10 };
const FUNCTION_TYPE = 0x60, MEMORY = 2, FUNCTION = 0, VOID = 0x40;

/** Encodes an unsigned number, seven bits in each byte. */
function unsigned(value: number): number[] {
  const bytes: number[] = [];
  do {
    const rest = value >>> 7;
    bytes.push((value & 0x7f) | (rest === 0 ? 0 : 0x80));
    value = rest;
  } while (value !== 0);
  return bytes;
}

/** Encodes a signed number, seven bits in each byte. */
function signed(value: number): number[] {
  const bytes: number[] = [];
  for (;;) {
    const byte = value & 0x7f;
    value >>= 7;
    const last = (value === 0 && byte < 0x40) || (value === -1 && byte >= 0x40);
    bytes.push(last ? byte : byte | 0x80);
    if (last) return bytes;
  }
}

const localGet = (index: number): number[] => [0x20, ...unsigned(index)];
const localSet = (index: number): number[] => [0x21, ...unsigned(index)];
const i32Const = (value: number): number[] => [0x41, ...signed(value)];

function f32Const(value: number): number[] {
  return [0x43, ...new Uint8Array(Float32Array.of(value).buffer)];
}

/** Repeats a body for as long as `offset < end`. */
function whileBelow(
  { offset, end, step }: { offset: number; end: number; step: number },
  body: readonly number[],
): number[] {
  return [
    ...[0x02, VOID, 0x03, VOID],
    ...localGet(offset),
    ...localGet(end),
    ...OP.i32GreaterEqual,
    ...[0x0d, 1],
    ...body,
    ...localGet(offset),
    ...i32Const(step),
    ...OP.i32Add,
    ...localSet(offset),
    ...[0x0c, 0],
    ...OP.end,
    ...OP.end,
  ];
}

const list = (items: readonly (readonly number[])[]): number[] => [
  ...unsigned(items.length),
  ...items.flat(),
];

const sized = (bytes: readonly number[]): number[] => [
  ...unsigned(bytes.length),
  ...bytes,
];

const name = (text: string): number[] =>
  sized([
    ...new TextEncoder().encode(text),
  ]);

/** A function of a module. */
interface WasmFunction {
  /** Parameters, all of type i32. */
  readonly parameters: number;
  /** Types of the locals after them. */
  readonly locals: readonly number[];
  readonly body: readonly number[];
}

/**
 * Encodes a module that imports `env.memory` and exports one function `run`.
 */
function wasmModule(
  { parameters, locals, body }: WasmFunction,
): Uint8Array<ArrayBuffer> {
  const section = (id: number, items: readonly (readonly number[])[]) => [
    id,
    ...sized(list(items)),
  ];
  const code = [
    ...list(locals.map((type) => [1, type])),
    ...body,
    ...OP.end,
  ];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(SECTIONS.type, [
      [
        FUNCTION_TYPE,
        ...list(Array.from({ length: parameters }, () => [I32])),
        0,
      ],
    ]),
    ...section(SECTIONS.import, [
      [...name("env"), ...name("memory"), MEMORY, 0, 1],
    ]),
    ...section(SECTIONS.function, [[0]]),
    ...section(SECTIONS.export, [[...name("run"), FUNCTION, 0]]),
    ...section(SECTIONS.code, [sized(code)]),
  ]);
}

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
type Lane = "f32" | "f32x4";

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
function instructionsOf(
  op: string,
  { operands, lane }: { operands: readonly number[][]; lane: Lane },
): number[] {
  return FORMS[op](operands).flatMap((it) =>
    typeof it === "string" ? INSTRUCTIONS[it][lane] : it
  );
}

/** Numbers of a loop's locals. */
interface Layout {
  readonly loop: Loop;
  /** Address of each vector and scalar, by value. */
  readonly pointers: ReadonlyMap<Value, number>;
  readonly addresses: ReadonlyMap<Value, number>;
  readonly offset: number;
  readonly end: number;
  /** Four numbers of each value. */
  readonly wide: ReadonlyMap<Value, number>;
  /** One number of each value. */
  readonly narrow: ReadonlyMap<Value, number>;
}

const LANES = 4;
const BYTES = Float32Array.BYTES_PER_ELEMENT;

/**
 * Compiles a loop to a WebAssembly module: one pass over memory, four numbers
 * at a time. Its function takes how many numbers there are, then the addresses
 * of the inputs, the scalars and the outputs, in bytes.
 */
export function compileLoop(loop: Loop): Uint8Array<ArrayBuffer> {
  const layout = layOut(loop);
  const { offset, end } = layout;
  const locals = [
    I32,
    I32,
    ...[...layout.wide].map(() => V128),
    ...[...layout.narrow].map(() => F32),
  ];
  const wideEnd = [
    ...localGet(0),
    ...i32Const(-LANES),
    ...OP.i32And,
    ...i32Const(BYTES),
    ...OP.i32Mul,
    ...localSet(end),
  ];
  const wholeEnd = [
    ...localGet(0),
    ...i32Const(BYTES),
    ...OP.i32Mul,
    ...localSet(end),
  ];
  return wasmModule({
    parameters: 1 + layout.pointers.size + loop.outputs.length,
    locals,
    body: [
      ...prologue(layout),
      ...wideEnd,
      ...whileBelow(
        { offset, end, step: LANES * BYTES },
        pass(layout, "f32x4"),
      ),
      ...wholeEnd,
      ...whileBelow({ offset, end, step: BYTES }, pass(layout, "f32")),
    ],
  });
}

function layOut(loop: Loop): Layout {
  const { inputs, scalars, constants, outputs, nodes } = loop;
  let next = 1;
  const pointers = new Map<Value, number>();
  for (const value of [...inputs, ...scalars]) pointers.set(value, next++);
  // An output may be an input of the loop too: its address is another one.
  const addresses = new Map<Value, number>();
  for (const value of outputs) addresses.set(value, next++);
  const offset = next++, end = next++;
  const held = [
    ...inputs,
    ...scalars,
    ...constants.keys(),
    ...nodes.map((node) => node.outputs[0]),
  ];
  const wide = new Map(held.map((value) => [value, next++]));
  const narrow = new Map(held.map((value) => [value, next++]));
  return { loop, pointers, addresses, offset, end, wide, narrow };
}

/** Loads scalars and constants, which stay the same. */
function prologue({ loop, pointers, wide, narrow }: Layout): number[] {
  const first = (value: Value) => [
    ...localGet(wide.get(value)!),
    ...OP.f32x4FirstLane,
    ...localSet(narrow.get(value)!),
  ];
  return [
    ...loop.scalars.flatMap((value) => [
      ...localGet(pointers.get(value)!),
      ...OP.v128LoadSplat,
      ...localSet(wide.get(value)!),
      ...first(value),
    ]),
    ...[...loop.constants].flatMap(([value, number]) => [
      ...f32Const(number),
      ...OP.f32x4Splat,
      ...localSet(wide.get(value)!),
      ...first(value),
    ]),
  ];
}

/** Encodes the instructions at one place: loads, operations, stores. */
function pass(layout: Layout, lane: Lane): number[] {
  const { loop, pointers, addresses, offset } = layout;
  const locals = lane === "f32" ? layout.narrow : layout.wide;
  const at = (pointer: number) => [
    ...localGet(pointer),
    ...localGet(offset),
    ...OP.i32Add,
  ];
  const loads = loop.inputs.flatMap((value) => [
    ...at(pointers.get(value)!),
    ...(lane === "f32" ? OP.f32Load : OP.v128Load),
    ...localSet(locals.get(value)!),
  ]);
  const operations = loop.nodes.flatMap((node) => [
    ...instructionsOf(node.op, {
      operands: node.inputs.map((value) => localGet(locals.get(value)!)),
      lane,
    }),
    ...localSet(locals.get(node.outputs[0])!),
  ]);
  const stores = loop.outputs.flatMap((value) => [
    ...at(addresses.get(value)!),
    ...localGet(locals.get(value)!),
    ...(lane === "f32" ? OP.f32Store : OP.v128Store),
  ]);
  return [...loads, ...operations, ...stores];
}
