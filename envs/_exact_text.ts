/**
 * Plain data as a text that is the same only for exactly the same data: unlike
 * JSON it tells NaN, the infinities, -0 and the types of arrays apart.
 *
 * @throws {TypeError} If it is not plain data.
 */
export function exactText(value: unknown): string {
  if (typeof value === "number") {
    return Object.is(value, -0) ? "-0" : `${value}`;
  }
  if (value === null || typeof value === "boolean") return `${value}`;
  if (typeof value === "string") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(exactText)}]`;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const numbers = [...value as Float64Array].map(exactText);
    return `${value.constructor.name}[${numbers}]`;
  }
  const kind = kindOf(value);
  if (kind !== "Object") {
    throw new TypeError(`Cannot compare ${kind}: expected plain data`);
  }
  const entries = Object.entries(value as Record<string, unknown>)
    .map(([key, part]) => `${JSON.stringify(key)}:${exactText(part)}`);
  return `{${entries}}`;
}

function kindOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return typeof value;
  const prototype = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) return "Object";
  return prototype.constructor?.name ?? "an object";
}
