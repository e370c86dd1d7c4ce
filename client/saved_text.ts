/** What JSON does not have: arrays of a type, and numbers that are not finite. */

const ARRAYS = [
  ...[Float32Array, Float64Array, Int8Array, Int16Array, Int32Array],
  ...[Uint8Array, Uint8ClampedArray, Uint16Array, Uint32Array],
];

/** Writes a value for `JSON.stringify`; refuses what would not come back. */
export function replace(_key: string, value: unknown): unknown {
  if (typeof value === "number") {
    const isPlain = Number.isFinite(value) && !Object.is(value, -0);
    return isPlain ? value : { $: "", v: value === 0 ? "-0" : `${value}` };
  }
  const Type = ARRAYS.find((it) => value instanceof it);
  if (Type) return { $: Type.name, v: [...value as Uint8Array] };
  const constructor = Object.getPrototypeOf(Object(value))?.constructor,
    isRecord = typeof value === "object" &&
      (constructor === undefined || constructor.name === "Object");
  const isOdd = isRecord
    ? value !== null && "$" in value
    : /^(bigint|function|object|symbol)$/.test(typeof value) &&
      !Array.isArray(value);
  if (!isOdd) return value;
  throw new TypeError(
    `Cannot save ${
      isRecord ? "an entry named '$'" : `a ${constructor.name}`
    } of a world: expected numbers, texts, typed arrays, and lists and records of them`,
  );
}

/** Reads it for `JSON.parse`. */
export function revive(_key: string, value: unknown): unknown {
  const { $: type, v } = Object(value) as { $?: string; v: number[] };
  if (type === "") return Number(v);
  return ARRAYS.find((it) => it.name === type)?.from(v) ?? value;
}
