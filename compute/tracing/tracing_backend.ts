import * as tf from "@tensorflow/tfjs";
import {
  ARRAYS,
  asConstant,
  type Attributes,
  CONSTANT,
  type ConstantData,
  type Node,
  sameShape,
  type TensorData,
  type TensorType,
  type Value,
} from "../graph/graph.ts";
import type { Kernel } from "../kernels/kernel.ts";
import { findKernel, inferOutputs, KERNEL_NAMES } from "../kernels/mod.ts";
import { noGradient, PlacedError, SourceLine } from "./source_line.ts";

/** Collects the operations of one traced function. */
export class Recorder {
  readonly nodes: Node[] = [];
  /** Recorder of the function that this one is a part of. */
  readonly outer: Recorder | null;
  readonly #known = new WeakMap<TensorData, Value[]>();
  /** Values of the outer recorder, and the values that represent them here. */
  readonly #captured = new Map<Value, Value>();
  /** True where each operation has the place that called it. */
  readonly isPlaced: boolean;
  #refused: PlacedError | undefined;

  /** @param outer Recorder of the function that the recorded one is a part of. */
  constructor(outer: Recorder | null, isPlaced = outer?.isPlaced ?? false) {
    this.outer = outer;
    this.isPlaced = isPlaced;
  }

  /** Error of the function that is thrown only after it has run. */
  get refused(): PlacedError | undefined {
    return this.outer?.refused ?? this.#refused;
  }

  /** Notes an error, unless there is one already. */
  refuse(error: PlacedError): void {
    if (this.outer !== null) this.outer.refuse(error);
    else this.#refused ??= error;
  }

  /** Finds the operation that made a value. */
  maker(value: Value | undefined): Node | undefined {
    return this.nodes.find(({ outputs }) => outputs.includes(value!));
  }

  /** Values of the outer recorder, and the values that represent them here. */
  get captured(): ReadonlyMap<Value, Value> {
    return this.#captured;
  }

  /** Returns the value that represents one of this recorder or of an outer one. */
  capture(value: Value, owner: Recorder | undefined): Value | undefined {
    if (owner === this) return value;
    const outside = this.outer?.capture(value, owner);
    if (outside === undefined) return undefined;
    const known = this.#captured.get(outside);
    if (known !== undefined) return known;
    const { shape, dtype } = outside;
    const inside: Value = { shape: [...shape], dtype };
    this.#captured.set(outside, inside);
    return inside;
  }

  /** Records an operation whose outputs are known. */
  add(
    op: string,
    inputs: readonly Value[],
    { attributes, outputs }: Pick<Node, "attributes" | "outputs">,
  ): readonly Value[] {
    const source = this.isPlaced ? new SourceLine() : undefined;
    this.nodes.push({ op, inputs, attributes, outputs, source });
    return outputs;
  }

  /** Records a kernel. */
  record(
    op: string,
    inputs: readonly Value[],
    attributes: Attributes,
  ): readonly Value[] {
    const outputs = inferOutputs(op, inputs, attributes);
    return this.add(op, inputs, { attributes, outputs });
  }

  /** Returns the constant of a tensor's numbers, recorded at its first use. */
  known(numbers: TensorData, type: TensorType): Value {
    const values = this.#known.get(numbers) ?? [];
    const same = values.find(({ shape, dtype }) =>
      dtype === type.dtype && sameShape(shape, type.shape)
    );
    if (same !== undefined) return same;
    const made = this.constant(asConstant(arrayOf(numbers, type)), type);
    this.#known.set(numbers, [...values, made]);
    return made;
  }

  /** Records numbers that are known. */
  constant(data: ConstantData, { shape, dtype }: TensorType): Value {
    const outputs = [{ shape: [...shape], dtype }];
    return this.add(CONSTANT, [], { attributes: { ...data }, outputs })[0];
  }
}

/** Converts numbers to an array of a type. */
function arrayOf(numbers: TensorData, { dtype }: TensorType): TensorData {
  const ArrayType = ARRAYS[dtype];
  return numbers instanceof ArrayType ? numbers : ArrayType.from(numbers);
}

/** Makes the error of a kernel that cannot be compiled. */
function notSupported(op: string, source: SourceLine): PlacedError {
  const place = source.toString();
  return new PlacedError(
    `Cannot compile the operation '${op}'${
      place && ` at ${place}`
    }: it has no lowering; use other operations, or the engine 'eager'`,
  );
}

