import {
  ELEMENT_TYPES,
  type OnnxAttributes,
  type OnnxModel,
  type OnnxNode,
  type OnnxPort,
} from "../onnx/model_builder.ts";

type Initializer = OnnxModel["initializers"][number];

/**
 * Lengths that two models are lowered for, to see where they come into them:
 * primes that no other length is likely to be, or to be a multiple of.
 */
const BATCHES = [1009, 1013] as const;

/** A number of a model: `factor` times the length of the batch, and `rest`. */
interface Linear {
  readonly factor: number;
  readonly rest: number;
}

/**
 * Makes a model for batches of any length, of two that differ in it alone.
 *
 * @param name Name of the axis, the first of all inputs and outputs.
 * @param lower Makes the model of a length.
 * @throws {TypeError} If they differ in more than lengths.
 */
export function openBatch(
  name: string,
  lower: (length: number) => OnnxModel,
): OnnxModel {
  const [one, other] = BATCHES.map(lower);
  const added = new Added(one.inputs[0]);
  if (one.initializers.length !== other.initializers.length) throw refusal();
  const kept = one.initializers.flatMap((it, i) => {
    const same = other.initializers[i];
    if (it.name !== same.name || it.dtype !== same.dtype) throw refusal();
    return sameBytes(it, same)
      ? [it]
      : added.numbers(it, same, usesOf(it.name, one.nodes));
  });
  if (!equal(one.nodes, other.nodes)) throw refusal();
  return {
    inputs: portsOf([one.inputs, other.inputs], name),
    outputs: portsOf([one.outputs, other.outputs], name),
    nodes: [...added.nodes, ...one.nodes],
    initializers: [...kept, ...added.initializers],
  };
}

function refusal(): TypeError {
  return new TypeError(
    "Cannot leave the batch open: the function does other operations on other lengths of it; give the length",
  );
}

