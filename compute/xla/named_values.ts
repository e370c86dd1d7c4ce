import { CStruct, utf8 } from "./c_struct.ts";
import { NAMED_VALUE_BYTES, STRUCTS, VALUE_TYPES } from "./pjrt_api.ts";

const { PJRT_NamedValue: NAMED_VALUE } = STRUCTS;

/** A value of an option: numbers that are whole go as `int64`. */
export type NamedValue = string | number | boolean;

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
