import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { Node, Value } from "../graph/graph.ts";

/** Types of values in the WebAssembly binary format. */
const I32 = 0x7f, V128 = 0x7b;

/** Instructions without operands of their own. */
const OP = {
  end: [0x0b],
  i32Add: [0x6a],
  i32ShiftLeft: [0x74],
  i32ShiftRight: [0x76],
  i32GreaterEqual: [0x4f],
  v128LoadSplat: [0xfd, 9, 2, 0],
  v128And: [0xfd, 0x4e],
  i32x4Greater: [0xfd, 0x3b],
  f32x4Splat: [0xfd, 19],
} as const;

const SECTIONS = { type: 1, import: 2, function: 3, export: 7, code: 10 };
const FUNCTION_TYPE = 0x60, MEMORY = 2, FUNCTION = 0, VOID = 0x40;

/** Encodes an unsigned number, as Protocol Buffers do. */
const unsigned = (value: number): number[] => [
  ...new BinaryWriter().uint32(value).finish(),
];

const localGet = (index: number): number[] => [0x20, ...unsigned(index)];
const localSet = (index: number): number[] => [0x21, ...unsigned(index)];

/** Encodes a constant from 0 to 63, which one byte holds. */
const i32Const = (value: number): number[] => [0x41, value];

function f32Const(value: number): number[] {
  return [0x43, ...new Uint8Array(Float32Array.of(value).buffer)];
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
  sized([...new TextEncoder().encode(text)]);

/** Limits of the imported memory: of its own thread, or of several. */
const OWN_MEMORY = [0, 1], SHARED_MEMORY = [3, 1, ...unsigned(1 << 16)];

/**
 * Encodes a module that imports `env.memory` and exports one function `run`.
 *
 * @param parameters Number of its parameters, all of type i32.
 * @param code Types of the locals after them, instructions, limits of the memory.
 */
function wasmModule(
  parameters: number,
  { locals, body, memory }: {
    locals: readonly number[];
    body: readonly number[];
    memory: readonly number[];
  },
): Uint8Array<ArrayBuffer> {
  const section = (id: number, item: readonly number[]) => [
    id,
    ...sized(list([item])),
  ];
  const types = list(new Array(parameters).fill([I32]));
  const code = [...list(locals.map((type) => [1, type])), ...body, ...OP.end];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(SECTIONS.type, [FUNCTION_TYPE, ...types, 0]),
    ...section(SECTIONS.import, [
      ...[...name("env"), ...name("memory"), MEMORY, ...memory],
    ]),
    ...section(SECTIONS.function, [0]),
    ...section(SECTIONS.export, [...name("run"), FUNCTION, 0]),
    ...section(SECTIONS.code, sized(code)),
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

/** Instructions on four numbers at once, by name. */
const INSTRUCTIONS = {
  abs: [0xfd, 0xe0, 1],
  neg: [0xfd, 0xe1, 1],
  sqrt: [0xfd, 0xe3, 1],
  add: [0xfd, 0xe4, 1],
  sub: [0xfd, 0xe5, 1],
  mul: [0xfd, 0xe6, 1],
  div: [0xfd, 0xe7, 1],
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

/** A pass over memory: numbers at a time, and how they are loaded and stored. */
interface Pass {
  /** Logarithm of the numbers, to base 2. */
  readonly shift: number;
  readonly load: readonly number[];
  readonly store: readonly number[];
}

/** Four numbers at a time, then one: that stands beside three zeros. */
const PASSES: readonly Pass[] = [
  { shift: 2, load: [0xfd, 0, 2, 0], store: [0xfd, 11, 2, 0] },
  { shift: 0, load: [0xfd, 92, 2, 0], store: [0xfd, 90, 2, 0, 0] },
];

/** Logarithm of a number's bytes, to base 2. */
const BYTES_SHIFT = 2;

/** Numbers up to it have fewer digits, and cost a processor many times as much. */
const LARGEST_SUBNORMAL = 2 ** -126 - 2 ** -149;

/** Numbers of a loop's locals. */
interface Layout {
  readonly loop: Loop;
  /** Address of each vector and scalar that is read. */
  readonly pointers: ReadonlyMap<Value, number>;
  /** Address of each vector that is written: it may be read elsewhere. */
  readonly addresses: ReadonlyMap<Value, number>;
  readonly offset: number;
  readonly end: number;
  /** Four times the largest subnormal number. */
  readonly subnormal: number;
  /** Four numbers of each value. */
  readonly locals: ReadonlyMap<Value, number>;
}

/**
 * Compiles a loop to a WebAssembly module: one pass over memory, four numbers
 * at a time. Its function takes how many numbers there are, then the addresses
 * of the inputs, the scalars and the outputs, in bytes. What it writes is 0 where
 * it is closer to 0 than normal numbers, as XLA has it: moments of gradients that
 * have become 0 halve and halve again, and would stay there.
 *
 * @param loop The loop.
 * @param options Whether several threads share the memory: not, by default.
 */
export function compileLoop(
  loop: Loop,
  { isShared = false }: { readonly isShared?: boolean } = {},
): Uint8Array<ArrayBuffer> {
  const layout = layOut(loop);
  const { pointers, addresses, locals } = layout;
  return wasmModule(1 + pointers.size + addresses.size, {
    memory: isShared ? SHARED_MEMORY : OWN_MEMORY,
    locals: [I32, I32, V128, ...[...locals].map(() => V128)],
    body: [
      ...loadNumbers(layout),
      ...PASSES.flatMap((pass) => encodePass(layout, pass)),
    ],
  });
}

function layOut(loop: Loop): Layout {
  const { inputs, scalars, constants, outputs, nodes } = loop;
  let next = 1;
  const number = (values: Iterable<Value>) =>
    new Map(Array.from(values, (value) => [value, next++]));
  return {
    loop,
    pointers: number([...inputs, ...scalars]),
    addresses: number(outputs),
    offset: next++,
    end: next++,
    subnormal: next++,
    locals: number([
      ...inputs,
      ...scalars,
      ...constants.keys(),
      ...nodes.map((node) => node.outputs[0]),
    ]),
  };
}

/** Loads scalars and constants, which stay the same. */
function loadNumbers(
  { loop, pointers, locals, subnormal }: Layout,
): number[] {
  return [
    ...f32Const(LARGEST_SUBNORMAL),
    ...OP.f32x4Splat,
    ...localSet(subnormal),
    ...loop.scalars.flatMap((value) => [
      ...localGet(pointers.get(value)!),
      ...OP.v128LoadSplat,
      ...localSet(locals.get(value)!),
    ]),
    ...[...loop.constants].flatMap(([value, number]) => [
      ...f32Const(number),
      ...OP.f32x4Splat,
      ...localSet(locals.get(value)!),
    ]),
  ];
}

/** Takes four numbers, and 0 for those that are closer to it than normal ones. */
function withoutSubnormals(numbers: number, subnormal: number): number[] {
  // Without signs, numbers are in the order of their bits.
  return [
    ...localGet(numbers),
    ...[...localGet(numbers), ...INSTRUCTIONS.abs, ...localGet(subnormal)],
    ...[...OP.i32x4Greater, ...OP.v128And],
  ];
}

/** Repeats loads, operations and stores for as long as there are numbers. */
function encodePass(layout: Layout, { shift, load, store }: Pass): number[] {
  const { loop, pointers, addresses, offset, end, locals } = layout;
  const at = (pointer: number) => [
    ...localGet(pointer),
    ...localGet(offset),
    ...OP.i32Add,
  ];
  const loads = loop.inputs.flatMap((value) => [
    ...at(pointers.get(value)!),
    ...load,
    ...localSet(locals.get(value)!),
  ]);
  const operations = loop.nodes.flatMap(({ op, inputs, outputs }) => [
    ...FORMS[op](inputs.map((value) => localGet(locals.get(value)!)))
      .flatMap((it) => typeof it === "string" ? INSTRUCTIONS[it] : it),
    ...localSet(locals.get(outputs[0])!),
  ]);
  const stores = loop.outputs.flatMap((value) => [
    ...at(addresses.get(value)!),
    ...withoutSubnormals(locals.get(value)!, layout.subnormal),
    ...store,
  ]);
  return [
    // The end is at the last whole step.
    ...[...localGet(0), ...i32Const(shift), ...OP.i32ShiftRight],
    ...[...i32Const(shift + BYTES_SHIFT), ...OP.i32ShiftLeft],
    ...localSet(end),
    ...[0x02, VOID, 0x03, VOID],
    ...[...localGet(offset), ...localGet(end), ...OP.i32GreaterEqual],
    ...[0x0d, 1],
    ...[...loads, ...operations, ...stores],
    ...[...localGet(offset), ...i32Const(1 << (shift + BYTES_SHIFT))],
    ...[...OP.i32Add, ...localSet(offset)],
    ...[0x0c, 0],
    ...[...OP.end, ...OP.end],
  ];
}
