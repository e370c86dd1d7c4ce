/**
 * A state in two parts: its arrays, in the order in which they are met, and
 * JSON for the rest. In the JSON each list is a pair of a tag and a content:
 * `["list", [...]]`, `["array", [dtype, length]]`, `["number", "NaN"]`.
 */
import { NUMBER_ARRAYS } from "./fields.ts";
import type { PlainState, StateArray } from "./plain_state.ts";

/** A value that JSON holds exactly. */
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

type ArrayClass = {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): StateArray;
};

const ARRAYS: Readonly<Record<string, ArrayClass>> = {
  ...NUMBER_ARRAYS,
  bigint64: BigInt64Array,
  biguint64: BigUint64Array,
};

/** Numbers that JSON cannot write. */
const ODD_NUMBERS: Readonly<Record<string, number>> = {
  "NaN": NaN,
  "Infinity": Infinity,
  "-Infinity": -Infinity,
  "-0": -0,
};

/** Splits a state; arrays are not copied. Throws a TypeError that names what is not plain. */
export function splitState(
  state: PlainState,
): { json: string; arrays: StateArray[] } {
  const arrays: StateArray[] = [];
  return { json: JSON.stringify(split(state, "", arrays)), arrays };
}

/** Puts a state together, with arrays of zeros that are still to be filled. Throws where the text is no such JSON. */
export function joinState(
  json: string,
): { state: PlainState; arrays: StateArray[] } {
  const arrays: StateArray[] = [];
  return { state: join(JSON.parse(json), arrays), arrays };
}

/** The bytes of an array, without a copy. */
export function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

function split(node: unknown, path: string, arrays: StateArray[]): Json {
  if (typeof node === "number") return splitNumber(node);
  if (
    node === null || typeof node === "boolean" || typeof node === "string"
  ) return node;
  const inside = path === "" ? "" : `${path}.`;
  if (Array.isArray(node)) {
    const items = node.map((item, i) => split(item, `${inside}${i}`, arrays));
    return ["list", items];
  }
  if (ArrayBuffer.isView(node)) return splitArray(node, path, arrays);
  checkRecord(node, path);
  return Object.fromEntries(
    Object.entries(node).map((
      [key, item],
    ) => [key, split(item, inside + key, arrays)]),
  );
}

function splitNumber(value: number): Json {
  if (Object.is(value, -0)) return ["number", "-0"];
  return Number.isFinite(value) ? value : ["number", String(value)];
}

function splitArray(
  node: ArrayBufferView,
  path: string,
  arrays: StateArray[],
): Json {
  for (const [dtype, arrayClass] of Object.entries(ARRAYS)) {
    if (!(node instanceof arrayClass)) continue;
    arrays.push(node as StateArray);
    return ["array", [dtype, (node as StateArray).length]];
  }
  return refuse(path, node.constructor.name);
}

function checkRecord(node: unknown, path: string): asserts node is object {
  if (typeof node !== "object" || node === null) refuse(path, typeof node);
  const prototype = Object.getPrototypeOf(node);
  if (prototype === null || prototype === Object.prototype) return;
  refuse(path, prototype.constructor?.name ?? "a class");
}

function refuse(path: string, type: string): never {
  const what = path === "" ? "a state" : `'${path}'`;
  throw new TypeError(
    `Cannot save ${what} of type ${type}: expected plain values, typed arrays, lists and records`,
  );
}

function join(node: Json, arrays: StateArray[]): PlainState {
  if (Array.isArray(node)) return joinTagged(node, arrays);
  if (typeof node !== "object" || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, item]) => [key, join(item, arrays)]),
  );
}

function joinTagged([tag, content]: Json[], arrays: StateArray[]): PlainState {
  if (tag === "list" && Array.isArray(content)) {
    return content.map((item) => join(item, arrays));
  }
  if (tag === "array" && Array.isArray(content)) {
    const array = allocate(content);
    arrays.push(array);
    return array;
  }
  if (
    tag === "number" && typeof content === "string" &&
    Object.hasOwn(ODD_NUMBERS, content)
  ) return ODD_NUMBERS[content];
  throw new SyntaxError(
    `unknown description ${JSON.stringify([tag, content])}`,
  );
}

function allocate([dtype, length]: Json[]): StateArray {
  if (typeof dtype !== "string" || !Object.hasOwn(ARRAYS, dtype)) {
    throw new SyntaxError(`unknown array of ${JSON.stringify(dtype)}`);
  }
  if (!Number.isSafeInteger(length) || length as number < 0) {
    throw new SyntaxError(`array of ${JSON.stringify(length)} numbers`);
  }
  try {
    return new ARRAYS[dtype](length as number);
  } catch { // The engine's own message says only that it failed.
    throw new RangeError(`no memory for ${length} numbers of ${dtype}`);
  }
}
