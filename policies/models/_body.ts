import type { RandomSource, Space } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { type Params, tidy } from "@bellman/compute";
import type { Distribution } from "../distributions/distribution.ts";
import type { ApplyInputs } from "./policy.ts";
import {
  denseLayer,
  flattenRows,
  initLayer,
  type LayerInitializers,
  sizeOf,
} from "../networks/_layers.ts";
import {
  createNetwork,
  type CreateNetworkOptions,
  networkFor,
  type NetworkName,
  type NetworkOptions,
} from "../networks/create_network.ts";
import {
  fanInUniform,
  fanInUniformBias,
  glorotUniform,
} from "../networks/initializers.ts";
import {
  addPrefix,
  type Network,
  type NetworkInputs,
  type NetworkOutput,
  pickPrefix,
} from "../networks/network.ts";
import {
  normalizedMlp,
  type NormalizedMlpOptions,
} from "../networks/normalized_mlp.ts";
import {
  type ObservationEncoder,
  observationEncoder,
} from "../networks/observations.ts";

/**
 * Layers of {@link qFunction}, {@link discreteQFunction},
 * {@link valueFunction} and {@link stochasticPolicy}.
 */
export interface FunctionOptions
  extends
    Pick<NormalizedMlpOptions, "normalization" | "dropout" | "warmupUpdates"> {
  /** Observation space. */
  readonly observationSpace: Space;
  /**
   * `mlp`, or a feature extractor, by name or as an object, followed by an mlp of
   * `networkOptions`. Actions are inputs of the mlp. Recurrent networks are not
   * supported.
   *
   * @default "auto"
   */
  readonly network?: NetworkName | Network;
  /**
   * Options of a network given by name, and of the mlp.
   *
   * @default { hiddenSizes: [256, 256], activation: "relu" }
   */
  readonly networkOptions?: NetworkOptions;
  /**
   * Initializers of all layers: `torch` is uniform on ±1/sqrt(fanIn) for kernels and
   * biases, `glorot` is Glorot uniform with zero biases. Those in `networkOptions`
   * override it for all layers but the last.
   *
   * @default "torch"
   */
  readonly initializer?: "torch" | "glorot";
}

/** Network settings, as in the configurations of algorithms. */
export interface LayerSettings
  extends
    Pick<FunctionOptions, "network" | "initializer">,
    Pick<NetworkOptions, "hiddenSizes" | "activation" | "partNetworks"> {}

/**
 * Makes the options of functions from an algorithm's settings.
 *
 * @param settings Network, its options, initializers.
 * @returns The options that do not depend on spaces.
 *
 * @example
 * ```ts
 * import { functionOptions } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const { networkOptions } = functionOptions({ hiddenSizes: [64] });
 * assertEquals(networkOptions?.hiddenSizes, [64]);
 * ```
 */
export function functionOptions(
  { network, initializer, hiddenSizes, activation, partNetworks }:
    LayerSettings,
): Omit<FunctionOptions, "observationSpace"> {
  const networkOptions = { hiddenSizes, activation, partNetworks };
  return { network, initializer, networkOptions };
}

/** Options of {@link body}. */
type BodyOptions = Omit<FunctionOptions, "observationSpace">;

/** Dropout and batch normalization of one application. */
export type LayerInputs = Pick<NetworkInputs, "training" | "dropout">;

/** Layers of a function before its last one. */
interface Body {
  readonly outputSize: number;
  init(random: RandomSource): Params;
  /** Computes features of encoded observations and actions `[batch, actionSize]`. */
  apply(
    params: Params,
    observations: tf.Tensor,
    inputs?: LayerInputs & { readonly actions?: tf.Tensor2D },
  ): NetworkOutput;
}

/** Returns the initializers of a choice. */
export function layerInitializers(
  initializer: "torch" | "glorot" = "torch",
): LayerInitializers {
  switch (initializer) {
    case "torch":
      return {
        kernelInitializer: fanInUniform(),
        biasInitializer: fanInUniformBias(),
      };
    case "glorot":
      return { kernelInitializer: glorotUniform() };
    default:
      throw new RangeError(
        `Unknown initializer '${initializer}': choose torch or glorot`,
      );
  }
}

