import * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import type { Network } from "./network.ts";
import { nest, scope } from "./parameters.ts";
import type { RandomSource } from "@bellman/types";

/** What comes out of the trunks, for the two heads. */
export interface Latent {
  readonly pi: tf.Tensor2D;
  readonly vf: tf.Tensor2D;
  readonly state?: tf.Tensor2D;
}

/** The part of a model between the observations and the heads. */
export interface Trunk {
  readonly stateSize: number;
  init(random: RandomSource): Params;
  apply(
    params: Params,
    x: tf.Tensor,
    recurrence?: { readonly state: tf.Tensor2D; readonly masks: tf.Tensor1D },
  ): Latent;
}

/** One network for both heads, or one each with parameters of its own. */
export function trunk(network: Network, kind: "shared" | "separate"): Trunk {
  if (kind === "shared") return sharedTrunk(network);
  if (kind === "separate") return separateTrunks(network);
  throw new RangeError(
    `Cannot use the value network '${kind}': choose shared or separate`,
  );
}

function sharedTrunk(network: Network): Trunk {
  return {
    stateSize: network.stateSize,
    init: (random) => nest(network.init(random), "shared"),
    apply(params, x, recurrence) {
      const inputs = { x, ...recurrence };
      const { output, state } = network.apply(scope(params, "shared"), inputs);
      return { pi: output, vf: output, state };
    },
  };
}

function separateTrunks(network: Network): Trunk {
  const size = network.stateSize;
  return {
    stateSize: 2 * size,
    init: (random) => ({
      ...nest(network.init(random), "pi"),
      ...nest(network.init(random), "vf"),
    }),
    apply(params, x, recurrence) {
      const masks = recurrence?.masks;
      const [piState, vfState] = size > 0 && recurrence
        ? tf.split(recurrence.state, [size, size], 1) as tf.Tensor2D[]
        : [];
      const pi = network.apply(scope(params, "pi"), {
        x,
        masks,
        state: piState,
      });
      const vf = network.apply(scope(params, "vf"), {
        x,
        masks,
        state: vfState,
      });
      const state = pi.state && vf.state &&
        tf.concat([pi.state, vf.state], 1);
      return { pi: pi.output, vf: vf.output, state };
    },
  };
}
