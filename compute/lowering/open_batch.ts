import { sizeOf } from "../graph/graph.ts";
import {
  ELEMENT_TYPES,
  type OnnxAttributes,
  type OnnxModel,
  type OnnxNode,
  type OnnxPort,
} from "../onnx/model_builder.ts";

type Initializer = OnnxModel["initializers"][number];

/**
 * Lengths that models are lowered for, to see where they come into them: primes
 * that no other length is likely to be, or to be a multiple of. Two would make
 * anything linear, such as the square of the length.
 */
const BATCHES = [1009, 1013, 1019] as const;

/** A number of a model: `factor` times the length of the batch, and `rest`. */
interface Linear {
  readonly factor: number;
  readonly rest: number;
}

/**
 * Makes a model for batches of any length from models lowered for some lengths.
 *
 * @param name Name of the axis, the first of all inputs and outputs.
 * @param lower Makes the model of a length.
 * @throws {TypeError} If they differ in more than lengths.
 */
export function openBatch(
  name: string,
  lower: (length: number) => OnnxModel,
): OnnxModel {
  const models = BATCHES.map(lower);
  const [{ inputs, outputs, nodes, initializers }] = models;
  for (const it of models) {
    const isLike = it.initializers.length === initializers.length &&
      equal(it.nodes, nodes);
    if (!isLike) throw refusal();
  }
  const added = new Added(inputs[0]);
  const kept = initializers.flatMap((it, i) => {
    const all = models.map((model) => model.initializers[i]);
    if (all.some((of) => of.name !== it.name || of.dtype !== it.dtype)) {
      throw refusal();
    }
    return all.every((of) => sameBytes(it, of))
      ? [it]
      : added.numbers(all, usesOf(it.name, nodes));
  });
  return {
    inputs: portsOf(inputs, models.map((it) => it.inputs), name),
    outputs: portsOf(outputs, models.map((it) => it.outputs), name),
    nodes: [...added.nodes, ...nodes],
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

/**
 * Finds how numbers follow from the length of the batch.
 *
 * @param all The numbers, for each of the lengths.
 */
function linear(all: readonly (readonly number[])[]): Linear[] {
  const [one, other] = all;
  if (all.some((it) => it.length !== one.length)) throw refusal();
  return one.map((first, i) => {
    const factor = (other[i] - first) / (BATCHES[1] - BATCHES[0]);
    const rest = first - factor * BATCHES[0];
    const isLinear = Number.isInteger(factor) &&
      all.every((it, j) => it[i] === factor * BATCHES[j] + rest);
    if (!isLinear) throw refusal();
    return { factor, rest };
  });
}

function portsOf(
  ports: readonly OnnxPort[],
  all: readonly (readonly OnnxPort[])[],
  name: string,
): OnnxPort[] {
  return ports.map((port, i) => {
    const lengths = linear(all.map((it) => it[i].shape.map(Number)));
    const shape = lengths.map(({ factor, rest }, axis) => {
      if (factor === 0) return rest;
      if (axis === 0 && factor === 1 && rest === 0) return name;
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

  /**
   * Adds numbers that follow from the length of the batch.
   *
   * @param all The numbers, for each of the lengths.
   */
  numbers(
    all: readonly Initializer[],
    uses: ReturnType<typeof usesOf>,
  ): Initializer[] {
    const [one] = all;
    if (one.dtype !== "int64") {
      const step = stepOf(one);
      if (step !== 0 && all.every((it) => stepOf(it) === step)) {
        return this.#count(all, step);
      }
      this.#repeat(all);
      return [];
    }
    const values = linear(all.map(wholeNumbers));
    const open = values.filter(({ factor }) => factor !== 0);
    // Of a new shape, one length may be left to be worked out.
    const isShape = open.length === 1 &&
      !values.some(({ factor, rest }) => factor === 0 && rest < 1) &&
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

  /** Counts in equal steps from 0, such as the numbers of rows. */
  #count(all: readonly Initializer[], step: number): Initializer[] {
    const [{ name, shape }] = all;
    const at = (part: string) => `${name}/${part}`;
    this.#join(at("length"), linear(all.map((it) => [it.shape[0]])), true);
    const end = this.#op("Cast", [at("length")], at("end"), {
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

  /** Repeats a row, or a number, instead of an array of a batch's length. */
  #repeat(all: readonly Initializer[]): void {
    const [one] = all, { name, dtype, bytes } = one;
    const shape = linear(all.map((it) => it.shape));
    const isOfRows = shape.every(({ factor }, axis) =>
      (factor !== 0) === (axis === 0)
    );
    const row = isOfRows ? [1, ...one.shape.slice(1)] : [];
    const size = bytes.length / sizeOf(one.shape) * sizeOf(row);
    for (const { bytes: numbers } of all) {
      if (!numbers.every((it, i) => it === bytes[i % size])) throw refusal();
    }
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

/** Finds the step of numbers along the first axis that count from 0, or 0. */
function stepOf({ dtype, shape, bytes }: Initializer): number {
  if (dtype !== "int32" || shape.slice(1).some((it) => it !== 1)) return 0;
  const numbers = new Int32Array(bytes.slice().buffer);
  const step = numbers[1];
  return numbers.every((it, i) => it === i * step) ? step : 0;
}

function wholeNumbers({ bytes }: Initializer): number[] {
  return Array.from(new BigInt64Array(bytes.slice().buffer), Number);
}

function vector(name: string, values: readonly number[]): Initializer {
  const bytes = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
  return { name, dtype: "int64", shape: [values.length], bytes };
}
