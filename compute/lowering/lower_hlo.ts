import {
  CONSTANT,
  type ConstantData,
  countUses,
  type DType,
  type Graph,
  type NamedValue,
  type Nested,
  type Node,
  sizeOf,
  SWITCH,
  type Switch,
  type Value,
  WHILE,
  type While,
} from "../graph/graph.ts";
import { primitive } from "../kernels/mod.ts";
import {
  type GivenConstant,
  type HloTensor,
  hloType,
  ProgramBuilder,
} from "../stablehlo/program_builder.ts";

/** Tensors of one type that are one flat vector to a program, in and out. */
export interface HloVector {
  readonly dtype: DType;
  /** Names of the tensors that it holds one after the other. */
  readonly members: readonly string[];
  /** True where the program only reads it: it is no output then. */
  readonly isFixed?: boolean;
}

/** A graph as a StableHLO program. */
export interface HloProgram {
  /**
   * Text of the program. Its first inputs are the vectors, its first outputs
   * those that it does not only read.
   */
  readonly text: string;
  /** Places of the graph's inputs that come after the vectors. */
  readonly inputs: readonly number[];
  /**
   * Places of the graph's outputs that come after the vectors. Numbers lie
   * together in one vector: to return and read one takes 1.4 us.
   */
  readonly outputs: readonly (readonly number[])[];
  /** Constants that are its last inputs, as they are large. */
  readonly constants: readonly GivenConstant[];
}

/** Tensors of a program by the values of the graph. */
type Made = Map<Value, HloTensor>;

/** Booleans come and go as bytes: any but 0 is true. */
function outside(dtype: DType): DType {
  return dtype === "bool" ? "uint8" : dtype;
}

function typeOutside({ shape, dtype }: Value): Value {
  return { shape, dtype: outside(dtype) };
}

/**
 * Lowers a graph to a StableHLO program. Inputs that nothing takes are left
 * out. A vector that is not fixed is given to the output that takes its place:
 * its memory is overwritten.
 *
 * @param graph The graph.
 * @param vectors Vectors of inputs that are outputs of the same names as well.
 * @param options Kind of device, a CPU by default.
 */
export function lowerToHlo(
  graph: Graph,
  vectors: readonly HloVector[] = [],
  options: { readonly isForCpu?: boolean } = {},
): HloProgram {
  const program = new ProgramBuilder(options);
  const made: Made = new Map();
  const uses = countUses(graph);
  const inVectors = new Set(vectors.flatMap(({ members }) => members));
  const places = <T extends NamedValue>(
    of: readonly T[],
    isWanted: (it: T) => boolean = () => true,
  ) =>
    of.flatMap((it, i) => inVectors.has(it.name) || !isWanted(it) ? [] : [i]);
  const inputs = places(graph.inputs, ({ value }) => uses.has(value));
  const outputs = joinNumbers(graph, places(graph.outputs));
  const taken = byName(graph.inputs);
  const parameters = [
    ...vectors.map((it) => vectorType(it, taken)),
    ...inputs.map((i) => typeOutside(graph.inputs[i].value)),
  ].map((type, i): HloTensor => ({ ...type, name: `%arg${i}` }));
  vectors.forEach(({ members }, i) => {
    const values = members.map((name) => taken.get(name)!);
    takeApart(program, parameters[i], values).forEach((it, k) =>
      made.set(values[k], it)
    );
  });
  inputs.forEach((place, i) => {
    const { value } = graph.inputs[place];
    const given = parameters[vectors.length + i];
    made.set(value, program.cast(given, value.dtype));
  });
  lowerNodes(program, graph, made);
  const results = byName(graph.outputs);
  const joined = (parts: readonly HloTensor[]) =>
    program.concat(parts.map((it) => program.flatten(it)), 0);
  const returned = [
    ...vectors.filter(({ isFixed }) => !isFixed).map(({ members, dtype }) => {
      const parts = members.map((name) => made.get(results.get(name)!)!)
        .map((it) => program.cast(it, outside(dtype)));
      return joined(parts);
    }),
    ...outputs.map((places) => {
      const parts = places.map((place) => {
        const { value } = graph.outputs[place];
        return program.cast(made.get(value)!, outside(value.dtype));
      });
      return parts.length === 1 ? parts[0] : joined(parts);
    }),
  ];
  const { given: constants } = program;
  const text = moduleText(program, {
    parameters: [...parameters, ...constants],
    returned,
    vectors,
  });
  return { text, inputs, outputs, constants };
}

/** Joins the places of numbers to one list, and gives each other one its own. */
function joinNumbers(
  { outputs }: Graph,
  places: readonly number[],
): readonly (readonly number[])[] {
  const isNumber = (place: number) => {
    const { shape, dtype } = outputs[place].value;
    return dtype === "float32" && sizeOf(shape) === 1;
  };
  const numbers = places.filter(isNumber);
  const others = places.filter((place) => !isNumber(place));
  const alone = others.map((place) => [place]);
  return numbers.length === 0 ? alone : [numbers, ...alone];
}

