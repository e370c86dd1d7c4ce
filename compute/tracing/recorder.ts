import {
  ARRAYS,
  type Attributes,
  CONSTANT,
  type ConstantData,
  type Node,
  sameShape,
  type TensorData,
  type TensorType,
  type Value,
} from "../graph/graph.ts";
import { findKernel, inferOutputs } from "../kernels/mod.ts";

/** Frames of TensorFlow.js, of this package's tracing and of the runtime. */
const INSIDE = [
  "@tensorflow/",
  "ext:",
  "node:",
  import.meta.url,
  new URL("trace.ts", import.meta.url).href,
  new URL("tracing_backend.ts", import.meta.url).href,
  new URL("../kernels/", import.meta.url).href,
];

/** Frames that lie between a kernel and the code that called for it. */
const FRAMES = 60;

/**
 * The place in a program that called for an operation. It is worked out when
 * it is asked for: that takes much longer than remembering where it was.
 */
export class SourceLine {
  readonly #error: Error;

  /** Remembers the place that is now being run, with frames around it. */
  constructor(frames: number = FRAMES) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = frames;
    this.#error = new Error();
    Error.stackTraceLimit = limit;
  }

  /** Frames between the operation and the program, innermost first. */
  get frames(): string[] {
    return (this.#error.stack ?? "").split("\n").slice(1);
  }

  /** Prints `file:line`, or an empty text where it is not known. */
  toString(): string {
    for (const frame of this.frames) {
      if (INSIDE.some((part) => frame.includes(part))) continue;
      const found = /((?:file|https?):\/\/[^)\s]+?):(\d+):\d+\)?$/.exec(frame);
      if (found !== null) return `${lastPart(found[1])}:${found[2]}`;
    }
    return "";
  }
}

function lastPart(url: string): string {
  return decodeURIComponent(url.slice(url.lastIndexOf("/") + 1));
}

/** Attributes of a constant that is recorded. */
type ConstantRecord = ConstantData & { readonly type: TensorType };

/** Collects the operations of one traced function. */
export class Recorder {
  readonly nodes: Node[] = [];
  /** Error of the function that is thrown only after it has run. */
  refused: TypeError | undefined;
  readonly #known = new WeakMap<TensorData, Value[]>();

  /** Records a kernel, or those that it is made of. */
  record = (
    op: string,
    inputs: readonly (Value | undefined)[],
    attributes: Attributes = {},
  ): readonly Value[] => {
    if (op === CONSTANT) {
      const { type, ...data } = attributes as unknown as ConstantRecord;
      return [this.constant(data as ConstantData, type)];
    }
    const kernel = findKernel(op);
    if (kernel === undefined) throw notSupported(op, new SourceLine());
    if ("expand" in kernel) {
      const made = kernel.expand(this.record, inputs, attributes);
      return Array.isArray(made) ? made : [made as Value];
    }
    const given = inputs.filter((it) => it !== undefined);
    if ("constant" in kernel) {
      const { data, ...type } = kernel.constant(given, attributes);
      return [this.constant(data as ConstantData, type)];
    }
    const outputs = inferOutputs(op, given, attributes);
    const source = new SourceLine();
    this.nodes.push({ op, inputs: given, attributes, outputs, source });
    return outputs;
  };

  /** Returns the constant of a tensor's numbers, recorded at its first use. */
  known(numbers: TensorData, type: TensorType): Value {
    const values = this.#known.get(numbers) ?? [];
    const same = values.find(({ shape, dtype }) =>
      dtype === type.dtype && sameShape(shape, type.shape)
    );
    if (same !== undefined) return same;
    const made = this.constant({ values: arrayOf(numbers, type) }, type);
    this.#known.set(numbers, [...values, made]);
    return made;
  }

  /** Records numbers that are known. */
  constant(data: ConstantData, { shape, dtype }: TensorType): Value {
    const value: Value = { shape: [...shape], dtype };
    this.nodes.push({
      op: CONSTANT,
      inputs: [],
      attributes: { ...data },
      outputs: [value],
      source: new SourceLine(),
    });
    return value;
  }
}

/** Converts numbers to an array of a type. */
function arrayOf(numbers: TensorData, { dtype }: TensorType): TensorData {
  const ArrayType = ARRAYS[dtype];
  return numbers instanceof ArrayType ? numbers : ArrayType.from(numbers);
}

/** Makes the error of a kernel that cannot be compiled. */
export function notSupported(op: string, source: SourceLine): TypeError {
  const place = source.toString();
  return new TypeError(
    `Cannot compile the operation '${op}'${
      place && ` at ${place}`
    }: it has no lowering; use other operations, or the engine 'eager'`,
  );
}