function equal(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function sameBytes(one: Initializer, other: Initializer): boolean {
  return equal(one.shape, other.shape) &&
    one.bytes.every((byte, i) => byte === other.bytes[i]);
}

/** Lists the nodes that take a tensor, and its place among their inputs. */
function usesOf(name: string, nodes: readonly OnnxNode[]) {
  return nodes.flatMap((node) =>
    node.inputs.flatMap((input, place) => input === name ? { node, place } : [])
  );
}

/** Finds how a number follows from the length of the batch. */
function linear(one: number, other: number): Linear {
  const factor = (other - one) / (BATCHES[1] - BATCHES[0]);
  const rest = one - factor * BATCHES[0];
  if (!Number.isInteger(factor)) throw refusal();
  return { factor, rest };
}

function portsOf(
  [one, other]: readonly [readonly OnnxPort[], readonly OnnxPort[]],
  name: string,
): OnnxPort[] {
  return one.map((port, i) => {
    const shape = port.shape.map((length, axis) => {
      const same = other[i].shape[axis];
      if (length === same) return length;
      if (axis === 0 && length === BATCHES[0]) return name;
      throw refusal();
    });
    return { ...port, shape };
  });
}

/** Operations and numbers that the length of a batch is computed with. */
class Added {
  readonly nodes: OnnxNode[] = [];
  readonly initializers: Initializer[] = [];
  readonly #input: OnnxPort;
  #length: string | undefined;

  /** @param input An input whose first axis is the batch. */
  constructor(input: OnnxPort) {
    this.#input = input;
  }

  /** Adds numbers that follow from the length of the batch. */
  numbers(
    one: Initializer,
    other: Initializer,
    uses: ReturnType<typeof usesOf>,
  ): Initializer[] {
    if (one.dtype !== "int64") {
      if (isCount(one) && isCount(other)) return this.#count(one);
      this.#repeat(one, other);
      return [];
    }
    const [from, to] = [one, other].map(wholeNumbers);
    if (from.length !== to.length) throw refusal();
    const values = from.map((it, i) => linear(it, to[i]));
    const open = values.filter(({ factor }) => factor !== 0);
    // Of a new shape, one length may be left to be worked out.
    const isShape = open.length === 1 && !from.includes(0) &&
      !from.includes(-1) &&
      uses.every(({ node, place }) => node.op === "Reshape" && place === 1);
    if (isShape) {
      return [vector(
        one.name,
        values.map(({ factor, rest }) => factor === 0 ? rest : -1),
      )];
    }
    this.#join(one.name, values, one.shape.length === 0);
    return [];
  }

  /** Counts in equal steps from 0: the numbers of rows. */
  #count({ name, shape, bytes }: Initializer): Initializer[] {
    const at = (part: string) => `${name}/${part}`;
    const step = int32sOf(bytes)[1];
    const batch = this.#op("Squeeze", [this.#batch()], at("batch"));
    const end = this.#op("Cast", [batch], at("end"), {
      to: ELEMENT_TYPES.int32,
    });
    const rows = this.#op("Range", [at("from"), end, at("one")], at("rows"));
    const counted = this.#op("Mul", [rows, at("step")], at("counted"));
    this.#op("Reshape", [counted, at("shape")], name);
    return [
      ...Object.entries({ from: 0, one: 1, step }).map(([part, it]) => ({
        name: at(part),
        dtype: "int32" as const,
        shape: [],
        bytes: new Uint8Array(Int32Array.of(it).buffer),
      })),
      vector(at("shape"), [-1, ...shape.slice(1)]),
    ];
  }

  /** Repeats a row, or a number, in the place of an array of a batch's length. */
  #repeat(one: Initializer, other: Initializer): void {
    const { name, dtype, bytes } = one;
    const isOfRows = one.shape[0] === BATCHES[0];
    const row = isOfRows ? [1, ...one.shape.slice(1)] : [];
    const count = one.shape.reduce((a, b) => a * b, 1) /
      row.reduce((a, b) => a * b, 1);
    const size = bytes.length / count;
    for (const { bytes: all } of [one, other]) {
      if (!all.every((it, i) => it === bytes[i % size])) throw refusal();
    }
    const shape = one.shape.map((it, i) => linear(it, other.shape[i]));
    const first = bytes.slice(0, size);
    this.initializers.push({
      name: `${name}/row`,
      dtype,
      shape: row,
      bytes: first,
    });
    this.#join(`${name}/shape`, shape, false);
    this.#op("Expand", [`${name}/row`, `${name}/shape`], name);
  }

  /** Joins numbers to a vector, or makes a scalar. */
  #join(name: string, values: readonly Linear[], isScalar: boolean): void {
    const parts = values.map(({ factor, rest }, i) => {
      const at = (part: string) => `${name}/${part}${i}`;
      const constant = (value: number, part: string) => {
        this.initializers.push(vector(at(part), [value]));
        return at(part);
      };
      if (factor === 0) return constant(rest, "rest");
      const many = factor === 1 ? this.#batch() : this.#op(
        "Mul",
        [this.#batch(), constant(factor, "factor")],
        at("times"),
      );
      return rest === 0
        ? many
        : this.#op("Add", [many, constant(rest, "rest")], at("sum"));
    });
    if (!isScalar) this.#op("Concat", parts, name, { axis: 0 });
    else this.#op("Squeeze", parts, name);
  }

  /** Returns the name of the batch's length, a vector of one number. */
  #batch(): string {
    this.#length ??= this.#op("Shape", [this.#input.name], "batch/length", {
      start: 0,
      end: 1,
    });
    return this.#length;
  }

  #op(
    op: string,
    inputs: readonly string[],
    output: string,
    attributes: OnnxAttributes = {},
  ): string {
    this.nodes.push({ op, domain: "", inputs, outputs: [output], attributes });
    return output;
  }
}

function int32sOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.slice().buffer);
}

/** True for a number for each row of a batch, in equal steps from 0. */
function isCount({ dtype, shape, bytes }: Initializer): boolean {
  if (dtype !== "int32" || shape.slice(1).some((it) => it !== 1)) return false;
  const numbers = int32sOf(bytes);
  return numbers[1] !== 0 && numbers.every((it, i) => it === i * numbers[1]);
}

function wholeNumbers({ bytes }: Initializer): number[] {
  return Array.from(new BigInt64Array(bytes.slice().buffer), Number);
}

function vector(name: string, values: readonly number[]): Initializer {
  const bytes = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
  return { name, dtype: "int64", shape: [values.length], bytes };
}
