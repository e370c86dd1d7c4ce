/** Bytes of the WebAssembly binary format, as far as loops need it. */

/** Types of values. */
export const I32 = 0x7f, F32 = 0x7d, V128 = 0x7b;

/** Instructions without operands of their own. */
export const OP = {
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
export function unsigned(value: number): number[] {
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

export const localGet = (index: number): number[] => [0x20, ...unsigned(index)];
export const localSet = (index: number): number[] => [0x21, ...unsigned(index)];
export const i32Const = (value: number): number[] => [0x41, ...signed(value)];

export function f32Const(value: number): number[] {
  return [0x43, ...new Uint8Array(Float32Array.of(value).buffer)];
}

/** Repeats a body for as long as `offset < end`. */
export function whileBelow(
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
export interface WasmFunction {
  /** Parameters, all of type i32. */
  readonly parameters: number;
  /** Types of the locals after them. */
  readonly locals: readonly number[];
  readonly body: readonly number[];
}

/**
 * Encodes a module that imports `env.memory` and exports one function `run`.
 */
export function wasmModule(
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
