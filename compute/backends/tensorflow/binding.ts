import {
  addressOf,
  createContext,
  cString,
  type EagerContext,
  openTensorFlow,
} from "./context.ts";

/** TensorFlow's numbers of the element types that can be met. */
const DATA_TYPES = {
  TF_FLOAT: 1,
  TF_INT32: 3,
  TF_UINT8: 4,
  TF_STRING: 7,
  TF_COMPLEX64: 8,
  TF_INT64: 9,
  TF_BOOL: 10,
  TF_RESOURCE: 20,
} as const;

/** TensorFlow's numbers of the kinds of attribute. */
const ATTRIBUTE_TYPES = {
  TF_ATTR_STRING: 0,
  TF_ATTR_INT: 1,
  TF_ATTR_FLOAT: 2,
  TF_ATTR_BOOL: 3,
  TF_ATTR_TYPE: 4,
  TF_ATTR_SHAPE: 5,
} as const;

/** Arrays that elements are read into. */
const ARRAYS = {
  [DATA_TYPES.TF_FLOAT]: Float32Array,
  [DATA_TYPES.TF_INT32]: Int32Array,
  [DATA_TYPES.TF_UINT8]: Uint8Array,
  [DATA_TYPES.TF_BOOL]: Uint8Array,
  [DATA_TYPES.TF_INT64]: BigInt64Array,
} as const;

type ArrayType = (typeof ARRAYS)[keyof typeof ARRAYS];

/** Returns the array of a type's elements; a TypeError if there is none. */
function arrayOf(dtype: number): ArrayType {
  const array = (ARRAYS as Readonly<Record<number, ArrayType>>)[dtype];
  if (array) return array;
  const name = Object.entries(DATA_TYPES).find(([, it]) => it === dtype)?.[0];
  throw new TypeError(
    `Cannot hold ${
      name?.replace("TF_", "").toLowerCase() ?? `type ${dtype}`
    } tensors in the tensorflow backend, which holds float32, int32 and bool`,
  );
}

/** Shapes of this rank and less use a buffer that is kept. */
const MAX_RANK = 16;

type Source = ArrayBufferView<ArrayBuffer>;

/** Checks that an array has a tensor's elements. */
function checkedSource(
  shape: readonly number[],
  dtype: number,
  values: unknown,
): Source {
  const array = arrayOf(dtype);
  const name = (values as object)?.constructor?.name;
  // The kernels write 64-bit integers as pairs of 32-bit ones.
  const isPairs = array === BigInt64Array && name === "Int32Array";
  if (name !== array.name && !isPairs) {
    throw new TypeError(
      `Cannot make a tensor from ${name ?? values}: wanted ${
        array === BigInt64Array ? "Int32Array" : array.name
      }`,
    );
  }
  if (shape.length > MAX_RANK) {
    throw new RangeError(
      `Cannot make a tensor of rank ${shape.length}: at most ${MAX_RANK}`,
    );
  }
  const source = values as Source;
  const wanted = shape.reduce(
    (product, n) => product * n,
    array.BYTES_PER_ELEMENT,
  );
  if (source.byteLength === wanted) return source;
  throw new RangeError(
    `Cannot make a tensor of shape [${shape}] from ${source.byteLength} ` +
      `bytes: wanted ${wanted}`,
  );
}

function copyIn(pointer: Deno.PointerObject, source: Source): void {
  const { buffer, byteOffset, byteLength } = source;
  const target = Deno.UnsafePointerView.getArrayBuffer(pointer, byteLength);
  new Uint8Array(target).set(new Uint8Array(buffer, byteOffset, byteLength));
}

/** An attribute of an operation, as the kernels give it. */
export interface OperationAttribute {
  /** Its name in TensorFlow. */
  name: string;
  /** One of `ATTRIBUTE_TYPES`. */
  type: number;
  /** By type: a text, a number or a boolean, or a list of the latter two. */
  value: unknown;
}

/** A tensor that an operation made. */
export interface OperationOutput {
  /** Its number in the tensor table. */
  id: number;
  /** Its shape. */
  shape: number[];
  /** TensorFlow's number of its element type. */
  dtype: number;
}

function int64s(values: readonly number[]): BigInt64Array<ArrayBuffer> {
  return BigInt64Array.from(values, BigInt);
}