/** The name under which TensorFlow.js registers the backend. */
export const TRACE = "bellman-trace";

/** Content of a tensor: a value of a graph, or numbers. */
interface Entry {
  /** The recorder that {@link value} is of. */
  recorder?: Recorder;
  value?: Value;
  /** Known numbers: of constants, and of tensors from outside. */
  numbers?: TensorData;
  references: number;
}

/** Scopes of TensorFlow.js's operations that make random numbers. */
const RANDOM = /^(rand|random\w+|truncatedNormal|dropout)__op$/;

/**
 * A backend that computes nothing: each kernel is recorded with the shapes and
 * types of what it would make.
 */
export class TracingBackend extends tf.KernelBackend {
  readonly #data: tf.DataStorage<Entry>;
  /** Recorder of the function that is being traced. */
  recorder: Recorder | null = null;

  constructor() {
    super();
    this.#data = new tf.DataStorage<Entry>(this, tf.engine());
  }

  /** Makes a tensor for a value of the graph. */
  tensorOf(value: Value): tf.TensorInfo {
    const dataId = {};
    const { shape, dtype } = value;
    this.#data.set(dataId, {
      recorder: this.#recording(),
      value,
      references: 1,
    });
    return { dataId, shape: [...shape], dtype: dtype as tf.DataType };
  }

  /** Makes a tensor that operations of TensorFlow.js take. */
  makeTensor(value: Value): tf.Tensor {
    return tf.engine().makeTensorFromTensorInfo(this.tensorOf(value));
  }

  /** Returns the graph's value behind a tensor; numbers become constants. */
  graphValue({ dataId, shape, dtype }: tf.TensorInfo): Value {
    const recorder = this.#recording();
    const { numbers, value, recorder: owner } = this.#data.get(dataId);
    if (numbers !== undefined) {
      // Tensors of several shapes and types may share their numbers.
      const type = { shape, dtype: dtype as TensorType["dtype"] };
      return recorder.known(numbers, type);
    }
    const here = recorder.capture(value!, owner);
    if (here !== undefined) return here;
    throw new TypeError(
      "Cannot use a tensor of another traced function: pass it as an input",
    );
  }

  #recording(): Recorder {
    if (this.recorder !== null) return this.recorder;
    throw new TypeError(
      `Cannot compute on the backend '${TRACE}': it records for compile()`,
    );
  }

  override write(
    values: tf.BackendValues,
    shape: number[],
    dtype: tf.DataType,
  ): tf.DataId {
    const dataId = {};
    this.move(dataId, values, shape, dtype, 1);
    if (this.recorder !== null) refuseRandom();
    return dataId;
  }

  override move(
    dataId: tf.DataId,
    values: tf.BackendValues,
    _shape: number[],
    dtype: tf.DataType,
    references: number,
  ): void {
    this.#data.set(dataId, { numbers: toNumbers(values, dtype), references });
  }

  override readSync(dataId: object): tf.BackendValues {
    const { numbers, value, recorder } = this.#data.get(dataId);
    if (numbers !== undefined) return numbers;
    throw this.#unreadable(value, recorder);
  }

  /** Finds the operation that made a tensor. */
  makerOf({ dataId }: tf.TensorInfo): Node | undefined {
    const { value, recorder } = this.#data.get(dataId);
    return recorder?.maker(value);
  }

  #unreadable(value: Value | undefined, recorder?: Recorder): PlacedError {
    const node = recorder?.maker(value);
    const made = node === undefined
      ? "an input"
      : `the result of '${node.op}'${node.source ? ` (${node.source})` : ""}`;
    return new PlacedError(
      `Cannot read ${made} at ${new SourceLine()}: while a function is traced ` +
        `its numbers are not known; return the tensor and read it from the ` +
        `result, or choose with tf.where instead of if`,
    );
  }

  /**
   * Refuses to read, after the trace: the traced function waits for nothing.
   */
  override read(dataId: object): Promise<tf.BackendValues> {
    try {
      return Promise.resolve(this.readSync(dataId));
    } catch (error) {
      if (this.recorder === null) return Promise.reject(error);
      this.recorder.refuse(error as PlacedError);
      return new Promise(() => {});
    }
  }

  override disposeData(dataId: object, force = false): boolean {
    if (!this.#data.has(dataId)) return true;
    const entry = this.#data.get(dataId);
    entry.references--;
    if (!force && entry.references > 0) return false;
    this.#data.delete(dataId);
    return true;
  }

  override refCount(dataId: tf.DataId): number {
    return this.#data.has(dataId) ? this.#data.get(dataId).references : 0;
  }

  override incRef(dataId: tf.DataId): void {
    this.#data.get(dataId).references++;
  }

  override numDataIds(): number {
    return this.#data.numDataIds();
  }

  override memory(): { unreliable: boolean } {
    return { unreliable: true };
  }

  override floatPrecision(): 32 {
    return 32;
  }

  override epsilon(): number {
    return 1e-7;
  }
}

