import * as tf from "@tensorflow/tfjs";
import type { Graph, TensorData, TensorType } from "../graph/graph.ts";
import { optimize } from "../graph/optimize.ts";
import { isTensor, traceFunction } from "../tracing/trace.ts";
import { leavesOf, type Tree, treeOf } from "../tracing/tree.ts";
import { EagerInputs, toArrays, toTensor } from "./_eager.ts";
import type { Settings } from "./_settings.ts";
import { checkSaved, type SavedState } from "./_state_checks.ts";
import type { StateLeaf } from "./_state_memory.ts";

type StepFunction = (state: unknown, inputs: unknown) => { state: unknown };

/** A step on the present backend of TensorFlow.js, over tensors that it holds. */
export class EagerStep {
  readonly engine = "eager";
  readonly #fn: StepFunction;
  readonly #types: Tree<TensorType>;
  readonly #inputs: EagerInputs;
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
    this.#state = kept(state);
  }

  get graph(): Graph {
    return this.#graph ??= optimize(
      traceFunction((all) => {
        const { state, inputs } = all as Record<string, unknown>;
        return this.#fn(state ?? {}, inputs ?? {});
      }, { inputs: this.#types, state: this.#state }).graph,
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
      results = toArrays(rest);
      next = kept(state);
    });
    disposeAll(this.#state);
    this.#state = next!;
    return results!;
  }

  get #leaves(): StateLeaf[] {
    return leavesOf(this.#state, isTensor).map(({ name, path, leaf }) => ({
      name: `state.${name}`,
      path,
      leaf: { shape: leaf.shape, dtype: leaf.dtype as TensorType["dtype"] },
    }));
  }

  read(): Tree<SavedState> {
    return treeOf(
      leavesOf(this.#state, isTensor).map(({ path, leaf }) => ({
        path,
        leaf: {
          data: leaf.dataSync().slice() as TensorData,
          shape: [...leaf.shape],
        },
      })),
    );
  }

  write(state: unknown): void {
    const leaves = this.#leaves;
    const saved = checkSaved(state, leaves);
    disposeAll(this.#state);
    this.#state = treeOf(leaves.map(({ path, leaf }, i) => ({
      path,
      leaf: tf.keep(toTensor(saved[i], leaf)),
    })));
  }

  close(): void {
    disposeAll(this.#state);
    this.#state = {};
  }
}

/** A tree of copies in name that outlive the present scope. */
function kept(tree: unknown): Tree<tf.Tensor> {
  return treeOf(
    leavesOf(tree, isTensor).map(({ path, leaf }) => ({
      path,
      leaf: tf.keep(leaf.clone()),
    })),
  );
}

function disposeAll(tree: unknown): void {
  for (const { leaf } of leavesOf(tree, isTensor)) leaf.dispose();
}
