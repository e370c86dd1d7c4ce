import {
  type Attributes,
  CONSTANT,
  type ConstantData,
  type Node,
  type TensorType,
  type Value,
} from "../graph/graph.ts";
import { findKernel, inferOutputs } from "../kernels/mod.ts";
import { SourceLine } from "./source_line.ts";

/** What a record of a constant is given. */
type ConstantRecord = ConstantData & { readonly type: TensorType };

/** Collects the operations of one traced function. */
export class Recorder {
  readonly nodes: Node[] = [];

  /** Records a kernel, or those that it is made of. */
  record = (
    op: string,
    inputs: readonly (Value | undefined)[],
    attributes: Attributes = {},
  ): readonly Value[] => {
    if (op === CONSTANT) return [this.#given(attributes)];
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

  #given(attributes: Attributes): Value {
    const { type, ...data } = attributes as unknown as ConstantRecord;
    return this.constant(data as ConstantData, type);
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

/** Why a kernel cannot be compiled, and what to do instead. */
export function notSupported(op: string, source: SourceLine): TypeError {
  const place = source.toString();
  return new TypeError(
    `Cannot compile the operation '${op}'${
      place && ` at ${place}`
    }: it has no lowering; use other operations, or the engine 'eager'`,
  );
}