/** Converts numbers to an array of the tensor's type. */
function toNumbers(
  values: tf.BackendValues,
  dtype: tf.DataType,
): TensorData {
  if (dtype === "float32" || dtype === "int32" || dtype === "bool") {
    return ARRAYS[dtype].from(values as ArrayLike<number>);
  }
  throw new TypeError(
    `Cannot trace a tensor of ${dtype}: expected float32, int32 or bool`,
  );
}

/** Refuses random numbers: the trace would keep them forever. */
function refuseRandom(): void {
  const { scopeStack } = tf.engine().state;
  const drawing = scopeStack.find(({ name }) => RANDOM.test(name));
  if (drawing === undefined) return;
  throw new PlacedError(
    `Cannot trace tf.${
      RANDOM.exec(drawing.name)![1]
    } at ${new SourceLine()}: ` +
      `each call would give the same numbers; pass random numbers as an input`,
  );
}

/** Registers the backend and its kernels, once; returns it. */
export function tracingBackend(): TracingBackend {
  if (tf.findBackend(TRACE) === null) {
    tf.registerBackend(TRACE, () => new TracingBackend(), 0);
    registerKernels();
  }
  return tf.findBackend(TRACE) as TracingBackend;
}

/** A constant of one number. */
type Filled = TensorType & { readonly fill: number };

/** Registers every kernel; those without a lowering throw when called. */
function registerKernels(): void {
  const ofCpu = tf.getKernelsForBackend("cpu").map((it) => it.kernelName);
  for (const name of new Set([...KERNEL_NAMES, ...ofCpu])) {
    registerKernel(name, kernelFunction(name, findKernel(name)));
    if (tf.getGradient(name) === undefined) registerNoGradient(name);
  }
  registerKernel(CONSTANT, ({ attrs, backend }) => {
    const { fill, ...type } = attrs as unknown as Filled;
    const tracing = backend as TracingBackend;
    return tracing.tensorOf(tracing.recorder!.constant({ fill }, type));
  });
}

function registerKernel(kernelName: string, kernelFunc: tf.KernelFunc): void {
  tf.registerKernel({ kernelName, backendName: TRACE, kernelFunc });
}

/**
 * Registers a gradient that throws: TensorFlow.js's own error does not tell
 * which of a kernel's operations lies between the loss and its parameters.
 */
function registerNoGradient(kernelName: string): void {
  tf.registerGradient({
    kernelName,
    outputsToSave: [true],
    gradFunc: (_, [output]) => {
      const backend = tf.backend();
      const maker = backend instanceof TracingBackend
        ? backend.makerOf(output)
        : undefined;
      throw noGradient(kernelName, maker);
    },
  });
}

function kernelFunction(name: string, kernel?: Kernel): tf.KernelFunc {
  if (kernel === undefined) {
    return () => {
      throw notSupported(name, new SourceLine());
    };
  }
  return ({ inputs, attrs, backend }) => {
    const tracing = backend as TracingBackend;
    const names = kernel.inputs === "list"
      ? Object.keys(inputs)
      : kernel.inputs;
    const given = names.map((name) => inputs[name] as tf.Tensor);
    if ("compose" in kernel) return kernel.compose(given, { ...attrs });
    const values = given.filter((it) => it)
      .map((tensor) => tracing.graphValue(tensor));
    const made = tracing.recorder!.record(name, values, { ...attrs })
      .map((value) => tracing.tensorOf(value));
    return RETURNS_LIST.has(name) ? made : made[0];
  };
}

/** Kernels whose result is a list of tensors. */
const RETURNS_LIST = new Set(["Split", "TopK"]);