/**
 * Makes the layers before the head: an mlp of observations and actions, or a feature
 * extractor under `features/` followed by an mlp of its features and the actions.
 *
 * @param encoder Shape of one encoded observation, and of its parts.
 * @param actionSize Action dimension, 0 for no action input.
 */
export function body(
  { observationShape: inputShape, observationParts: inputParts }: Pick<
    ObservationEncoder,
    "observationShape" | "observationParts"
  >,
  actionSize: number,
  bodyOptions: BodyOptions,
): Body {
  const { network = "auto", networkOptions, initializer } = bodyOptions;
  const { normalization, dropout, warmupUpdates } = bodyOptions;
  const options: NetworkOptions = {
    hiddenSizes: [256, 256],
    activation: "relu",
    ...layerInitializers(initializer),
    ...networkOptions,
  };
  const named = network === "auto"
    ? networkFor(inputShape, { ...networkOptions, inputParts })
    : network;
  const features = named === "mlp"
    ? flatObservations(inputShape)
    : resolveNetwork(named, {
      ...options,
      inputShape,
      inputParts,
      // Their features are joined by the layers that follow.
      ...(named === "parts" && { hiddenSizes: [] }),
    });
  checkFeedForward(features);
  const layers = normalizedMlp({
    ...options,
    ...{ normalization, dropout, warmupUpdates },
    inputShape: [features.outputSize + actionSize],
  });
  return {
    outputSize: layers.outputSize,
    init: (random) => ({
      ...addPrefix(features.init(random), "features"),
      ...layers.init(random),
    }),
    apply: (params, observations, { actions, ...inputs } = {}) =>
      tidy(() => {
        const { output } = features.apply(pickPrefix(params, "features"), {
          x: observations,
        });
        const x = actions ? tf.concat([output, actions], 1) : output;
        return layers.apply(params, { ...inputs, x });
      }),
  };
}

/** Makes a {@link body} followed by a linear layer, `head`. */
export function bodyWithHead(
  options: FunctionOptions,
  { actionSize = 0, outputs = 1 }: { actionSize?: number; outputs?: number } =
    {},
): Pick<Body, "init" | "apply"> {
  const encoder = observationEncoder(options.observationSpace);
  const layers = body(encoder, actionSize, options);
  const initializers = layerInitializers(options.initializer);
  const shape = [layers.outputSize, outputs];
  return {
    init: (random) => ({
      ...layers.init(random),
      ...initLayer("head", shape, initializers, random),
    }),
    apply: (params, observations, inputs) =>
      tidy(() => {
        const features = layers.apply(params, observations, inputs);
        return {
          ...features,
          output: denseLayer(params, "head", features.output),
        };
      }),
  };
}

/** Makes a network that flattens its inputs. */
function flatObservations(inputShape: readonly number[]): Network {
  return {
    inputShape,
    outputSize: sizeOf(inputShape),
    stateSize: 0,
    init: () => ({}),
    apply: (_, { x }) => ({ output: flattenRows(x) }),
  };
}

function checkFeedForward({ stateSize }: Network): void {
  if (stateSize === 0) return;
  throw new RangeError(
    `Cannot use a recurrent network with a state of ${stateSize} numbers here: choose one without a state, as mlp or cnn`,
  );
}

/**
 * Returns a network given as an object, or makes the one of that name.
 *
 * @throws {RangeError} If there is no network of that name, the options do not fit it,
 * or the object has another input shape.
 */
export function resolveNetwork(
  network: NetworkName | Network,
  options: CreateNetworkOptions,
): Network {
  if (typeof network === "string") return createNetwork(network, options);
  const { inputShape } = options;
  if (String(network.inputShape) === String(inputShape)) return network;
  throw new RangeError(
    `Cannot apply a network for inputs [${network.inputShape}] to observations [${inputShape}]: the shapes must be the same`,
  );
}

/** Masks parameters of distributions, if there are masks. */
export function maskedBy(
  { actionMasks }: ApplyInputs,
  { masking, actionDtype }: Distribution,
  parameters: tf.Tensor2D,
): tf.Tensor2D {
  if (actionMasks === undefined) return parameters;
  if (masking !== undefined) return masking.apply(parameters, actionMasks);
  throw new TypeError(
    `Cannot mask actions of type ${actionDtype} with these distributions: expected discrete, multiDiscrete or multiBinary actions`,
  );
}
