import * as tf from "@tensorflow/tfjs";
import type { Graph, TensorData, TensorType } from "../graph/graph.ts";
import { optimize } from "../graph/optimize.ts";
import { isTensor } from "../tracing/trace.ts";
import { leavesOf, type Tree, treeOf } from "../tracing/tree.ts";
import { EagerInputs, toArrays, toTensor } from "./_eager.ts";
import type { Settings } from "./_settings.ts";
import { checkNewState, checkSaved, type SavedState } from "./_state_checks.ts";
import { type StateLeaf, stateLeaves } from "./_state_memory.ts";
import { type StepFunction, traceStep } from "./_step_function.ts";

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