function byName(values: readonly NamedValue[]): Map<string, Value> {
  return new Map(values.map(({ name, value }) => [name, value]));
}

function vectorType(
  { dtype, members }: HloVector,
  values: ReadonlyMap<string, Value>,
): Value {
  const sizes = members.map((name) => sizeOf(values.get(name)!.shape));
  return {
    shape: [sizes.reduce((sum, size) => sum + size, 0)],
    dtype: outside(dtype),
  };
}

function takeApart(
  program: ProgramBuilder,
  vector: HloTensor,
  values: readonly Value[],
): HloTensor[] {
  let to = 0;
  return values.map(({ shape, dtype }) => {
    const from = to;
    to += sizeOf(shape);
    const part = program.range(vector, { axis: 0, from, to });
    return program.cast(program.reshape(part, shape), dtype);
  });
}

function lowerNodes(
  program: ProgramBuilder,
  { nodes }: Pick<Graph, "nodes">,
  made: Made,
): void {
  for (const node of nodes) {
    const results = [loweringOf(program, node, made)].flat();
    node.outputs.forEach((output, i) => made.set(output, results[i]));
  }
}

/** Lowers a graph inside an operation, of some tensors. */
function lowerNested(
  program: ProgramBuilder,
  graph: Graph,
  given: readonly HloTensor[],
): HloTensor[] {
  const made: Made = new Map(
    graph.inputs.map(({ value }, i) => [value, given[i]]),
  );
  lowerNodes(program, graph, made);
  return graph.outputs.map(({ value }) => made.get(value)!);
}

/** Lowers a loop. What it takes from outside goes round with the state. */
function lowerWhile(
  program: ProgramBuilder,
  { attributes, outputs }: Node,
  inputs: readonly HloTensor[],
): HloTensor[] {
  const { condition, body } = attributes as unknown as While;
  const outside = inputs.slice(outputs.length);
  const regionOf = (
    { graph, captured }: Nested,
    finish: (made: HloTensor[], outside: readonly HloTensor[]) => HloTensor[],
  ) =>
    program.block(inputs, (given) => {
      const taken = captured.map((i) => given[i]);
      const made = lowerNested(program, graph, [
        ...given.slice(0, outputs.length),
        ...taken,
      ]);
      return finish(made, given.slice(outputs.length));
    });
  return program.withRegions("while", inputs, {
    regions: [
      regionOf(condition, (made) => made),
      regionOf(body, (made, outside) => [...made, ...outside]),
    ],
    outputs: [...outputs, ...outside],
  }).slice(0, outputs.length);
}

function lowerSwitch(
  program: ProgramBuilder,
  { attributes, outputs }: Node,
  inputs: readonly HloTensor[],
): HloTensor[] {
  const { branches } = attributes as unknown as Switch;
  const regions = branches.map(({ graph, captured }) =>
    program.block(
      [],
      () => lowerNested(program, graph, captured.map((i) => inputs[i])),
    )
  );
  return program.withRegions("case", inputs.slice(0, 1), { regions, outputs });
}

function loweringOf(
  program: ProgramBuilder,
  node: Node,
  made: Made,
): HloTensor | readonly HloTensor[] {
  if (node.op === CONSTANT) {
    const [type] = node.outputs;
    const { values, fill } = node.attributes as ConstantData;
    return values === undefined
      ? program.fill(fill, type)
      : program.constant(values, type);
  }
  const inputs = node.inputs.map((it) => made.get(it)!);
  if (node.op === WHILE) return lowerWhile(program, node, inputs);
  if (node.op === SWITCH) return lowerSwitch(program, node, inputs);
  return primitive(node.op).lowerHlo({ node, inputs, program });
}

/** Prints a module of one function, whose vectors give their memory away. */
function moduleText(
  program: ProgramBuilder,
  { parameters, returned, vectors }: {
    parameters: readonly HloTensor[];
    returned: readonly HloTensor[];
    vectors: readonly HloVector[];
  },
): string {
  let output = 0;
  const taken = parameters.map((it, i) => {
    const isDonated = i < vectors.length && !vectors[i].isFixed;
    const alias = isDonated ? ` {tf.aliasing_output = ${output++} : i32}` : "";
    return `${it.name}: ${hloType(it)}${alias}`;
  });
  const types = returned.map(hloType).join(", ");
  const names = returned.map(({ name }) => name).join(", ");
  return `module @bellman {
func.func public @main(${taken.join(", ")}) -> (${types}) {
${program.text}
return ${names} : ${types}
}
}
`;
}
