import {
  addressOf,
  createContext,
  cString,
  type EagerContext,
  openTensorFlow,
} from "./context.ts";

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

/** TensorFlow's numbers of the kinds of attribute. */
const ATTRIBUTE_TYPES = {
  TF_ATTR_STRING: 0,
  TF_ATTR_INT: 1,
  TF_ATTR_FLOAT: 2,
  TF_ATTR_BOOL: 3,
  TF_ATTR_TYPE: 4,
  TF_ATTR_SHAPE: 5,
} as const;

/** An attribute of an operation, as the kernels give it. */
export interface OperationAttribute {
  /** Its name in TensorFlow. */
  name: string;
  /** One of `ATTRIBUTE_TYPES`. */
  type: number;
  /** By type: a text, a number or a boolean, or a list of the latter two. */
  value: unknown;
}

type Setter = (
  context: EagerContext,
  operation: Deno.PointerValue,
  name: Uint8Array<ArrayBuffer>,
  value: unknown,
) => void;

function int64s(values: readonly number[]): BigInt64Array<ArrayBuffer> {
  return BigInt64Array.from(values, BigInt);
}

const SETTERS: Readonly<Record<number, Setter>> = {
  [ATTRIBUTE_TYPES.TF_ATTR_STRING]: ({ symbols }, operation, name, value) => {
    const text = cString(value as string);
    symbols.TFE_OpSetAttrString(operation, name, text, BigInt(text.length - 1));
  },
  [ATTRIBUTE_TYPES.TF_ATTR_INT]: ({ symbols }, operation, name, value) => {
    if (!Array.isArray(value)) {
      return symbols.TFE_OpSetAttrInt(operation, name, BigInt(value as number));
    }
    const list = int64s(value);
    symbols.TFE_OpSetAttrIntList(operation, name, list, list.length);
  },
  [ATTRIBUTE_TYPES.TF_ATTR_FLOAT]: ({ symbols }, operation, name, value) => {
    if (!Array.isArray(value)) {
      return symbols.TFE_OpSetAttrFloat(operation, name, value as number);
    }
    const list = Float32Array.from(value);
    symbols.TFE_OpSetAttrFloatList(operation, name, list, list.length);
  },
  [ATTRIBUTE_TYPES.TF_ATTR_BOOL]: ({ symbols }, operation, name, value) => {
    if (!Array.isArray(value)) {
      return symbols.TFE_OpSetAttrBool(operation, name, value ? 1 : 0);
    }
    const list = Uint8Array.from(value, Number);
    symbols.TFE_OpSetAttrBoolList(operation, name, list, list.length);
  },
  [ATTRIBUTE_TYPES.TF_ATTR_TYPE]: ({ symbols }, operation, name, value) =>
    symbols.TFE_OpSetAttrType(operation, name, value as number),
  [ATTRIBUTE_TYPES.TF_ATTR_SHAPE]: (context, operation, name, value) => {
    const { symbols, status } = context;
    const shape = int64s(value as number[]);
    symbols.TFE_OpSetAttrShape(
      operation,
      name,
      shape,
      shape.length,
      status.pointer,
    );
    status.check("set a shape");
  },
};

