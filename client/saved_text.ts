/** States of worlds as JSON, which has neither arrays of a type nor infinite numbers. */

const ARRAYS = [
  Float32Array,
  Float64Array,
  Int8Array,
  Int16Array,
  Int32Array,
  Uint8Array,
  Uint8ClampedArray,
  Uint16Array,
  Uint32Array,
];

/** Mark of what JSON does not have. */
const MARK = "$";

function marked(type: string, v: unknown): object {
  return { [MARK]: type, v };
}

function write(value: unknown): unknown {
  if (typeof value === "number") {
    const isPlain = Number.isFinite(value) && !Object.is(value, -0);
    return isPlain
      ? value
      : marked("number", Object.is(value, -0) ? "-0" : `${value}`);
  }
  if (typeof value !== "object" || value === null) {
    if (/^(function|bigint|symbol)$/.test(typeof value)) throw odd(value);
    return value;
  }
  const Type = ARRAYS.find((it) => value instanceof it);
  if (Type) return marked(Type.name, [...value as Uint8Array].map(write));
  if (Array.isArray(value)) return value.map(write);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw odd(value);
  }
  const entries = Object.entries(value).map(([name, it]) => [name, write(it)]);
  return MARK in value
    ? marked("entries", entries)
    : Object.fromEntries(entries);
}

function odd(value: unknown): Error {
  const name = typeof value === "object"
    ? `a ${Object(value).constructor.name}`
    : `a ${typeof value}`;
  return new TypeError(
    `Cannot save ${name} of a world: expected numbers, texts, typed arrays, and lists and records of them`,
  );
}

function read(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(read);
  const { [MARK]: type, v } = value as Record<string, unknown>;
  if (type === "number") return Number(v);
  const Type = ARRAYS.find(({ name }) => name === type);
  if (Type) return Type.from((v as unknown[]).map(read) as number[]);
  const entries = type === "entries"
    ? v as [string, unknown][]
    : Object.entries(value);
  return Object.fromEntries(entries.map(([name, it]) => [name, read(it)]));
}

/** Turns a state into what JSON holds. */
export const toJson: (state: unknown) => unknown = write;

/** Turns it back. */
export const fromJson: (json: unknown) => unknown = read;