/** Sets one attribute of an operation. */
function setAttribute(
  { symbols, status }: EagerContext,
  operation: Deno.PointerValue,
  { name, type, value }: OperationAttribute,
): void {
  const key = cString(name);
  const list = Array.isArray(value) ? value : undefined;
  switch (type) {
    case ATTRIBUTE_TYPES.TF_ATTR_STRING: {
      const text = cString(value as string);
      const length = BigInt(text.length - 1);
      return symbols.TFE_OpSetAttrString(operation, key, text, length);
    }
    case ATTRIBUTE_TYPES.TF_ATTR_INT: {
      if (!list) {
        return symbols.TFE_OpSetAttrInt(
          operation,
          key,
          BigInt(value as number),
        );
      }
      const { length } = list;
      return symbols.TFE_OpSetAttrIntList(operation, key, int64s(list), length);
    }
    case ATTRIBUTE_TYPES.TF_ATTR_FLOAT: {
      if (!list) {
        return symbols.TFE_OpSetAttrFloat(operation, key, value as number);
      }
      const array = Float32Array.from(list);
      return symbols
        .TFE_OpSetAttrFloatList(operation, key, array, array.length);
    }
    case ATTRIBUTE_TYPES.TF_ATTR_BOOL: {
      if (!list) return symbols.TFE_OpSetAttrBool(operation, key, +!!value);
      const array = Uint8Array.from(list, Number);
      return symbols.TFE_OpSetAttrBoolList(operation, key, array, array.length);
    }
    case ATTRIBUTE_TYPES.TF_ATTR_TYPE:
      return symbols.TFE_OpSetAttrType(operation, key, value as number);
    case ATTRIBUTE_TYPES.TF_ATTR_SHAPE: {
      const shape = int64s(value as number[]);
      const { length } = shape;
      const { pointer } = status;
      symbols.TFE_OpSetAttrShape(operation, key, shape, length, pointer);
      return status.check("set a shape");
    }
    default:
      throw new TypeError(
        `Cannot set attribute ${name} of unknown type ${type}`,
      );
  }
}

/**
 * Functions that tfjs-node's kernels call, over a TensorFlow library: native
 * tensors by number, and operations that run one by one. Saved models are left
 * out: nothing here reads them.
 */
class LibraryBinding {
  /** The version of the library. */
  readonly TF_Version: string;
  readonly #context: EagerContext;
  readonly #symbols: EagerContext["symbols"];
  readonly #status: EagerContext["status"];
  /** Address of each live tensor's handle, by its number. */
  readonly #handles = new Map<number, bigint>();
  #nextId = 0;
  readonly #dimensions = new BigInt64Array(MAX_RANK);
  /** The one operation object, which is used again. */
  #operation: Deno.PointerValue = null;
  /** Addresses of the outputs, and their count, as `TFE_Execute` fills them. */
  #outputs = new BigUint64Array(16);
  readonly #count = new Int32Array(1);

  constructor(context: EagerContext) {
    this.#context = context;
    this.#symbols = context.symbols;
    this.#status = context.status;
    this.TF_Version = context.version;
  }

  /** Counts the native tensors that are alive. */
  getNumOfTensors(): number {
    return this.#handles.size;
  }

  /** Counts the saved models that are loaded. */
  getNumOfSavedModels(): number {
    return 0;
  }

  /** True where a GPU computes. */
  isUsingGpuDevice(): boolean {
    return this.#context.isGpu;
  }

