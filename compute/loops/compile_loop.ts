import type { Value } from "../graph/graph.ts";
import { instructionsOf, type Lane, type Loop } from "./loop.ts";
import {
  F32,
  f32Const,
  I32,
  i32Const,
  localGet,
  localSet,
  OP,
  V128,
  wasmModule,
  whileBelow,
} from "./_wasm_bytes.ts";

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
