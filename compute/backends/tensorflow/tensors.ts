import type { EagerContext } from "./context.ts";
import { addressOf } from "./symbols.ts";

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
  /** Array that they are read into. */
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

/** Returns how elements of a type are held; a TypeError if they cannot be. */
export function elementOf(dtype: number): Element {
  const element = ELEMENTS[dtype];
  if (element) return element;
  throw new TypeError(
    `Cannot hold ${NAMES[dtype] ?? `type ${dtype}`} tensors in the ` +
      `tensorflow backend, which holds float32, int32 and bool`,
  );
}

/** Shapes and handles of this rank and less use a buffer that is kept. */
const MAX_RANK = 16;

type Source = ArrayBufferView<ArrayBuffer>;

function copyIn(pointer: Deno.PointerObject, source: Source): void {
  if (source.byteLength === 0) return;
  const target = Deno.UnsafePointerView.getArrayBuffer(
    pointer,
    source.byteLength,
  );
  new Uint8Array(target).set(
    new Uint8Array(source.buffer, source.byteOffset, source.byteLength),
  );
}

/** The native tensors that are alive, by the numbers that kernels know. */
export class TensorTable {
  readonly #context: EagerContext;
  /** Address of each live handle. */
  readonly #handles = new Map<number, bigint>();
  readonly #dimensions = new BigInt64Array(MAX_RANK);
  #nextId = 0;

  constructor(context: EagerContext) {
    this.#context = context;
  }

  /** Number of tensors that are alive. */
  get size(): number {
    return this.#handles.size;
  }

  /** Returns the address of a live tensor's handle. */
  handle(id: number): bigint {
    const handle = this.#handles.get(id);
    if (handle !== undefined) return handle;
    throw new RangeError(`Cannot use tensor ${id} as it is not alive`);
  }

  /** Takes a handle over, to be released by `delete`. */
  adopt(handle: bigint): number {
    this.#handles.set(this.#nextId, handle);
    return this.#nextId++;
  }

  /** Copies an array into a new tensor. */
  create(shape: readonly number[], dtype: number, values: unknown): number {
    const source = this.#checked(shape, dtype, values);
    const { symbols, status } = this.#context;
    for (let i = 0; i < shape.length; i++) {
      this.#dimensions[i] = BigInt(shape[i]);
    }
    const tensor = symbols.TF_AllocateTensor(
      dtype,
      this.#dimensions,
      shape.length,
      BigInt(source.byteLength),
    );
    if (!tensor) {
      throw new Error(
        `Cannot allocate ${source.byteLength} bytes for a tensor`,
      );
    }
    try {
      if (source.byteLength > 0) copyIn(symbols.TF_TensorData(tensor)!, source);
      const handle = symbols.TFE_NewTensorHandle(tensor, status.pointer);
      status.check("make a tensor");
      return this.adopt(this.#onDevice(addressOf(handle), dtype));
    } finally {
      symbols.TF_DeleteTensor(tensor);
    }
  }

  /** Copies a tensor's elements out. */
  read(id: number): ElementArray {
    const { symbols, status } = this.#context;
    const handle = this.handle(id);
    const { array } = elementOf(symbols.TFE_TensorHandleDataType(handle));
    const tensor = symbols.TFE_TensorHandleResolve(handle, status.pointer);
    status.check("read a tensor");
    try {
      const bytes = Number(symbols.TF_TensorByteSize(tensor));
      const target = new Uint8Array(bytes);
      if (bytes > 0) {
        Deno.UnsafePointerView.copyInto(symbols.TF_TensorData(tensor)!, target);
      }
      return new array(target.buffer);
    } finally {
      symbols.TF_DeleteTensor(tensor);
    }
  }

  /** Frees a tensor. */
  delete(id: number): void {
    this.#context.symbols.TFE_DeleteTensorHandle(this.handle(id));
    this.#handles.delete(id);
  }

  /**
   * Moves a tensor to the GPU, whose kernels want all but 32-bit integers
   * there.
   */
  #onDevice(handle: bigint, dtype: number): bigint {
    const { symbols, status, isGpu, pointer, device } = this.#context;
    if (!isGpu || dtype === DATA_TYPES.TF_INT32) return handle;
    try {
      const copy = symbols.TFE_TensorHandleCopyToDevice(
        handle,
        pointer,
        device,
        status.pointer,
      );
      status.check("copy a tensor to the device");
      return addressOf(copy);
    } finally {
      symbols.TFE_DeleteTensorHandle(handle);
    }
  }

  #checked(shape: readonly number[], dtype: number, values: unknown): Source {
    const { from, size } = elementOf(dtype);
    const name = (values as object)?.constructor?.name;
    if (!from.includes(name)) {
      throw new TypeError(
        `Cannot make a tensor from ${name ?? values}: wanted ${from[0]}`,
      );
    }
    if (shape.length > MAX_RANK) {
      throw new RangeError(
        `Cannot make a tensor of rank ${shape.length}: at most ${MAX_RANK}`,
      );
    }
    const source = values as Source;
    const wanted = shape.reduce((product, n) => product * n, size);
    if (source.byteLength !== wanted) {
      throw new RangeError(
        `Cannot make a tensor of shape [${shape}] from ${source.byteLength} ` +
          `bytes: wanted ${wanted}`,
      );
    }
    return source;
  }
}
