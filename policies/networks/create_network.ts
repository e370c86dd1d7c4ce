import { closest } from "fastest-levenshtein";
import {
  cnn,
  type CnnOptions,
  cnnSmall,
  type ConvLayer,
  convOnly,
  mlp,
  type MlpOptions,
} from "./feed_forward.ts";
import { cnnLnlstm, cnnLstm, lnlstm, lstm } from "./lstm.ts";
import type { Network } from "./network.ts";

/**
 * Options of {@link createNetwork}. Each network ignores those that it does not use.
 */
export interface NetworkOptions extends Omit<MlpOptions, "inputShape"> {
  /**
   * Units of the recurrent networks.
   *
   * @default 128
   */
  readonly lstmSize?: number;
  /**
   * Convolution layers of the networks for images.
   *
   * @default those of the network's name
   */
  readonly convLayers?: readonly ConvLayer[];
}

/** Options of {@link createNetwork} with the shape of the inputs. */
export interface CreateNetworkOptions extends NetworkOptions {
  /** Shape of one input, without the batch. */
  readonly inputShape: readonly number[];
}

/** Name of a network of this package, as in baselines; `auto` is {@link networkFor}. */
export type NetworkName =
  | "auto"
  | "mlp"
  | "cnn"
  | "cnn_32"
  | "cnn_2013"
  | "cnn_small"
  | "conv_only"
  | "lstm"
  | "lnlstm"
  | "cnn_lstm"
  | "cnn_lnlstm";

/** Convolutions of baselines' ACKTR: the last has half as many filters. */
const ACKTR_LAYERS: readonly ConvLayer[] = [[32, 8, 4], [64, 4, 2], [32, 3, 1]];

/**
 * Network of the A3C paper, which is that of Mnih et al. 2013 (arXiv 1312.5602),
 * section 4.1: half the filters of the Nature paper's.
 */
const PAPER_OF_2013: Pick<CnnOptions, "convLayers" | "denseSize"> = {
  convLayers: [[16, 8, 4], [32, 4, 2]],
  denseSize: 256,
};

/** Makes a network for inputs of a shape. */
export type NetworkMaker = (options: CreateNetworkOptions) => Network;

const MAKERS: Readonly<Record<NetworkName, NetworkMaker>> = {
  auto: (options) => MAKERS[networkFor(options.inputShape)](options),
  mlp,
  cnn: (options) => cnn(forImages(options)),
  cnn_32: (options) => cnn({ convLayers: ACKTR_LAYERS, ...forImages(options) }),
  cnn_2013: (options) => cnn({ ...PAPER_OF_2013, ...forImages(options) }),
  cnn_small: (options) => cnnSmall(forImages(options)),
  conv_only: (options) => convOnly(forImages(options)),
  lstm,
  lnlstm,
  cnn_lstm: (options) => cnnLstm(forImages(options)),
  cnn_lnlstm: (options) => cnnLnlstm(forImages(options)),
};

/** Convolutions keep their own activation. */
function forImages(options: CreateNetworkOptions): CreateNetworkOptions {
  return { ...options, activation: undefined };
}

/** Smallest side of an image that the layers of `cnn` fit into. */
const SMALLEST_IMAGE = 36;

/**
 * Chooses the network of the name `auto`.
 *
 * @param inputShape Shape of one input.
 * @returns `cnn` for images `[height, width, channels]` of at least 36x36, `mlp`
 * for everything else.
 *
 * @example
 * ```ts
 * import { networkFor } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(networkFor([84, 84, 4]), "cnn");
 * assertEquals(networkFor([8, 8, 3]), "mlp");
 * assertEquals(networkFor([17]), "mlp");
 * ```
 */
export function networkFor(inputShape: readonly number[]): "cnn" | "mlp" {
  const [height, width] = inputShape;
  const isImage = inputShape.length === 3 &&
    Math.min(height, width) >= SMALLEST_IMAGE;
  return isImage ? "cnn" : "mlp";
}

/** Names that {@link createNetwork} knows. */
export const networkNames: readonly NetworkName[] = Object.keys(
  MAKERS,
) as NetworkName[];

/** All networks; those that {@link registerNetwork} named come last. */
const networks = new Map<string, NetworkMaker>(Object.entries(MAKERS));

/**
 * Gives a custom network a name, which settings and the command line take
 * where they take one of {@link networkNames}.
 *
 * @param name The name.
 * @param make Makes the network for inputs of a shape.
 * @throws {TypeError} If there is a network of that name.
 *
 * @example
 * ```ts
 * import { createNetwork, mlp, registerNetwork } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * registerNetwork("wide", (options) => mlp({ ...options, hiddenSizes: [1024] }));
 * assertEquals(createNetwork("wide", { inputShape: [4] }).outputSize, 1024);
 * ```
 */
export function registerNetwork(name: string, make: NetworkMaker): void {
  if (networks.has(name)) {
    throw new TypeError(
      `Cannot register the network '${name}': there is one of that name`,
    );
  }
  networks.set(name, make);
}

/**
 * Lists the networks that {@link registerNetwork} named.
 *
 * @returns Their names, in order.
 *
 * @example
 * ```ts
 * import { convOnly, registeredNetworks, registerNetwork } from "@bellman/policies";
 * import { assert } from "@std/assert";
 *
 * registerNetwork("pixels", convOnly);
 * assert(registeredNetworks().includes("pixels"));
 * ```
 */
export function registeredNetworks(): string[] {
  return [...networks.keys()].slice(networkNames.length);
}

/**
 * Makes a network from its name.
 *
 * @param name One of {@link networkNames}, or of {@link registeredNetworks}.
 * @param options Shape of the inputs, sizes and functions.
 * @returns The network.
 * @throws {RangeError} If there is no network of that name, or the inputs or
 * options do not fit it.
 *
 * @example
 * ```ts
 * import { createNetwork } from "@bellman/policies";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const network = createNetwork("mlp", { inputShape: [4], hiddenSizes: [16] });
 * assertEquals(network.outputSize, 16);
 * assertThrows(
 *   () => createNetwork("cnn_smal", { inputShape: [84, 84, 1] }),
 *   RangeError,
 *   "Unknown network 'cnn_smal': did you mean 'cnn_small'?",
 * );
 * ```
 */
export function createNetwork(
  name: NetworkName | (string & Record<never, never>),
  options: CreateNetworkOptions,
): Network {
  const make = networks.get(name);
  if (make !== undefined) return make(options);
  const guess = closest(String(name), [...networks.keys()]);
  throw new RangeError(`Unknown network '${name}': did you mean '${guess}'?`);
}