  /** Copies an array into a new native tensor and gives its number. */
  createTensor(
    shape: readonly number[],
    dtype: number,
    values: unknown,
  ): number {
    const source = checkedSource(shape, dtype, values);
    const { byteLength } = source;
    const symbols = this.#symbols;
    for (let i = 0; i < shape.length; i++) {
      this.#dimensions[i] = BigInt(shape[i]);
    }
    const tensor = symbols.TF_AllocateTensor(
      dtype,
      this.#dimensions,
      shape.length,
      BigInt(byteLength),
    );
    if (!tensor) {
      throw new Error(`Cannot allocate ${byteLength} bytes for a tensor`);
    }
    try {
      if (byteLength > 0) copyIn(symbols.TF_TensorData(tensor)!, source);
      const handle = symbols.TFE_NewTensorHandle(tensor, this.#status.pointer);
      this.#status.check("make a tensor");
      return this.#adopt(this.#onDevice(addressOf(handle), dtype));
    } finally {
      symbols.TF_DeleteTensor(tensor);
    }
  }

  /** Copies a native tensor's elements out. */
  tensorDataSync(id: number): InstanceType<ArrayType> {
    const symbols = this.#symbols;
    const handle = this.#handle(id);
    const array = arrayOf(symbols.TFE_TensorHandleDataType(handle));
    const { pointer } = this.#status;
    const tensor = symbols.TFE_TensorHandleResolve(handle, pointer);
    this.#status.check("read a tensor");
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

  /** Frees a native tensor. */
  deleteTensor(id: number): void {
    this.#symbols.TFE_DeleteTensorHandle(this.#handle(id));
    this.#handles.delete(id);
  }

  /**
   * Runs one operation.
   *
   * @throws {Error} If TensorFlow refuses it, with its name and reason.
   */
  executeOp(
    name: string,
    attributes: readonly OperationAttribute[],
    inputs: readonly number[],
    outputs: number,
  ): OperationOutput[] {
    const operation = this.#prepare(name);
    const { pointer } = this.#status;
    for (const input of inputs) {
      const handle = this.#handle(input);
      this.#symbols.TFE_OpAddInput(operation, handle, pointer);
      this.#check(name);
    }
    for (const attribute of attributes) {
      setAttribute(this.#context, operation, attribute);
    }
    if (outputs > this.#outputs.length) {
      this.#outputs = new BigUint64Array(2 * outputs);
    }
    this.#count[0] = outputs;
    this.#symbols
      .TFE_Execute(operation, this.#outputs, this.#count, pointer);
    this.#check(name);
    const results: OperationOutput[] = [];
    for (let i = 0; i < this.#count[0]; i++) {
      results.push(this.#describe(this.#outputs[i]));
    }
    this.#refuseUnknownTypes(results);
    return results;
  }

  /** Returns the address of a live tensor's handle. */
  #handle(id: number): bigint {
    const handle = this.#handles.get(id);
    if (handle !== undefined) return handle;
    throw new RangeError(`Cannot use tensor ${id} as it is not alive`);
  }

  /** Takes a handle over, to be released by `deleteTensor`. */
  #adopt(handle: bigint): number {
    this.#handles.set(this.#nextId, handle);
    return this.#nextId++;
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

  #prepare(name: string): Deno.PointerValue {
    const { symbols, status, pointer } = this.#context;
    const bytes = cString(name);
    if (this.#operation && symbols.TFE_OpReset) {
      symbols.TFE_OpReset(this.#operation, bytes, null, status.pointer);
    } else {
      this.#release();
      this.#operation = symbols.TFE_NewOp(pointer, bytes, status.pointer);
    }
    this.#check(name);
    return this.#operation;
  }

  /** Inputs are held by the operation until it is used again or deleted. */
  #release(): void {
    if (this.#operation) this.#symbols.TFE_DeleteOp(this.#operation);
    this.#operation = null;
  }

  #check(name: string): void {
    try {
      this.#status.check(`run ${name}`);
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  #refuseUnknownTypes(results: OperationOutput[]): void {
    try {
      for (const { dtype } of results) arrayOf(dtype);
    } catch (error) {
      for (const { id } of results) this.deleteTensor(id);
      throw error;
    }
  }

  #describe(handle: bigint): OperationOutput {
    const symbols = this.#symbols;
    const { pointer } = this.#status;
    const rank = symbols.TFE_TensorHandleNumDims(handle, pointer);
    const shape: number[] = [];
    for (let i = 0; i < rank; i++) {
      shape.push(symbols.TFE_TensorHandleDim(handle, i, pointer));
    }
    const dtype = symbols.TFE_TensorHandleDataType(handle);
    return { id: this.#adopt(handle), shape, dtype };
  }
}

/**
 * Interface that tfjs-node's kernels call: of their addon, or of our library.
 */
export type TensorFlowBinding =
  & Pick<LibraryBinding, keyof LibraryBinding>
  & typeof DATA_TYPES
  & typeof ATTRIBUTE_TYPES;

/**
 * Opens a TensorFlow library and makes of it what tfjs-node's kernels need.
 *
 * @param path The library's file.
 * @param threads Threads that it may use; 0 leaves it to TensorFlow.
 * @throws {Error} If the library cannot be opened or does not start.
 */
export function openBinding(path: string, threads: number): TensorFlowBinding {
  const binding = new LibraryBinding(
    createContext(openTensorFlow(path), threads),
  );
  return Object.assign(binding, DATA_TYPES, ATTRIBUTE_TYPES);
}
