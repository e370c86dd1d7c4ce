/**
 * Splits a state into arrays, which go to a safetensors file, and the rest,
 * which goes to JSON with every number exact. In the JSON, `{"$array": name}`
 * stands for an array, `{"$number": "NaN"}` for a number that JSON cannot
 * write, and `{"$record": [[key, value], …]}` for a record with keys that
 * start with `$`.
 */
import type { SafeTensor } from "./safetensors.ts";
import { isStateRecord, isTypedArray } from "./state_tree.ts";
import type { StateTree } from "@bellman/types";

/** A value that JSON holds exactly. */
export type Json =
  | null
  | boolean
  | number
  | string
  | Json[]
  | { [key: string]: Json };

/** A state in two parts. */
export interface SplitState {
  readonly json: Json;
  readonly tensors: Map<string, SafeTensor>;
}

const oddNumbers: Readonly<Record<string, number>> = {
  "NaN": NaN,
  "Infinity": Infinity,
  "-Infinity": -Infinity,
  "-0": -0,
};

/** Splits a state. Arrays are not copied. */
export function splitState(tree: StateTree): SplitState {
  const tensors = new Map<string, SafeTensor>();
  return { json: split(tree, [], tensors), tensors };
}

/** Puts a state together again. Throws a one-line SyntaxError when the parts do not fit. */
export function joinState(
  json: Json,
  tensors: ReadonlyMap<string, SafeTensor>,
): StateTree {
  if (Array.isArray(json)) return json.map((item) => joinState(item, tensors));
  if (typeof json !== "object" || json === null) return json;
  const keys = Object.keys(json);
  if (keys.length === 1 && keys[0].startsWith("$")) {
    return joinSpecial(keys[0], json[keys[0]], tensors);
  }
  return Object.fromEntries(
    Object.entries(json).map(([key, item]) => [key, joinState(item, tensors)]),
  );
}

function split(
  node: StateTree,
  path: readonly string[],
  tensors: Map<string, SafeTensor>,
): Json {
  if (typeof node === "number") return splitNumber(node);
  if (isTypedArray(node)) {
    return addArray(node, [node.length], path, tensors);
  }
  if (Array.isArray(node)) {
    return node.map((item, i) => split(item, [...path, `${i}`], tensors));
  }
  if (!isPlainRecord(node)) return checkPlain(node, path);
  const shape = shapeOf(node);
  const entries = Object.entries(node).map(([key, item]): [string, Json] => [
    key,
    // An array that stands beside its shape takes the record's name and shape.
    shape && key === "data" && isTypedArray(item)
      ? addArray(item, shape, path, tensors)
      : split(item, [...path, key], tensors),
  ]);
  return entries.some(([key]) => key.startsWith("$"))
    ? { $record: entries }
    : Object.fromEntries(entries);
}

function splitNumber(value: number): Json {
  const odd = !Number.isFinite(value) || Object.is(value, -0);
  return odd ? { $number: Object.is(value, -0) ? "-0" : String(value) } : value;
}

function addArray(
  data: SafeTensor["data"],
  shape: readonly number[],
  path: readonly string[],
  tensors: Map<string, SafeTensor>,
): Json {
  const wanted = path.join("/") || "state";
  let name = wanted;
  // Two paths can join to one name, as keys may hold slashes.
  for (let n = 2; tensors.has(name) || name === "__metadata__"; n++) {
    name = `${wanted}#${n}`;
  }
  tensors.set(name, { data, shape });
  return { $array: name };
}

function shapeOf(node: { [key: string]: StateTree }): number[] | undefined {
  const { data, shape } = node;
  if (!isTypedArray(data) || !Array.isArray(shape)) return undefined;
  const size = shape.reduce<number>(
    (product, n) =>
      product *
      (Number.isSafeInteger(n) && n as number >= 0 ? n as number : NaN),
    1,
  );
  return size === data.length ? shape as number[] : undefined;
}

/** Whether it is a record of no class: those of another would lose it. */
function isPlainRecord(node: StateTree): node is { [key: string]: StateTree } {
  if (!isStateRecord(node)) return false;
  const prototype = Object.getPrototypeOf(node);
  return prototype === null || prototype === Object.prototype;
}

function checkPlain(node: StateTree, path: readonly string[]): Json {
  if (
    node === null || typeof node === "boolean" || typeof node === "string"
  ) return node;
  const type = typeof node === "object"
    ? Object.getPrototypeOf(node).constructor?.name ?? "object"
    : typeof node;
  throw new TypeError(
    `Cannot save '${
      path.join("/")
    }': values of type ${type} cannot be saved, wanted plain data`,
  );
}

function joinSpecial(
  key: string,
  value: Json,
  tensors: ReadonlyMap<string, SafeTensor>,
): StateTree {
  if (key === "$array" && typeof value === "string" && tensors.has(value)) {
    return tensors.get(value)!.data;
  }
  if (
    key === "$number" && typeof value === "string" &&
    Object.hasOwn(oddNumbers, value)
  ) return oddNumbers[value];
  if (key === "$record" && Array.isArray(value)) {
    return Object.fromEntries(
      (value as [string, Json][]).map((
        [name, item],
      ) => [name, joinState(item, tensors)]),
    );
  }
  throw new SyntaxError(
    `Cannot read the state: ${key} ${JSON.stringify(value)} has no meaning`,
  );
}
