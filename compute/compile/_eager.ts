import * as tf from "@tensorflow/tfjs";
import type { Graph, TensorData, TensorType } from "../graph/graph.ts";
import { optimize } from "../graph/passes/optimize.ts";
import { lacksGradient } from "../tracing/source_line.ts";
import { isTensor } from "../tracing/trace.ts";
import { leavesOf, mapLeaves, type Tree, treeOf } from "../tracing/tree.ts";
import {
  checkSaved,
  InputReader,
  type SavedState,
  type Source,
  stateLeaves,
} from "./_compiled_program.ts";
import type { Settings } from "./options.ts";

/**
 * Makes a reader that turns what a caller gives into tensors on the present
 * backend; those that are tensors are only referred to.
 */
function eagerInputs(
  types: Tree<TensorType>,
  { name }: Settings,
): (inputs: unknown) => Tree<tf.Tensor> {
  const reader = new InputReader(types, { name, readsTensors: false });
  return (inputs) => {
    const arrays = reader.read(inputs);
    const others = reader.otherShapes;
    const tensors = reader.declared.map(({ name, path, leaf }, i) => {
      const shape = others?.get(name) ?? leaf.shape;
      const given = at(inputs, path);
      return {
        path,
        leaf: given instanceof tf.Tensor
          ? given.clone()
          : toTensor(arrays[i], { shape, dtype: leaf.dtype }),
      };
    });
    return treeOf(tensors, types);
  };
}

function at(tree: unknown, path: readonly string[]): unknown {
  return path.reduce(
    (node, key) => (node as Record<string, unknown>)?.[key],
    tree,
  );
}

/** Makes a tensor of a copy: a backend may keep the array that it is given. */
function toTensor(
  data: TensorData,
  { shape, dtype }: TensorType,
): tf.Tensor {
  return dtype === "uint8"
    ? tf.tensor(Int32Array.from(data), [...shape], "int32")
    : tf.tensor(data.slice(), [...shape], dtype);
}

function numbersOf(tensor: tf.Tensor): TensorData {
  return tensor.dataSync().slice() as TensorData;
}

/** Copies the numbers of a tree of tensors. */
function toArrays(tree: unknown): Tree<TensorData> {
  return mapLeaves(tree, isTensor, numbersOf);
}

/**
 * Makes a function on the current backend of TensorFlow.js, over tensors of a
 * state that it holds.
 */
export function eagerFunction(source: Source, settings: Settings) {
  const { state: initial, types } = source;
  const tensorsOf = eagerInputs(types, settings);
  const leaves = stateLeaves(initial);
  let state = kept(initial);
  let graph: Graph | undefined;
  const run = (source: Source, given: unknown): Tree<TensorData> => {
    let results: Tree<TensorData> | undefined;
    let next: Tree<tf.Tensor> | undefined;
    tf.tidy(() => {
      const made = calling(source, () => source.call(state, tensorsOf(given)));
      results = toArrays(made.results);
      next = kept(made.state);
    });
    disposeAll(state);
    state = next!;
    return results!;
  };
  const write = (given: unknown, isPart: boolean): void => {
    const saved = checkSaved(given, leaves, isPart);
    const before = state;
    const tensors = leaves.map(({ name, path, leaf }) => {
      const data = saved.get(name);
      const tensor = data === undefined
        ? (at(before, path) as tf.Tensor).clone()
        : toTensor(data, leaf);
      return { path, leaf: tf.keep(tensor) };
    });
    state = treeOf(tensors, before);
    disposeAll(before);
  };
  return {
    engine: "eager",
    get graph(): Graph {
      return graph ??= optimize(source.trace(types).graph);
    },
    get state(): Tree<tf.Tensor> {
      return state;
    },
    run: (given: unknown) => run(source, given),
    /** Takes another function of the same state and inputs. */
    beside: (other: Source) => ({ run: (given: unknown) => run(other, given) }),
    read: (): Tree<SavedState> =>
      mapLeaves(state, isTensor, (tensor) => ({
        data: numbersOf(tensor),
        shape: [...tensor.shape],
      })),
    write: (given: unknown) => write(given, false),
    writePart: (given: unknown) => write(given, true),
    close(): void {
      disposeAll(state);
      state = {};
    },
  };
}

/**
 * Calls a function. Where an operation in it has no gradient, its line is known
 * to a trace alone.
 */
function calling<T>({ trace, types }: Source, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (!lacksGradient(error)) throw error;
    try {
      trace(types);
    } catch (traced) {
      if (lacksGradient(traced)) throw traced;
    }
    throw error;
  }
}

/** Keeps a tree of tensors beyond the current scope, by references. */
function kept(tree: unknown): Tree<tf.Tensor> {
  return mapLeaves(tree, isTensor, (tensor) => tf.keep(tensor.clone()));
}

function disposeAll(tree: unknown): void {
  for (const { leaf } of leavesOf(tree, isTensor)) leaf.dispose();
}
