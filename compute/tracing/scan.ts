import * as tf from "@tensorflow/tfjs";
import type { TensorType } from "../graph/graph.ts";
import { run } from "../kernels/kernel.ts";
import {
  Leaves,
  presentTrace,
  tracePart,
  typeOf,
  whileLoop,
} from "./control_flow.ts";
import { isTensor } from "./trace.ts";
import { mapLeaves } from "./tree.ts";

/** Options of {@linkcode scan}. */
export interface ScanOptions<State, Rows, Result> {
  /** Number of rows, at least 1, and of rounds. */
  readonly length: number;
  /**
   * Number of rounds that are taken, an `int32` scalar from 1 to `length`: results
   * of the others are 0.
   *
   * @default length
   */
  readonly rounds?: tf.Tensor;
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
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
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
  const { length, rounds, isUnrolled = false } = options;
  if (!Number.isSafeInteger(length) || length < 1) {
    throw new RangeError(
      `Cannot scan ${length} rows: expected a whole number of at least 1`,
    );
  }
  if (presentTrace() !== undefined) {
    return isUnrolled && rounds === undefined
      ? unrolledScan(state, options)
      : loopedScan(state, options);
  }
  if (rounds === undefined) return unrolledScan(state, options);
  const taken = Math.min(Math.max(1, rounds.dataSync()[0]), length);
  const made = unrolledScan(state, { ...options, length: taken });
  const results = mapLeaves(made.results, isTensor, (it) => {
    const [, ...shape] = it.shape;
    const { dtype } = typeOf(it) as { dtype: "float32" | "int32" | "bool" };
    const whole = tf.concat([it, tf.zeros([length - taken, ...shape], dtype)]);
    it.dispose();
    return whole;
  }) as Result;
  return { state: made.state, results };
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
  { length, rounds, rows, body, isReversed = false }: ScanOptions<
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
  const all = tf.scalar(length, "int32"), one = tf.scalar(1, "int32");
  const last = rounds === undefined
    ? all
    : tf.minimum(tf.maximum(tf.reshape(rounds, []), one), all);
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
