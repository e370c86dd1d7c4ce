import fc from "fast-check";

/** Typed arrays of numbers of every kind, empty ones among them. */
export const numberArrays = fc.oneof(
  fc.float32Array(),
  fc.float64Array(),
  fc.int8Array(),
  fc.int16Array(),
  fc.int32Array(),
  fc.uint8Array(),
  fc.uint16Array(),
  fc.uint32Array(),
);
