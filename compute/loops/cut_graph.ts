import {
  beforeReshape,
  CONSTANT,
  consumersOf,
  type Graph,
  makeGraph,
  type NamedValue,
  type Node,
  numberOf,
  producersOf,
  sizeOf,
  type Value,
} from "../graph/graph.ts";
import { eliminateDeadCode } from "../graph/passes/rewrite.ts";
import { findLoops, FIRST, LAST, type LoopNodes } from "./find_loops.ts";
import type { Loop } from "./compile_loop.ts";

/** A part of a graph, run as a whole. */
export type Stage =
  | { readonly kind: "graph"; readonly graph: Graph }
  | { readonly kind: "loop"; readonly loop: Loop }
  /** Operations on single numbers. */
  | { readonly kind: "scalars"; readonly nodes: readonly Node[] };

/** A vector that is made or taken in parts, which lie one after the other. */
interface Joined {
  readonly whole: Value;
  readonly parts: readonly Value[];
}

/** A graph as stages that are run in order. */
export interface Staged {
  readonly stages: readonly Stage[];
  /** Names of what one stage makes and others take. */
  readonly crossing: ReadonlyMap<Value, string>;
  readonly joined: readonly Joined[];
}

/**
 * Cuts a graph into loops over long vectors and graphs of all else. What an
 * optimizer does to many parameters is then one pass over memory, instead of
 * one for each operation: updates of A2C and ACER take 15 % less time.
 *
 * @param graph A graph.
 * @param resident Names of the inputs that loops can read and of the outputs
 * that they can write.
 */
export function findStages(
  graph: Graph,
  resident: ReadonlySet<string>,
): Staged {
  const loops = findLoops(graph, resident);
  return new Cutter(graph, loops).cut();
}

/** Makes one stage of a graph. */
export function unstaged(graph: Graph): Staged {
  const stages = [{ kind: "graph", graph }] as const;
  return { stages, crossing: new Map(), joined: [] };
}

const isConstant = ({ op }: Node) => op === CONSTANT;

/** Cuts a graph at its loops. */
class Cutter {
  readonly #graph: Graph;
  readonly #loops: LoopNodes;
  readonly #producers: Map<Value, Node>;
  readonly #inputs: Map<Value, string>;
  readonly #consumers: Map<Value, Node[]>;
  readonly #crossing = new Map<Value, string>();
  readonly #joined: Joined[] = [];
  /** Nodes that become a matter of where arrays lie. */
  readonly #layout = new Set<Node>();

