import { CStruct, int64sAt, memoryAt, textAt, utf8 } from "./c_struct.ts";
import { NAMED_VALUE_BYTES, STRUCTS, VALUE_TYPES } from "./pjrt_api.ts";

const { PJRT_NamedValue: NAMED_VALUE } = STRUCTS;

/** A value of an option: numbers that are whole go as `int64`. */
export type NamedValue = string | number | boolean | readonly number[];

/** Encodes an array of `PJRT_NamedValue`. */
export function encodeNamedValues(
  values: Readonly<Record<string, NamedValue>>,
): CStruct {
  const entries = Object.entries(values);
  const all = new CStruct(NAMED_VALUE_BYTES * entries.length);
  entries.forEach(([name, value], i) => {
    const start = i * NAMED_VALUE_BYTES, text = utf8(name);
    all.set(start, NAMED_VALUE_BYTES)
      .point(start + NAMED_VALUE.name, text)
      .set(start + NAMED_VALUE.name_size, text.length);
    const [type, size] = encodeValue(
      all,
      start + NAMED_VALUE.int64_value,
      value,
    );
    all.setInt32(start + NAMED_VALUE.type, type)
      .set(start + NAMED_VALUE.value_size, size);
  });
  return all;
}

/** Writes a value; returns its type and size. */
function encodeValue(
  all: CStruct,
  at: number,
  value: NamedValue,
): [type: number, size: number] {
  if (typeof value === "string") {
    const text = utf8(value);
    all.point(at, text);
    return [VALUE_TYPES.text, text.length];
  }
  if (typeof value === "object") {
    all.point(at, BigInt64Array.from(value, BigInt));
    return [VALUE_TYPES.int64s, value.length];
  }
  if (typeof value === "boolean") {
    all.setInt32(at, Number(value));
    return [VALUE_TYPES.bool, 1];
  }
  if (Number.isInteger(value)) {
    new BigInt64Array(all.words.buffer, at, 1)[0] = BigInt(value);
    return [VALUE_TYPES.int64, 1];
  }
  new Float32Array(all.words.buffer, at, 1)[0] = value;
  return [VALUE_TYPES.float, 1];
}

/** Reads an array of `PJRT_NamedValue`. */
export function readNamedValues(
  address: number,
  count: number,
): Record<string, NamedValue> {
  const values: Record<string, NamedValue> = {};
  for (let i = 0, at = address; i < count; i++) {
    const view = new DataView(memoryAt(at, NAMED_VALUE_BYTES).slice(0));
    const size = (offset: number) => Number(view.getBigUint64(offset, true));
    const name = textAt(size(NAMED_VALUE.name), size(NAMED_VALUE.name_size));
    values[name] = readValue(view, size);
    at += size(0);
  }
  return values;
}

function readValue(
  view: DataView,
  size: (offset: number) => number,
): NamedValue {
  const { int64_value: value, value_size } = NAMED_VALUE;
  switch (view.getInt32(NAMED_VALUE.type, true)) {
    case VALUE_TYPES.text:
      return textAt(size(value), size(value_size));
    case VALUE_TYPES.int64:
      return Number(view.getBigInt64(value, true));
    case VALUE_TYPES.int64s:
      return int64sAt(size(value), size(value_size));
    case VALUE_TYPES.float:
      return view.getFloat32(value, true);
    default:
      return view.getUint8(value) !== 0;
  }
}
