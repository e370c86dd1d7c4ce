import { hintAt } from "@bellman/files/options";
import {
  cnn,
  type CnnOptions,
  cnnSmall,
  type ConvLayer,
  convOnly,
  mlp,
  type MlpOptions,
} from "./feed_forward.ts";
import * as tf from "@tensorflow/tfjs";
import { type Params, tidy } from "@bellman/compute";
import { channelAxis, flattenRows, sizeOf, SMALLEST_IMAGE } from "./_layers.ts";
import { cnnLnlstm, cnnLstm, lnlstm, lstm } from "./lstm.ts";
import { addPrefix, type Network, pickPrefix } from "./network.ts";

/** Options of {@link createNetwork}. Each network ignores those that it does not use. */
export interface NetworkOptions extends Omit<MlpOptions, "inputShape"> {
  /**
   * Units of recurrent networks.
   *
   * @default 128
   */
  readonly lstmSize?: number;
  /**
   * Convolution layers of networks for images.
   *
   * @default those of the network's name
   */
  readonly convLayers?: readonly ConvLayer[];
  /**
   * Network of each part of a dict observation, for the network `parts`; `flat` is the
   * identity.
   *
   * @default cnn for images of at least 36x36, flat for all else
   */
  readonly partNetworks?: PartNetworks;
}

/** Networks by the names of a dict observation's parts. */
export type PartNetworks = Readonly<
  Record<string, Exclude<NetworkName, "parts"> | "flat">
>;

/** Options of {@link createNetwork} with the shape of the inputs. */
export interface CreateNetworkOptions extends NetworkOptions {
  /** Shape of one input, without the batch. */
  readonly inputShape: readonly number[];
  /**
   * Shapes of the parts of an input, which lie side by side in this order.
   *
   * @default there are no parts
   */
  readonly inputParts?: Readonly<Record<string, readonly number[]>>;
}

/** Name of a network, as in baselines; `auto` is {@link networkFor}. */
export type NetworkName =
  | "auto"
  | "parts"
  | "mlp"
  | "cnn"
  | "cnn_32"
  | "cnn_2013"
  | "cnn_small"
  | "cnn_board"
  | "conv_only"
  | "lstm"
  | "lnlstm"
  | "cnn_lstm"
  | "cnn_lnlstm";

/** Convolutions of baselines' ACKTR: the last has half as many filters. */
const ACKTR_LAYERS: readonly ConvLayer[] = [[32, 8, 4], [64, 4, 2], [32, 3, 1]];

/**
 * Network of the A3C paper, from Mnih et al. 2013 (arXiv 1312.5602), section 4.1: half
 * the filters of the Nature paper's.
 */
const PAPER_OF_2013: Pick<CnnOptions, "convLayers" | "denseSize"> = {
  convLayers: [[16, 8, 4], [32, 4, 2]],
  denseSize: 256,
};

/** Makes a network for inputs of a shape. */
export type NetworkMaker = (options: CreateNetworkOptions) => Network;

const MAKERS: Readonly<Record<NetworkName, NetworkMaker>> = {
  auto: (options) => MAKERS[networkFor(options.inputShape, options)](options),
  parts: partsNetwork,
  mlp,
  cnn: (options) => cnn(forImages(options)),
  cnn_32: (options) => cnn({ convLayers: ACKTR_LAYERS, ...forImages(options) }),
  cnn_2013: (options) => cnn({ ...PAPER_OF_2013, ...forImages(options) }),
  cnn_small: (options) => cnnSmall(forImages(options)),
  cnn_board: (options) => cnn(forBoards(options)),
  conv_only: (options) => convOnly(forImages(options)),
  lstm,
  lnlstm,
  cnn_lstm: (options) => cnnLstm(forImages(options)),
  cnn_lnlstm: (options) => cnnLnlstm(forImages(options)),
};

/** Drops the activation option: convolutions keep their own. */
function forImages(options: CreateNetworkOptions): CreateNetworkOptions {
  return { ...options, activation: undefined };
}

/** One layer of 64 filters of 4x4, or of the whole of a smaller board, and 256 units. */
function forBoards(options: CreateNetworkOptions): CnnOptions {
  const [height, width] = options.inputShape;
  const side = Math.min(4, height, width ?? height);
  const layers = { convLayers: [[64, side, 1]] as const, denseSize: 256 };
  return { ...layers, ...forImages(options) };
}