  constructor(graph: Graph, loops: LoopNodes) {
    this.#graph = graph;
    this.#loops = loops;
    this.#producers = producersOf(graph);
    this.#inputs = new Map(
      graph.inputs.map(({ name, value }) => [value, name]),
    );
    this.#consumers = consumersOf(graph);
  }

  cut(): Staged {
    for (const node of this.#graph.nodes) this.#join(node);
    for (const node of this.#graph.nodes) this.#cross(node);
    const levels = [...new Set([0, ...this.#loops.levels.values()])]
      .sort((a, b) => a < b ? -1 : 1);
    const stages = levels.flatMap((level) => this.#stagesOf(level));
    return { stages, crossing: this.#crossing, joined: this.#joined };
  }

  #stagesOf(level: number): Stage[] {
    if (level === FIRST || level === LAST) {
      const nodes = this.#graph.nodes.filter((node) =>
        !isConstant(node) && this.#levelOf(node) === level
      );
      return [{ kind: "scalars", nodes }];
    }
    return level % 2 === 0 ? this.#graphStage(level) : this.#loopStages(level);
  }

  #levelOf(node: Node): number {
    return this.#loops.levels.get(node)!;
  }

  #isLoop(node: Node | undefined): boolean {
    return node !== undefined && this.#loops.nodes.has(node);
  }

  /** Joins what loops take and splits what they make, at no cost. */
  #join(node: Node): void {
    const { op, inputs: [input], outputs: [output] } = node;
    if (output.shape.length !== 1 || output.dtype !== "float32") return;
    if (op === "Concat" && this.#isForLoops(output)) {
      const parts = node.inputs.map((value) =>
        beforeReshape(value, this.#producers)
      );
      const free = parts.every((it) => this.#canBePlaced(it)) &&
        new Set(parts).size === parts.length;
      if (free) this.#addJoined(node, { whole: output, parts });
    }
    const isSplit = op === "Split" && input.shape.length === 1 &&
      this.#isLoop(this.#producers.get(input));
    if (isSplit && !node.outputs.some((it) => this.#isOutput(it))) {
      this.#addJoined(node, { whole: input, parts: node.outputs });
    }
  }

  #addJoined(node: Node, joined: Joined): void {
    this.#layout.add(node);
    this.#joined.push(joined);
  }

  #isForLoops(value: Value): boolean {
    const consumers = this.#consumers.get(value) ?? [];
    return consumers.length > 0 &&
      consumers.every((node) => this.#isLoop(node)) &&
      !this.#isOutput(value);
  }

  #isOutput(value: Value): boolean {
    return this.#graph.outputs.some((it) => it.value === value);
  }

  /** True where an operation can write a value wherever it is wanted. */
  #canBePlaced(value: Value): boolean {
    const node = this.#producers.get(value);
    if (node === undefined || isConstant(node) || this.#isLoop(node)) {
      return false;
    }
    if (this.#layout.has(node)) return false;
    const taken = this.#joined.some(({ parts }) => parts.includes(value));
    return !taken && !this.#isOutput(value);
  }

  /** Names what a node takes from another stage. */
  #cross(node: Node): void {
    if (this.#layout.has(node)) {
      for (const value of node.op === "Concat" ? this.#partsOf(node) : []) {
        this.#name(value);
      }
      return;
    }
    for (const value of node.inputs) {
      const producer = this.#producers.get(value);
      if (producer === undefined || isConstant(producer)) continue;
      if (
        this.#layout.has(producer) ||
        this.#levelOf(producer) !== this.#levelOf(node)
      ) this.#name(value);
    }
  }

  #partsOf(node: Node): readonly Value[] {
    return this.#joined.find(({ whole }) => whole === node.outputs[0])!.parts;
  }

  #name(value: Value): void {
    if (this.#crossing.has(value)) return;
    this.#crossing.set(value, `crossing.${this.#crossing.size}`);
  }

  #graphStage(level: number): Stage[] {
    const own = this.#graph.nodes.filter((node) =>
      !isConstant(node) && !this.#layout.has(node) &&
      this.#levelOf(node) === level
    );
    const made = new Set(own.flatMap(({ outputs }) => outputs));
    const outputs: NamedValue[] = [];
    for (const value of made) {
      const name = this.#crossing.get(value);
      // What is a result as well is taken from where that is written.
      const isCrossing = name !== undefined && !this.#isOutput(value);
      if (isCrossing) outputs.push({ name, value });
    }
    const isFirst = level === 0;
    for (const output of this.#graph.outputs) {
      const producer = this.#producers.get(output.value);
      const isOwn = made.has(output.value);
      // What is an input or a constant is copied in the first stage.
      const isLoose = producer === undefined || isConstant(producer);
      if (isOwn || (isFirst && isLoose)) outputs.push(output);
    }
    if (own.length === 0 && outputs.length === 0) return [];
    return [{ kind: "graph", graph: this.#subgraph(own, outputs) }];
  }

  /**
   * Makes a graph of nodes, with the constants and the inputs that they take.
   */
  #subgraph(own: readonly Node[], outputs: readonly NamedValue[]): Graph {
    const made = new Set(own.flatMap((node) => node.outputs));
    const constants = new Set<Node>();
    const inputs = new Map<Value, string>();
    const taken = [
      ...own.flatMap((node) => node.inputs),
      ...outputs.map(({ value }) => value),
    ];
    for (const value of taken) {
      if (made.has(value)) continue;
      const producer = this.#producers.get(value);
      if (producer !== undefined && isConstant(producer)) {
        constants.add(producer);
      } else inputs.set(value, this.#nameOf(value));
    }
    return eliminateDeadCode(makeGraph({
      inputs: [...inputs].map(([value, name]) => ({ name, value })),
      nodes: [...constants, ...own],
      outputs,
    }));
  }

  #nameOf(value: Value): string {
    return this.#inputs.get(value) ?? this.#crossing.get(value)!;
  }

  #loopStages(level: number): Stage[] {
    const own = this.#graph.nodes.filter((node) =>
      this.#isLoop(node) && this.#levelOf(node) === level
    );
    const bySize = Map.groupBy(own, (node) => sizeOf(node.outputs[0].shape));
    return [...bySize].map(([size, nodes]) => ({
      kind: "loop",
      loop: this.#loopOf(size, nodes),
    }));
  }

  #loopOf(size: number, nodes: readonly Node[]): Loop {
    const made = new Set(nodes.map((node) => node.outputs[0]));
    const inputs = new Set<Value>();
    const scalars = new Set<Value>();
    const constants = new Map<Value, number>();
    for (const value of nodes.flatMap((node) => node.inputs)) {
      if (made.has(value)) continue;
      const number = numberOf(this.#producers.get(value));
      if (number !== undefined) constants.set(value, number);
      else (sizeOf(value.shape) === 1 ? scalars : inputs).add(value);
    }
    const wanted = new Set(this.#graph.outputs.map(({ value }) => value));
    const split = new Set(this.#joined.map(({ whole }) => whole));
    return {
      size,
      inputs: [...inputs],
      scalars: [...scalars],
      constants,
      nodes,
      outputs: [...made].filter((value) =>
        wanted.has(value) || this.#crossing.has(value) || split.has(value)
      ),
    };
  }
}

/** A vector of a state, with the tensors that it consists of. */
export interface Unit {
  readonly name: string;
  readonly members: readonly string[];
}

/**
 * Finds the vectors of a state that may be written over the old ones: those
 * that a loop makes number by number, after all else has read the old ones.
 * Half of the memory that an optimizer goes through is enough then.
 */
export function findInPlace(
  graph: Graph,
  { staged, units }: { staged: Staged; units: readonly Unit[] },
): Set<string> {
  const inputs = new Map(graph.inputs.map(({ name, value }) => [name, value]));
  const outputs = new Map(
    graph.outputs.map(({ name, value }) => [name, value]),
  );
  const { stages } = staged;
  const fit = units.filter(({ name, members }) => {
    const made = outputs.get(name);
    const at = stages.findIndex((stage) =>
      stage.kind === "loop" && stage.loop.outputs.some((it) => it === made)
    );
    if (at === -1) return false;
    const whole = inputs.get(name);
    const parts = members.map((member) => inputs.get(member));
    return stages.slice(at).every((stage, i) => {
      const isMaker = i === 0;
      return readBy(stage, { isMaker }).every((value) =>
        // The loop that writes reads each number before it writes it.
        value === whole ? isMaker : !parts.includes(value)
      );
    });
  });
  return new Set(fit.map(({ name }) => name));
}

/** Returns the values that a stage reads; a maker's scalars it reads before. */
function readBy(
  stage: Stage,
  { isMaker }: { isMaker: boolean },
): readonly Value[] {
  switch (stage.kind) {
    case "graph":
      return stage.graph.inputs.map(({ value }) => value);
    case "scalars":
      return stage.nodes.flatMap(({ inputs }) => inputs);
    case "loop": {
      const { inputs, scalars } = stage.loop;
      return isMaker ? inputs : [...inputs, ...scalars];
    }
  }
}
