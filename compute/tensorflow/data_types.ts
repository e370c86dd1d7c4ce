/** TensorFlow's numbers of the element types that can be met. */
export const DATA_TYPES = {
  TF_FLOAT: 1,
  TF_INT32: 3,
  TF_UINT8: 4,
  TF_STRING: 7,
  TF_COMPLEX64: 8,
  TF_INT64: 9,
  TF_BOOL: 10,
  TF_RESOURCE: 20,
} as const;

/** Arrays that elements are read into. */
export type ElementArray =
  | Float32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Uint8Array<ArrayBuffer>
  | BigInt64Array<ArrayBuffer>;

type ElementArrayConstructor = new (buffer: ArrayBuffer) => ElementArray;

interface Element {
  /** What holds such elements in JavaScript when they are read. */
  array: ElementArrayConstructor;
  /** Names of the arrays that they may be written from. */
  from: readonly string[];
  /** Bytes of one. */
  size: number;
}

const ELEMENTS: Readonly<Record<number, Element>> = {
  [DATA_TYPES.TF_FLOAT]: {
    array: Float32Array,
    from: ["Float32Array"],
    size: 4,
  },
  [DATA_TYPES.TF_INT32]: { array: Int32Array, from: ["Int32Array"], size: 4 },
  [DATA_TYPES.TF_UINT8]: { array: Uint8Array, from: ["Uint8Array"], size: 1 },
  [DATA_TYPES.TF_BOOL]: { array: Uint8Array, from: ["Uint8Array"], size: 1 },
  // The kernels write 64-bit integers as pairs of 32-bit ones.
  [DATA_TYPES.TF_INT64]: {
    array: BigInt64Array,
    from: ["Int32Array", "BigInt64Array"],
    size: 8,
  },
};

const NAMES: Readonly<Record<number, string>> = {
  [DATA_TYPES.TF_STRING]: "string",
  [DATA_TYPES.TF_COMPLEX64]: "complex64",
  [DATA_TYPES.TF_RESOURCE]: "resource",
};

/** How the elements of a type are held. @throws {TypeError} If they cannot be. */
export function elementOf(dtype: number): Element {
  const element = ELEMENTS[dtype];
  if (element) return element;
  throw new TypeError(
    `Cannot hold ${NAMES[dtype] ?? `type ${dtype}`} tensors in the ` +
      `tensorflow backend, which holds float32, int32 and bool`,
  );
}
