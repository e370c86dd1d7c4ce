import * as tf from "@tensorflow/tfjs";
import type { TensorData, TensorType } from "../graph/graph.ts";
import { leavesOf, type Tree, treeOf } from "../tracing/tree.ts";
import { isTensor } from "../tracing/trace.ts";
import { InputReader } from "./_inputs.ts";

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
export function toTensor(
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
