import type * as tf from "@tensorflow/tfjs";
import { CONSTANT, numberOf, type Value } from "../graph/graph.ts";
import { optimize } from "../graph/passes/optimize.ts";
import { trace } from "../tracing/trace.ts";
import { compileLoop, isElementwise } from "./compile_loop.ts";

/** Options of {@link compileInPlace}. */
export interface InPlaceOptions {
  /** Memory that several threads share. */
  readonly memory: WebAssembly.Memory;
  /**
   * Vectors of one length in this memory that the function takes, by name.
   * Those that it returns are written in place.
   */
  readonly vectors: Readonly<Record<string, Float32Array>>;
  /** Numbers in this memory, by name, each an array of length 1. */
  readonly numbers: Readonly<Record<string, Float32Array>>;
}

/**
 * Compiles a function that computes number by number to WebAssembly: one pass
 * over vectors in a shared memory, some of which it overwrites, four numbers at a
 * time. Other threads may read and write the same vectors meanwhile.
 *
 * @param fn Function of tensors: additions, products, roots and the like.
 * @param options The memory, and where vectors and numbers lie in it.
 * @returns A function that runs it once, with the numbers that are there then.
 * @throws {TypeError} If the function does more than compute number by number.
 *
 * @example
 * ```ts
 * import { compileInPlace } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
 * const x = new Float32Array(memory.buffer, 0, 3);
 * const rate = new Float32Array(memory.buffer, 64, 1);
 * x.set([1, 2, 3]);
 * rate.set([10]);
 * const run = compileInPlace(
 *   ({ x, rate }) => ({ x: tf.mul(x, rate) }),
 *   { memory, vectors: { x }, numbers: { rate } },
 * );
 * run();
 * assertEquals([...x], [10, 20, 30]);
 * ```
 */
export function compileInPlace(
  fn: (inputs: Record<string, tf.Tensor>) => Record<string, tf.Tensor>,
  { memory, vectors, numbers }: InPlaceOptions,
): () => void {
  const [{ length: size }] = Object.values(vectors);
  const arrays = { ...vectors, ...numbers };
  const typeOf = (shape: number[]) => ({ shape, dtype: "float32" }) as const;
  const graph = optimize(
    trace(fn as never, {
      ...Object.fromEntries(
        Object.keys(vectors).map((name) => [name, typeOf([size])]),
      ),
      ...Object.fromEntries(
        Object.keys(numbers).map((name) => [name, typeOf([])]),
      ),
    }),
    { fuse: false },
  );
  const constants = new Map<Value, number>();
  for (const node of graph.nodes) {
    const number = numberOf(node);
    if (number !== undefined) constants.set(node.outputs[0], number);
    else if (!isElementwise(node)) {
      throw new TypeError(
        `Cannot compile in place: ${node.op} does not compute number by number`,
      );
    }
  }
  const inputs = graph.inputs.filter(({ name }) => name in vectors);
  const scalars = graph.inputs.filter(({ name }) => name in numbers);
  const code = compileLoop({
    size,
    inputs: inputs.map(({ value }) => value),
    scalars: scalars.map(({ value }) => value),
    constants,
    nodes: graph.nodes.filter(({ op }) => op !== CONSTANT),
    outputs: graph.outputs.map(({ value }) => value),
  }, { isShared: true });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code), {
    env: { memory },
  });
  const run = exports.run as (...addresses: number[]) => void;
  const addresses = [...inputs, ...scalars, ...graph.outputs]
    .map(({ name }) => arrays[name].byteOffset);
  return () => run(size, ...addresses);
}
