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
import { run } from "../kernels/kernel.ts";
import { isTensor } from "./trace.ts";
import {
  Recorder,
  type TracingBackend,
  tracingBackend,
} from "./tracing_backend.ts";
import { leavesOf, mapLeaves, type NamedLeaf, treeOf } from "./tree.ts";

/** Tensors in nested records, as a list and back. */
class Leaves<T> {
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

function typeOf({ shape, dtype }: tf.Tensor): TensorType {
  return { shape, dtype: dtype as TensorType["dtype"] };
}

function sameType(a: tf.Tensor, b: tf.Tensor): boolean {
  return a.dtype === b.dtype && sameShape(a.shape, b.shape);
}

/** Returns the backend where a function is being traced. */
function presentTrace(): TracingBackend | undefined {
  const backend = tracingBackend();
  return backend.recorder === null ? undefined : backend;
}

/** A traced part of a function. */
interface Part {
  readonly graph: Graph;
  /** Values around it that it takes. */
  readonly captured: readonly Value[];
}

/** Traces a part of the function that is being traced. */
function tracePart(
  backend: TracingBackend,
  types: readonly TensorType[],
  part: (tensors: tf.Tensor[]) => readonly tf.Tensor[],
): Part {
  const outer = backend.recorder!;
  const recorder = new Recorder(outer);
  const given = types.map(({ shape, dtype }): Value => ({
    shape: [...shape],
    dtype,
  }));
  let made: Value[] = [];
  backend.recorder = recorder;
  try {
    tf.tidy(() => {
      const tensors = given.map((it) =>
        tf.engine().makeTensorFromTensorInfo(backend.tensorOf(it))
      );
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
  const outputs = types.map(({ shape, dtype }): Value => ({
    shape: [...shape],
    dtype,
  }));
  backend.recorder!.add(op, inputs, {
    attributes: attributesOf(nested),
    outputs,
  });
  return outputs.map((it) =>
    tf.engine().makeTensorFromTensorInfo(backend.tensorOf(it))
  );
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
   * Tells if there is another round.
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
 * are those of what is inside of a round.
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
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const { x } = whileLoop({ x: tf.scalar(1) }, {
 *   condition: ({ x }) => tf.less(x, 100),
 *   body: ({ x }) => ({ x: tf.mul(x, 2) as tf.Scalar }),
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
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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

/** Options of {@linkcode scan}. */
export interface ScanOptions<State, Rows, Result> {
  /** Number of rounds, at least 1. */
  readonly length: number;
  /** Tensors of which each round is given a row `[length, ...]`. */
  readonly rows: Rows;
  /**
   * Computes a round.
   *
   * @param state State before it.
   * @param row Rows of the round.
   * @returns State after it, and results that are kept.
   */
  body(state: State, row: Rows): { state: State; results: Result };
  /**
   * Begin with the last row; results lie in the order of the rows.
   *
   * @default false
   */
  readonly isReversed?: boolean;
  /**
   * Write the rounds out one after the other in compiled functions: faster for
   * few of them, and longer to compile.
   *
   * @default false
   */
  readonly isUnrolled?: boolean;
}

/**
 * Goes through the rows of tensors with a state: a loop of a known number of
 * rounds, whose results are kept.
 *
 * @typeParam State Nested records of tensors.
 * @typeParam Rows Nested records of tensors `[length, ...]`.
 * @typeParam Result Nested records of tensors.
 * @param state State before the first round.
 * @param options Number of rounds, rows, function of a round.
 * @returns State after the last round, and results `[length, ...]`.
 * @throws {RangeError} If the length is not a whole number of at least 1.
 * @throws {TypeError} If the state changes its names, shapes or types, or a
 * gradient is taken through a loop that is not unrolled.
 *
 * @example
 * ```ts
 * import { scan } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const { results } = scan({ sum: tf.scalar(0) as tf.Tensor }, {
 *   length: 3,
 *   rows: { x: tf.tensor1d([1, 2, 4]) as tf.Tensor },
 *   body({ sum }, { x }) {
 *     const state = { sum: tf.add(sum, x) };
 *     return { state, results: state };
 *   },
 * });
 * assertEquals([...results.sum.dataSync()], [1, 3, 7]);
 * ```
 */
export function scan<
  State extends object,
  Rows extends object,
  Result extends object,
>(
  state: State,
  options: ScanOptions<State, Rows, Result>,
): { state: State; results: Result } {
  const { length, isUnrolled = false } = options;
  if (!Number.isSafeInteger(length) || length < 1) {
    throw new RangeError(
      `Cannot scan ${length} rows: expected a whole number of at least 1`,
    );
  }
  const isTraced = presentTrace() !== undefined;
  return isTraced && !isUnrolled
    ? loopedScan(state, options)
    : unrolledScan(state, options);
}

/** Rows of a round whose number is known. */
function rowAt<Rows>(rows: Rows, at: number): Rows {
  return mapLeaves(rows, isTensor, (it) => {
    const row = tf.slice(it, [at], [1]);
    return tf.reshape(row, it.shape.slice(1));
  }) as Rows;
}

function unrolledScan<
  State extends object,
  Rows extends object,
  Result extends object,
>(
  state: State,
  { length, rows, body, isReversed = false }: ScanOptions<
    State,
    Rows,
    Result
  >,
): { state: State; results: Result } {
  const leaves = new Leaves(state);
  const kept: tf.Tensor[][] = [];
  let results: Leaves<Result> | undefined;
  const round = (now: State, at: number) => {
    const made = body(now, rowAt(rows, at));
    results ??= new Leaves(made.results);
    return {
      state: leaves.same(made.state, "scan").map((it) => it.clone()),
      row: results.same(made.results, "scan").map((it) => it.clone()),
    };
  };
  let now = state;
  for (let i = 0; i < length; i++) {
    const at = isReversed ? length - 1 - i : i;
    const before = now;
    const { state: next, row } = tf.tidy(() => round(before, at));
    now = leaves.treeOf(next);
    kept[at] = row;
    if (i > 0 && presentTrace() === undefined) {
      for (const it of leaves.same(before, "scan")) it.dispose();
    }
  }
  const stacked = results!.list.map((_, k) =>
    tf.stack(kept.map((row) => row[k]))
  );
  for (const it of kept.flat()) it.dispose();
  return { state: now, results: results!.treeOf(stacked) };
}

function loopedScan<
  State extends object,
  Rows extends object,
  Result extends object,
>(
  state: State,
  { length, rows, body, isReversed = false }: ScanOptions<
    State,
    Rows,
    Result
  >,
): { state: State; results: Result } {
  const types = resultTypes(state, rows, body);
  const results = mapLeaves(
    types,
    (it): it is TensorType => Array.isArray((it as TensorType)?.shape),
    ({ shape, dtype }) =>
      tf.zeros([length, ...shape], dtype as "float32" | "int32" | "bool"),
  ) as unknown as Result;
  const last = tf.scalar(length, "int32"), one = tf.scalar(1, "int32");
  const end = whileLoop({
    round: tf.scalar(0, "int32") as tf.Tensor,
    state,
    results,
  }, {
    condition: ({ round }) => tf.less(round, last),
    body({ round, state, results }) {
      const index = isReversed ? tf.sub(tf.sub(last, one), round) : round;
      const row = mapLeaves(
        rows,
        isTensor,
        (x) => run("TakeRow", { x, index }, {}),
      ) as Rows;
      const made = body(state, row);
      const own = new Leaves(made.results).list;
      const next = mapLeaves(results, isTensor, (x, name) => {
        const row = own.find((it) => it.name === name)!.leaf;
        return run("SetRow", { x, index, row }, {});
      }) as Result;
      return {
        round: tf.add(round, one),
        state: made.state,
        results: next,
      };
    },
  });
  return { state: end.state, results: end.results };
}

/** Finds the shapes of a round's results by a trace of their own. */
function resultTypes<State extends object, Rows extends object, Result>(
  state: State,
  rows: Rows,
  body: ScanOptions<State, Rows, Result>["body"],
): unknown {
  const backend = presentTrace()!;
  const leaves = new Leaves(state), given = new Leaves(rows);
  const types = [
    ...leaves.tensors.map(typeOf),
    ...given.tensors.map(typeOf).map(({ shape, dtype }) => ({
      shape: shape.slice(1),
      dtype,
    })),
  ];
  let found: unknown;
  tracePart(backend, types, (tensors) => {
    const count = leaves.list.length;
    const { results } = body(
      leaves.treeOf(tensors.slice(0, count)),
      given.treeOf(tensors.slice(count)),
    );
    found = mapLeaves(results, isTensor, (it) => typeOf(it) as never);
    return [];
  });
  return found;
}