/** Sets one attribute of an operation. */
function setAttribute(
  context: EagerContext,
  operation: Deno.PointerValue,
  { name, type, value }: OperationAttribute,
): void {
  const set = SETTERS[type];
  if (!set) {
    throw new TypeError(`Cannot set attribute ${name} of unknown type ${type}`);
  }
  set(context, operation, cString(name), value);
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

/** Runs operations one by one, reusing one native operation object. */
class OperationRunner {
  readonly #context: EagerContext;
  readonly #tensors: TensorTable;
  #operation: Deno.PointerValue = null;
  /** Addresses of the outputs, and their count, as `TFE_Execute` fills them. */
  #outputs = new BigUint64Array(16);
  readonly #count = new Int32Array(1);

  constructor(context: EagerContext, tensors: TensorTable) {
    this.#context = context;
    this.#tensors = tensors;
  }

  /**
   * Runs an operation.
   *
   * @throws {Error} If TensorFlow refuses it, with its name and reason.
   */
  execute(
    name: string,
    attributes: readonly OperationAttribute[],
    inputs: readonly number[],
    outputs: number,
  ): OperationOutput[] {
    const operation = this.#prepare(name);
    this.#addInputs(operation, name, inputs);
    for (const attribute of attributes) {
      setAttribute(this.#context, operation, attribute);
    }
    return this.#run(operation, name, outputs);
  }

  #prepare(name: string): Deno.PointerValue {
    const { symbols, status, pointer } = this.#context;
    if (this.#operation && symbols.TFE_OpReset) {
      symbols.TFE_OpReset(this.#operation, cString(name), null, status.pointer);
    } else {
      this.#release();
      this.#operation = symbols.TFE_NewOp(
        pointer,
        cString(name),
        status.pointer,
      );
    }
    this.#check(name);
    return this.#operation;
  }

  /** Inputs are held by the operation until it is used again or deleted. */
  #release(): void {
    if (this.#operation) this.#context.symbols.TFE_DeleteOp(this.#operation);
    this.#operation = null;
  }

  #check(name: string): void {
    try {
      this.#context.status.check(`run ${name}`);
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  #addInputs(
    operation: Deno.PointerValue,
    name: string,
    inputs: readonly number[],
  ): void {
    const { symbols, status } = this.#context;
    for (let i = 0; i < inputs.length; i++) {
      const handle = this.#tensors.handle(inputs[i]);
      symbols.TFE_OpAddInput(operation, handle, status.pointer);
      this.#check(name);
    }
  }

  #run(
    operation: Deno.PointerValue,
    name: string,
    outputs: number,
  ): OperationOutput[] {
    const { symbols, status } = this.#context;
    if (outputs > this.#outputs.length) {
      this.#outputs = new BigUint64Array(2 * outputs);
    }
    this.#count[0] = outputs;
    symbols.TFE_Execute(operation, this.#outputs, this.#count, status.pointer);
    this.#check(name);
    const results: OperationOutput[] = [];
    for (let i = 0; i < this.#count[0]; i++) {
      results.push(this.#describe(this.#outputs[i]));
    }
    this.#refuseUnknownTypes(results);
    return results;
  }

  #refuseUnknownTypes(results: OperationOutput[]): void {
    try {
      for (const { dtype } of results) elementOf(dtype);
    } catch (error) {
      for (const { id } of results) this.#tensors.delete(id);
      throw error;
    }
  }

  #describe(handle: bigint): OperationOutput {
    const { symbols, status } = this.#context;
    const rank = symbols.TFE_TensorHandleNumDims(handle, status.pointer);
    const shape: number[] = [];
    for (let i = 0; i < rank; i++) {
      shape.push(symbols.TFE_TensorHandleDim(handle, i, status.pointer));
    }
    const dtype = symbols.TFE_TensorHandleDataType(handle);
    return { id: this.#tensors.adopt(handle), shape, dtype };
  }
}

type Constants = typeof DATA_TYPES & typeof ATTRIBUTE_TYPES;

/**
 * Interface that tfjs-node's kernels call: of their addon, or of our library.
 */
export interface TensorFlowBinding extends Constants {
  /** Copies an array into a new native tensor and gives its number. */
  createTensor(
    shape: readonly number[],
    dtype: number,
    values: unknown,
  ): number;
  /** Frees a native tensor. */
  deleteTensor(id: number): void;
  /** Copies a native tensor's elements out. */
  tensorDataSync(id: number): ElementArray;
  /** Runs one operation. */
  executeOp(
    name: string,
    attributes: readonly OperationAttribute[],
    inputs: readonly number[],
    outputs: number,
  ): OperationOutput[];
  /** Counts the native tensors that are alive. */
  getNumOfTensors(): number;
  /** Counts the saved models that are loaded. */
  getNumOfSavedModels(): number;
  /** True where a GPU computes. */
  isUsingGpuDevice(): boolean;
  /** The version of the library. */
  TF_Version: string;
}

/**
 * Opens a TensorFlow library and makes of it what tfjs-node's kernels need.
 * Saved models are left out: nothing here reads them.
 *
 * @param path The library's file.
 * @param threads Threads that it may use; 0 leaves it to TensorFlow.
 * @throws {Error} If the library cannot be opened or does not start.
 */
export function openBinding(path: string, threads: number): TensorFlowBinding {
  const context = createContext(openTensorFlow(path), threads);
  const tensors = new TensorTable(context);
  const operations = new OperationRunner(context, tensors);
  return {
    ...DATA_TYPES,
    ...ATTRIBUTE_TYPES,
    TF_Version: context.version,
    createTensor: (shape, dtype, values) =>
      tensors.create(shape, dtype, values),
    deleteTensor: (id) => tensors.delete(id),
    tensorDataSync: (id) => tensors.read(id),
    executeOp: (name, attributes, inputs, outputs) =>
      operations.execute(name, attributes, inputs, outputs),
    getNumOfTensors: () => tensors.size,
    getNumOfSavedModels: () => 0,
    isUsingGpuDevice: () => context.isGpu,
  };
}
