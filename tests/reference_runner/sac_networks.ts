import type { ReplayBatch } from "@bellman/agent";
import type { Params } from "@bellman/compute";
import { addPrefix } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";

/** A network of the SAC fixtures: its arrays by the original's names. */
export type NetworkArrays = Record<string, number[] | number[][]>;

type Arrays = Record<string, number[] | number[][]>;

/**
 * The arrays of a network by our paths. The first layer of the original has a
 * kernel for each input; ours has one, of their rows in order.
 */
export function byPath(network: NetworkArrays): Arrays {
  const layerOf = (name: string) => Number(name.match(/^layer(\d+)\//)![1]);
  const last = Math.max(...Object.keys(network).map(layerOf));
  const arrays: Arrays = {};
  for (const name of Object.keys(network).sort()) {
    const layer = layerOf(name);
    const ours = layer === last ? "head" : `dense${layer}`;
    const path = `${ours}/${name.endsWith("bias") ? "bias" : "kernel"}`;
    const before = (arrays[path] ?? []) as number[][];
    arrays[path] = [...before, ...network[name] as number[][]];
  }
  return arrays;
}

/** The parameters of a network. */
export function paramsOf(network: NetworkArrays): Params {
  const arrays = byPath(network);
  const params: Params = {};
  for (const path in arrays) {
    params[path] = tf.tensor(arrays[path], undefined, "float32");
  }
  return params;
}

/** The parameters of both Q functions. */
export function criticParams(qf1: NetworkArrays, qf2: NetworkArrays): Params {
  return {
    ...addPrefix(paramsOf(qf1), "qf1"),
    ...addPrefix(paramsOf(qf2), "qf2"),
  };
}

/** Spaces and layers of the fixtures' networks. */
export function spacesOf(
  arch: { obs_dim: number; action_dim: number; hidden: number[] },
) {
  const box = { type: "box", dtype: "float32" } as const;
  return {
    observationSpace: {
      ...box,
      shape: [arch.obs_dim],
      low: -Infinity,
      high: Infinity,
    },
    actionSpace: { ...box, shape: [arch.action_dim], low: -1, high: 1 },
    networkOptions: { hiddenSizes: arch.hidden, activation: "relu" },
  } as const;
}

/** Transitions of a fixture's batch, and its tensors by the fixture's names. */
export function transitionsOf(numbers: Readonly<Record<string, unknown>>) {
  const tensor = <T extends tf.Tensor>(name: string) =>
    tf.tensor(numbers[name] as tf.TensorLike, undefined, "float32") as T;
  const batch = {
    observations: tensor("observations"),
    actions: tensor("actions"),
    rewards: tensor<tf.Tensor1D>("rewards"),
    terminated: tensor<tf.Tensor1D>("terminated"),
    nextObservations: tensor("next_observations"),
    ...("discounts" in numbers && {
      discounts: tensor<tf.Tensor1D>("discounts"),
    }),
  } satisfies ReplayBatch;
  return { batch, tensor };
}
