import * as tf from "@tensorflow/tfjs";
import type { Graph, TensorData, TensorType } from "../graph/graph.ts";
import { leavesOf, type Tree, treeOf } from "../tracing/tree.ts";
import { isTensor } from "../tracing/trace.ts";
import { InputReader } from "./_inputs.ts";
import { optimize } from "../graph/passes/optimize.ts";
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
export class EagerInputs {
  readonly #types: Tree<TensorType>;
  readonly #reader: InputReader;

  constructor(types: Tree<TensorType>, name: string) {
    this.#types = types;
    this.#reader = new InputReader(types, { name, readsTensors: false });
  }

  /** New tensors; those that were given as tensors are copied in name only. */
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

/** A tensor of a copy: a backend may keep the array that it is given. */
function toTensor(
  data: TensorData,
  { shape, dtype }: TensorType,
): tf.Tensor {
  return dtype === "uint8"
    ? tf.tensor(Int32Array.from(data), [...shape], "int32")
    : tf.tensor(data.slice(), [...shape], dtype);
}

/** Copies of the numbers of a tree of tensors. */
export function toArrays(tree: unknown): Tree<TensorData> {
  const arrays = leavesOf(tree, isTensor).map(({ path, leaf }) => ({
    path,
    leaf: leaf.dataSync().slice() as TensorData,
  }));
  return treeOf(arrays, tree);
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
      const made = stateLeaves(state).map(({ name, leaf }) =>
        [name, leaf] as const
      );
      const action = `run ${this.#name}`;
      checkNewState(new Map(made), this.#leaves, action);
      results = toArrays(rest);
      next = kept(state);
    });
    disposeAll(this.#state);
    this.#state = next!;
    return results!;
  }

  read(): Tree<SavedState> {
    const saved = leavesOf(this.#state, isTensor).map(({ path, leaf }) => ({
      path,
      leaf: {
        data: leaf.dataSync().slice() as TensorData,
        shape: [...leaf.shape],
      },
    }));
    return treeOf(saved, this.#state);
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

/** A tree of copies in name that outlive the present scope. */
function kept(tree: unknown): Tree<tf.Tensor> {
  const tensors = leavesOf(tree, isTensor).map(({ path, leaf }) => ({
    path,
    leaf: tf.keep(leaf.clone()),
  }));
  return treeOf(tensors, tree);
}

function disposeAll(tree: unknown): void {
  for (const { leaf } of leavesOf(tree, isTensor)) leaf.dispose();
}
