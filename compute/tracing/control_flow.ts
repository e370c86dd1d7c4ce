import * as tf from "@tensorflow/tfjs";
import {
  type Graph,
  makeGraph,
  type Nested,
  sameShape,
  SWITCH,
  type TensorType,
  typeName,
  type Value,
  WHILE,
} from "../graph/graph.ts";
import { isTensor } from "./trace.ts";
import {
  Recorder,
  type TracingBackend,
  tracingBackend,
} from "./tracing_backend.ts";
import { leavesOf, mapLeaves, type NamedLeaf, treeOf } from "./tree.ts";

/** Tensors in nested records, as a list and back. */
export class Leaves<T> {
  readonly list: readonly NamedLeaf<tf.Tensor>[];
  readonly #like: T;

  constructor(tree: T) {
    this.list = leavesOf(tree, isTensor);
    this.#like = tree;
  }

  get tensors(): tf.Tensor[] {
    return this.list.map(({ leaf }) => leaf);
  }

  /** Makes a tree of the same records. */
  treeOf(tensors: readonly tf.Tensor[]): T {
    const leaves = this.list.map(({ path }, i) => ({ path, leaf: tensors[i] }));
    return treeOf(leaves, this.#like) as T;
  }

  /** Lists the tensors of a tree of the same names, shapes and types. */
  same(tree: T, action: string): tf.Tensor[] {
    const made = new Map(
      leavesOf(tree, isTensor).map(({ name, leaf }) => [name, leaf]),
    );
    const tensors = this.list.map(({ name, leaf }) => {
      const it = made.get(name);
      made.delete(name);
      if (it !== undefined && sameType(it, leaf)) return it;
      throw new TypeError(
        `Cannot ${action}: '${name}' comes as ${
          it === undefined ? "nothing" : typeName(typeOf(it))
        }, expected ${typeName(typeOf(leaf))}`,
      );
    });
    const [unknown] = made.keys();
    if (unknown === undefined) return tensors;
    throw new TypeError(
      `Cannot ${action}: '${unknown}' comes, which is not expected`,
    );
  }
}

export function typeOf({ shape, dtype }: tf.Tensor): TensorType {
  return { shape, dtype: dtype as TensorType["dtype"] };
}

function sameType(a: tf.Tensor, b: tf.Tensor): boolean {
  return a.dtype === b.dtype && sameShape(a.shape, b.shape);
}

/** Returns the backend where a function is being traced. */
export function presentTrace(): TracingBackend | undefined {
  const backend = tracingBackend();
  return backend.recorder === null ? undefined : backend;
}

/** Makes values of some types. */
function valuesOf(types: readonly TensorType[]): Value[] {
  return types.map(({ shape, dtype }) => ({ shape: [...shape], dtype }));
}

/** A traced part of a function. */
interface Part {
  readonly graph: Graph;
  /** Values around it that it takes. */
  readonly captured: readonly Value[];
}

/** Traces a part of the function that is being traced. */
export function tracePart(
  backend: TracingBackend,
  types: readonly TensorType[],
  part: (tensors: tf.Tensor[]) => readonly tf.Tensor[],
): Part {
  const outer = backend.recorder!;
  const recorder = new Recorder(outer);
  const given = valuesOf(types);
  let made: Value[] = [];
  backend.recorder = recorder;
  try {
    tf.tidy(() => {
      const tensors = given.map((it) => backend.makeTensor(it));
      made = part(tensors).map((it) => backend.graphValue(it));
    });
  } finally {
    backend.recorder = outer;
  }
  const named = (values: Iterable<Value>, start: string) =>
    Array.from(values, (value, i) => ({ name: `${start}${i}`, value }));
  const { captured } = recorder;
  return {
    graph: makeGraph({
      inputs: [
        ...named(given, "in"),
        ...named(captured.values(), "outside"),
      ],
      nodes: recorder.nodes,
      outputs: named(made, "out"),
    }),
    captured: [...captured.keys()],
  };
}

/** Records an operation of parts; returns what it makes. */
function record(
  backend: TracingBackend,
  op: string,
  { given, types, parts, attributesOf }: {
    given: readonly tf.Tensor[];
    types: readonly TensorType[];
    parts: readonly Part[];
    attributesOf: (nested: Nested[]) => Record<string, unknown>;
  },
): tf.Tensor[] {
  refuseGradients(op);
  const inputs = given.map((it) => backend.graphValue(it));
  const nested = parts.map(({ graph, captured }): Nested => {
    const places = captured.map((value) => {
      const known = inputs.indexOf(value, given.length);
      return known >= 0 ? known : inputs.push(value) - 1;
    });
    return { graph, captured: places };
  });
  const outputs = valuesOf(types);
  backend.recorder!.add(op, inputs, {
    attributes: attributesOf(nested),
    outputs,
  });
  return outputs.map((it) => backend.makeTensor(it));
}

/** Refuses to be differentiated: a gradient through it would be missing. */
function refuseGradients(op: string): void {
  if (!(tf.engine() as unknown as { isTapeOn(): boolean }).isTapeOn()) return;
  throw new TypeError(
    `Cannot take the gradient of ${
      op === WHILE ? "a loop" : "a choice of functions"
    }: take that of what is inside of it`,
  );
}

/** Functions of a loop. */
export interface WhileOptions<State> {
  /**
   * True where another round follows.
   *
   * @param state State before it.
   * @returns One truth value, a scalar.
   */
  condition(state: State): tf.Tensor;
  /**
   * Computes a round.
   *
   * @param state State before it.
   * @returns State after it: tensors of the same names, shapes and types.
   */
  body(state: State): State;
}

/**
 * Repeats a function of tensors as long as another one says so. In a compiled
 * function this is one operation, however many rounds there are; elsewhere it is
 * a loop of JavaScript. Both functions may use tensors from outside; gradients
 * are those of what is inside a round.
 *
 * @typeParam State Nested records of tensors.
 * @param state State before the first round.
 * @param options Functions of a round.
 * @returns State after the last round: new tensors.
 * @throws {TypeError} If the state changes its names, shapes or types, the
 * condition is no scalar truth value, or a gradient is taken through the loop.
 *
 * @example
 * ```ts
 * import { whileLoop } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const { x } = whileLoop({ x: tf.scalar(1) }, {
 *   condition: ({ x }) => tf.less(x, 100),
 *   body: ({ x }) => ({ x: tf.mul(x, 2) }),
 * });
 * assertEquals(x.dataSync()[0], 128);
 * ```
 */
export function whileLoop<State extends object>(
  state: State,
  { condition, body }: WhileOptions<State>,
): State {
  const leaves = new Leaves(state);
  const backend = presentTrace();
  const test = (now: State) => {
    const goesOn = condition(now);
    if (goesOn.dtype === "bool" && goesOn.size === 1) return goesOn;
    throw new TypeError(
      `Cannot loop on a condition of ${
        typeName(typeOf(goesOn))
      }: expected one truth value`,
    );
  };
  const round = (now: State) => leaves.same(body(now), "loop");
  if (backend === undefined) return hostLoop(leaves, { test, round });
  const types = leaves.tensors.map(typeOf);
  const parts = [
    tracePart(
      backend,
      types,
      (now) => [tf.reshape(test(leaves.treeOf(now)), [])],
    ),
    tracePart(backend, types, (now) => round(leaves.treeOf(now))),
  ];
  return leaves.treeOf(record(backend, WHILE, {
    given: leaves.tensors,
    types,
    parts,
    attributesOf: ([condition, body]) => ({ condition, body }),
  }));
}

function hostLoop<State>(
  leaves: Leaves<State>,
  { test, round }: {
    test: (state: State) => tf.Tensor;
    round: (state: State) => tf.Tensor[];
  },
): State {
  refuseGradients(WHILE);
  // References of our own: a round may return what it was given.
  let now = leaves.tensors.map((it) => it.clone());
  while (tf.tidy(() => test(leaves.treeOf(now)).dataSync()[0])) {
    const before = now;
    now = tf.tidy(() => round(leaves.treeOf(before)).map((it) => it.clone()));
    for (const it of before) it.dispose();
  }
  return leaves.treeOf(now);
}

/**
 * Computes one of several functions of tensors, chosen by a number that is a
 * tensor: in a compiled function, too, where the others are not computed.
 *
 * @typeParam Result Nested records of tensors.
 * @param index Number of the function, an `int32` scalar; any that no function
 * has takes the last.
 * @param branches The functions; what they make has the same names, shapes and
 * types.
 * @returns Result of the function that was chosen: new tensors.
 * @throws {TypeError} If the results differ in names, shapes or types, or a
 * gradient is taken through the choice.
 * @throws {RangeError} If there is no function.
 *
 * @example
 * ```ts
 * import { switchCase } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const x = tf.scalar(3);
 * const { y } = switchCase(tf.scalar(1, "int32"), [
 *   () => ({ y: tf.neg(x) }),
 *   () => ({ y: tf.square(x) }),
 * ]);
 * assertEquals(y.dataSync()[0], 9);
 * ```
 */
export function switchCase<Result extends object>(
  index: tf.Tensor,
  branches: readonly (() => Result)[],
): Result {
  if (branches.length === 0) {
    throw new RangeError("Cannot choose among no functions: expected one");
  }
  if (index.dtype !== "int32" || index.size !== 1) {
    throw new TypeError(
      `Cannot choose a function by ${
        typeName(typeOf(index))
      }: expected one number of int32`,
    );
  }
  const backend = presentTrace();
  if (backend === undefined) {
    refuseGradients(SWITCH);
    const [wanted] = index.dataSync();
    const branch = branches[wanted] ?? branches[branches.length - 1];
    const leaves = tf.tidy(() => {
      const made = branch();
      return mapLeaves(made, isTensor, (it) => it.clone());
    });
    return leaves as Result;
  }
  let leaves: Leaves<Result> | undefined;
  const parts = branches.map((branch) =>
    tracePart(backend, [], () => {
      const made = branch();
      leaves ??= new Leaves(made);
      return leaves.same(made, "choose a function");
    })
  );
  return leaves!.treeOf(record(backend, SWITCH, {
    given: [tf.reshape(index, [])],
    types: leaves!.tensors.map(typeOf),
    parts,
    attributesOf: (branches) => ({ branches }),
  }));
}