/**
 * Chooses the network of `auto`.
 *
 * @param inputShape Shape of one input.
 * @param options Shapes and networks of its parts, if any.
 * @returns `cnn` for images `[height, width, channels]` of at least 36x36 (also for
 * images with channels first or without channels, which it rejects with a hint);
 * `parts` if a part is such an image or has a network of its own; else `mlp`.
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
export function networkFor(
  inputShape: readonly number[],
  { inputParts = {}, partNetworks = {} }: Pick<
    CreateNetworkOptions,
    "inputParts" | "partNetworks"
  > = {},
): "cnn" | "mlp" | "parts" {
  if (isImage(inputShape)) return "cnn";
  const hasOwn = Object.keys(partNetworks).length > 0;
  return hasOwn || Object.values(inputParts).some(isImage) ? "parts" : "mlp";
}

function isImage(shape: readonly number[]): boolean {
  const isLast = shape.length === 3 &&
    Math.min(shape[0], shape[1]) >= SMALLEST_IMAGE;
  return isLast || channelAxis(shape) !== undefined;
}

/**
 * Makes a network for each part of the inputs, and an mlp of their joined features.
 * Parameters: those of the networks under `parts/NAME/`, and of the mlp.
 */
function partsNetwork(options: CreateNetworkOptions): Network {
  const { inputShape, inputParts, partNetworks } = options;
  if (inputParts === undefined) {
    throw new RangeError(
      `Cannot apply the network 'parts' to observations [${inputShape}]: expected a dict space, or another network`,
    );
  }
  const names = Object.keys(inputParts);
  for (const name in partNetworks) {
    if (names.includes(name)) continue;
    throw new RangeError(
      `Unknown part '${name}' in partNetworks: ${hintAt(name, names)}`,
    );
  }
  const sizes = names.map((name) => sizeOf(inputParts[name]));
  const parts = names.map((name) => {
    const shape = inputParts[name];
    const chosen = partNetworks?.[name] ?? (isImage(shape) ? "cnn" : "flat");
    const network = chosen === "flat"
      ? mlp({ inputShape: shape, hiddenSizes: [] })
      : createNetwork(chosen, {
        ...options,
        inputShape: shape,
        inputParts: undefined,
      });
    if (network.stateSize === 0) return { shape, network, at: `parts/${name}` };
    throw new RangeError(
      `Cannot use the recurrent network '${chosen}' for the part '${name}': expected one without a state, as mlp or cnn`,
    );
  });
  const size = parts.reduce((sum, it) => sum + it.network.outputSize, 0);
  const trunk = mlp({ ...options, inputShape: [size] });
  return {
    inputShape,
    outputSize: trunk.outputSize,
    stateSize: 0,
    init: (random) =>
      Object.assign(
        {},
        ...parts.map(({ network, at }) => addPrefix(network.init(random), at)),
        trunk.init(random),
      ) as Params,
    apply: (params, { x }) =>
      tidy(() => {
        const features = tf.split(flattenRows(x), sizes, 1)
          .map((rows, i) => {
            const { shape, network, at } = parts[i];
            const part = tf.reshape(rows, [-1, ...shape]);
            return network.apply(pickPrefix(params, at), { x: part }).output;
          });
        return trunk.apply(params, { x: tf.concat(features, 1) });
      }),
  };
}

/** Names of the built-in networks. */
export const networkNames: readonly NetworkName[] = Object.keys(
  MAKERS,
) as NetworkName[];

/** All networks by name; those of {@link registerNetwork} come last. */
const networks = new Map<string, NetworkMaker>(Object.entries(MAKERS));

/**
 * Registers a custom network under a name, for settings and the command line.
 *
 * @param name The name.
 * @param make Makes the network.
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
 * Lists the networks of {@link registerNetwork}.
 *
 * @returns Their names, in order.
 *
 * @example
 * ```ts
 * import { cnn, registeredNetworks, registerNetwork } from "@bellman/policies";
 * import { assert } from "@std/assert";
 *
 * registerNetwork("pixels", cnn);
 * assert(registeredNetworks().includes("pixels"));
 * ```
 */
export function registeredNetworks(): string[] {
  return [...networks.keys()].slice(networkNames.length);
}

/**
 * Makes a network by its name.
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
  const hint = hintAt(String(name), [...networks.keys()]);
  throw new RangeError(`Unknown network '${name}': ${hint}`);
}
