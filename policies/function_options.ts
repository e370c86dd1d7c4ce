import type { NetworkName, NetworkOptions } from "./create_network.ts";
import type { Network } from "./network.ts";
import type { Space } from "@bellman/types";

/**
 * Layers of {@link qFunction}, {@link discreteQFunction},
 * {@link valueFunction} and {@link stochasticPolicy}.
 */
export interface FunctionOptions {
  /** Space of one observation: any but dict and tuple. */
  readonly observationSpace: Space;
  /**
   * `mlp`; or a network that turns observations into features, by name or as
   * an object, after which comes an mlp of `networkOptions`. Actions go into
   * the mlp with the observations or features. None may be recurrent.
   *
   * @default "mlp"
   */
  readonly network?: NetworkName | Network;
  /**
   * Options of a network that is given by name, and of the mlp.
   *
   * @default { hiddenSizes: [256, 256], activation: "relu" }
   */
  readonly networkOptions?: NetworkOptions;
  /**
   * First values of all layers: `torch` is uniform on ±1/sqrt(fanIn) for
   * kernels and biases, `glorot` is Glorot uniform with biases of 0. Those in
   * `networkOptions` come before it, for all layers but the last.
   *
   * @default "torch"
   */
  readonly initializer?: "torch" | "glorot";
}
