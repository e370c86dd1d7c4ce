import * as tf from "@tensorflow/tfjs";
import type { Graph, TensorData, TensorType } from "../graph/graph.ts";
import { optimize } from "../graph/passes/optimize.ts";
import { isTensor, traceFunction } from "../tracing/trace.ts";
import { leavesOf, mapLeaves, type Tree, treeOf } from "../tracing/tree.ts";
import { InputReader } from "./_inputs.ts";
import type { Settings } from "./options.ts";
import {
  checkNewState,
  checkSaved,
  type SavedState,
  type StateLeaf,
  stateLeaves,
  type StepFunction,
  traceStep,
} from "./_state.ts";

/** Turns what a caller gives into tensors on the present backend. */
class EagerInputs {
  readonly #types: Tree<TensorType>;
  readonly #reader: InputReader;

  constructor(types: Tree<TensorType>, name: string) {
    this.#types = types;
    this.#reader = new InputReader(types, { name, readsTensors: false });
  }

  /** Makes tensors of inputs; those that are tensors are only referred to. */
  tensors(inputs: unknown): Tree<tf.Tensor> {
    const arrays = this.#reader.read(inputs);
    const others = this.#reader.otherShapes;
    const tensors = this.#reader.declared.map(({ name, path, leaf }, i) => {
      const shape = others?.get(name) ?? leaf.shape;
      const given = at(inputs, path);
      return {
        path,
        leaf: given instanceof tf.Tensor
          ? given.clone()
          : toTensor(arrays[i], { shape, dtype: leaf.dtype }),
      };
    });
    return treeOf(tensors, this.#types);
  }
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

/** A function on the present backend of TensorFlow.js. */
export class EagerFunction {
  readonly engine = "eager";
  readonly #fn: (inputs: unknown) => unknown;
  readonly #types: Tree<TensorType>;
  readonly #inputs: EagerInputs;
  #graph: Graph | undefined;

  constructor(
    fn: (inputs: unknown) => unknown,
    types: Tree<TensorType>,
    { name }: Settings,
  ) {
    this.#fn = fn;
    this.#types = types;
    this.#inputs = new EagerInputs(types, name);
  }

  get graph(): Graph {
    return this.#graph ??= optimize(traceFunction(this.#fn, this.#types).graph);
  }

  run(inputs: unknown): Tree<TensorData> {
    let results: Tree<TensorData> | undefined;
    tf.tidy(() => {
      results = toArrays(this.#fn(this.#inputs.tensors(inputs)));
    });
    return results!;
  }
}

/** A step on the present backend of TensorFlow.js, over tensors that it holds. */
export class EagerStep {
  readonly engine = "eager";
  readonly #fn: StepFunction;
  readonly #types: Tree<TensorType>;
  readonly #inputs: EagerInputs;
  readonly #name: string;
  readonly #leaves: readonly StateLeaf[];
  #state: Tree<tf.Tensor>;
  #graph: Graph | undefined;

  constructor(
    fn: StepFunction,
    { state, types, settings }: {
      state: unknown;
      types: Tree<TensorType>;
      settings: Settings;
    },
  ) {
    this.#fn = fn;
    this.#types = types;
    this.#inputs = new EagerInputs(types, settings.name);
    this.#name = settings.name;
    this.#leaves = stateLeaves(state);
    this.#state = kept(state);
  }

  get graph(): Graph {
    return this.#graph ??= optimize(
      traceStep(this.#fn, { inputs: this.#types, state: this.#state }).graph,
    );
  }

  get state(): Tree<tf.Tensor> {
    return this.#state;
  }

  run(given: unknown): Tree<TensorData> {
    let results: Tree<TensorData> | undefined;
    let next: Tree<tf.Tensor> | undefined;
    tf.tidy(() => {
      const inputs = this.#inputs.tensors(given);
      const { state, ...rest } = this.#fn(this.#state, inputs);
      const made = new Map(
        stateLeaves(state).map(({ name, leaf }) => [name, leaf]),
      );
      checkNewState(made, this.#leaves, `run ${this.#name}`);
      results = toArrays(rest);
      next = kept(state);
    });
    disposeAll(this.#state);
    this.#state = next!;
    return results!;
  }

  read(): Tree<SavedState> {
    return mapLeaves(this.#state, isTensor, (tensor) => ({
      data: numbersOf(tensor),
      shape: [...tensor.shape],
    }));
  }

  write(state: unknown): void {
    const saved = checkSaved(state, this.#leaves);
    const before = this.#state;
    const tensors = this.#leaves.map(({ path, leaf }, i) => ({
      path,
      leaf: tf.keep(toTensor(saved[i], leaf)),
    }));
    this.#state = treeOf(tensors, before);
    disposeAll(before);
  }

  close(): void {
    disposeAll(this.#state);
    this.#state = {};
  }
}

/** Keeps a tree of tensors beyond the present scope, by references. */
function kept(tree: unknown): Tree<tf.Tensor> {
  return mapLeaves(tree, isTensor, (tensor) => tf.keep(tensor.clone()));
}

function disposeAll(tree: unknown): void {
  for (const { leaf } of leavesOf(tree, isTensor)) leaf.dispose();
}
