import {
  beforeReshape,
  type Graph,
  type NamedValue,
  type Node,
  producersOf,
  sameShape,
} from "../graph.ts";
import { eliminateDeadCode } from "./rewrite.ts";

/** Tensors of a state that lie in memory one after the other. */
export interface StateRun {
  /** Name of the flat vector, as an input and as an output. */
  readonly name: string;
  /** Names of the tensors, in order. */
  readonly members: readonly string[];
  /** True where the graph makes them as one flat vector too. */
  readonly output: boolean;
}

/** A graph whose state is packed, and how. */
export interface PackedGraph {
  readonly graph: Graph;
  readonly runs: readonly StateRun[];
}

/**
 * Takes and makes whole groups of a state's tensors as one flat vector, where
 * the function joins and splits them anyway: as the groups lie in memory one
 * after the other, neither costs anything. Without it, updates of A2C and ACER take
 * 30 to 40 % more time.
 *
 * @param graph A graph.
 * @param names Names that are inputs and outputs of it: the state.
 * @param known The groups of a state that lies in memory already: others are left.
 */
export function packState(
  graph: Graph,
  names: ReadonlySet<string>,
  known?: readonly StateRun[],
): PackedGraph {
  const flat = freeName(graph);
  const nameOf = (members: readonly string[], i: number) =>
    known === undefined
      ? `${flat}.${i}`
      : known.find((run) => `${run.members}` === `${members}`)?.name;
  const packed = findRuns(graph, names).flatMap((run, i) => {
    const name = nameOf(run.members, i);
    if (name === undefined) return [];
    return [{ ...run, name, split: findSplit(graph, run) }];
  });
  const nodes = new Set(graph.nodes);
  const inputs = [...graph.inputs], outputs: NamedValue[] = [];
  const inVectors = new Set<string>();
  for (const { concat, members, name, split } of packed) {
    nodes.delete(concat);
    inputs.push({ name, value: concat.outputs[0] });
    if (split === undefined) continue;
    outputs.push({ name, value: split.inputs[0] });
    for (const member of members) inVectors.add(member);
  }
  const alone = graph.outputs.filter(({ name }) => !inVectors.has(name));
  return {
    graph: eliminateDeadCode({
      inputs,
      nodes: [...nodes],
      outputs: [...alone, ...outputs],
    }),
    runs: packed.map(({ name, members, split }) => ({
      name,
      members,
      output: split !== undefined,
    })),
  };
}

/** Finds a start of names that no input and no output has. */
function freeName({ inputs, outputs }: Graph): string {
  const names = [...inputs, ...outputs].map(({ name }) => name);
  let start = "flat";
  while (names.some((name) => name.startsWith(start))) start += "'";
  return start;
}

/** A concatenation of a state's tensors. */
interface FoundRun {
  readonly concat: Node;
  readonly members: readonly string[];
}

/** Finds concatenations of tensors of the state, each tensor in one of them. */
function findRuns(graph: Graph, names: ReadonlySet<string>): FoundRun[] {
  const producers = producersOf(graph);
  const inputNames = new Map(
    graph.inputs.map(({ name, value }) => [value, name]),
  );
  const placed = new Set<string>();
  const runs: FoundRun[] = [];
  for (const node of graph.nodes) {
    if (!isFlat(node)) continue;
    const members = node.inputs.map((value) =>
      inputNames.get(beforeReshape(value, producers))
    );
    const free = members.every((name) =>
      name !== undefined && names.has(name) && !placed.has(name)
    );
    if (!free || new Set(members).size < members.length) continue;
    for (const name of members) placed.add(name!);
    runs.push({ concat: node, members: members as string[] });
  }
  return runs;
}

function isFlat({ op, outputs }: Node): boolean {
  return op === "Concat" && outputs[0].shape.length === 1 &&
    outputs[0].dtype === "float32";
}

/** Finds the split that makes all new tensors of a run. */
function findSplit(
  graph: Graph,
  { members, concat }: FoundRun,
): Node | undefined {
  const producers = producersOf(graph);
  const outputs = new Map(
    graph.outputs.map(({ name, value }) => [name, value]),
  );
  const parts = members.map((name) =>
    beforeReshape(outputs.get(name)!, producers)
  );
  const split = producers.get(parts[0]);
  if (split?.op !== "Split" || split.outputs.length !== parts.length) {
    return undefined;
  }
  // The parts of a matrix would not lie one after the other.
  const fits = sameShape(split.inputs[0].shape, concat.outputs[0].shape) &&
    parts.every((part, k) => part === split.outputs[k]);
  return fits ? split : undefined;
}
