import { addressOf } from "./c_struct.ts";

/** Types of elements: `PJRT_Buffer_Type`, and arrays of them. */
const ELEMENTS = {
  i1: { code: 1, array: Uint8Array },
  i8: { code: 2, array: Int8Array },
  i16: { code: 3, array: Int16Array },
  i32: { code: 4, array: Int32Array },
  i64: { code: 5, array: BigInt64Array },
  ui8: { code: 6, array: Uint8Array },
  ui16: { code: 7, array: Uint16Array },
  ui32: { code: 8, array: Uint32Array },
  ui64: { code: 9, array: BigUint64Array },
  f32: { code: 11, array: Float32Array },
  f64: { code: 12, array: Float64Array },
} as const;

/** Arrays of numbers by their type, as StableHLO names it. */
export interface ElementArrays {
  /** Booleans, a byte each. */
  i1: Uint8Array;
  /** Whole numbers of 8 bits. */
  i8: Int8Array;
  /** Whole numbers of 16 bits. */
  i16: Int16Array;
  /** Whole numbers of 32 bits. */
  i32: Int32Array;
  /** Whole numbers of 64 bits. */
  i64: BigInt64Array;
  /** Whole numbers of 8 bits without a sign. */
  ui8: Uint8Array;
  /** Whole numbers of 16 bits without a sign. */
  ui16: Uint16Array;
  /** Whole numbers of 32 bits without a sign. */
  ui32: Uint32Array;
  /** Whole numbers of 64 bits without a sign. */
  ui64: BigUint64Array;
  /** Numbers of 32 bits. */
  f32: Float32Array;
  /** Numbers of 64 bits. */
  f64: Float64Array;
}

/** A type of elements, as StableHLO names it. */
export type ElementType = keyof ElementArrays;

/** Numbers of any of the types. */
export type TensorArray = ElementArrays[ElementType];

/** Numbers in memory that no other thread writes. */
export type OwnArray = TensorArray & ArrayBufferView<ArrayBuffer>;

/** Shape and type of a tensor. */
export interface TensorSpec {
  /** Type of the elements. */
  readonly dtype: ElementType;
  /** Length of each axis. */
  readonly shape: readonly number[];
}

/** Counts the elements of a shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((a, b) => a * b, 1);
}

/** Formats a type as StableHLO does: `tensor<16x4xf32>`. */
export function formatSpec({ dtype, shape }: TensorSpec): string {
  return `tensor<${[...shape, dtype].join("x")}>`;
}

/** Returns `PJRT_Buffer_Type` of a type of elements. */
export function codeOf(dtype: ElementType): number {
  return ELEMENTS[dtype].code;
}

/** True for the name of a type of elements that a typed array holds. */
export function isElementType(name: string): name is ElementType {
  return name in ELEMENTS;
}

/** Returns a new array of a type. */
export function newArray(dtype: ElementType, length: number): TensorArray {
  return new ELEMENTS[dtype].array(length);
}

/**
 * Checks that an array holds the numbers of a tensor.
 *
 * @throws {TypeError} If it is of another type or length.
 */
export function checkArray(
  data: TensorArray,
  spec: TensorSpec,
  what = "",
): void {
  const { array } = ELEMENTS[spec.dtype], size = sizeOf(spec.shape);
  if (array === data.constructor && size === data.length) return;
  throw new TypeError(
    `Cannot use ${data.constructor.name}(${data.length}) as ${what}${
      formatSpec(spec)
    }: expected ${array.name}(${size})`,
  );
}

/** Alignment that XLA wants of memory that it uses in place. */
const ALIGNMENT = 64;

/**
 * Makes an array of zeros in memory that XLA uses in place: aligned to 64
 * bytes.
 *
 * @param dtype Type of the elements, as StableHLO names it.
 * @param length Number of elements.
 * @throws {RangeError} If there is no memory for it.
 * @example
 * ```ts
 * import { alignedArray } from "@bellman/compute/xla";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(alignedArray("f32", 3), Float32Array.of(0, 0, 0));
 * ```
 */
export function alignedArray<T extends ElementType>(
  dtype: T,
  length: number,
): ElementArrays[T] & ArrayBufferView<ArrayBuffer> {
  const { array } = ELEMENTS[dtype];
  const bytes = length * array.BYTES_PER_ELEMENT;
  const memory = allocate(bytes + ALIGNMENT);
  const past = addressOf(new Uint8Array(memory)) % ALIGNMENT;
  const offset = (ALIGNMENT - past) % ALIGNMENT;
  return new array(memory, offset, length) as
    & ElementArrays[T]
    & ArrayBufferView<ArrayBuffer>;
}

function allocate(bytes: number): ArrayBuffer {
  try {
    return new ArrayBuffer(bytes);
  } catch {
    throw new RangeError(
      `Cannot allocate an array of ${bytes} bytes: there is no memory for it`,
    );
  }
}

/** True where XLA uses an array in place instead of a copy. */
export function isAligned(data: ArrayBufferView<ArrayBuffer>): boolean {
  return data.byteLength === 0 || addressOf(data) % ALIGNMENT === 0;
}
