import * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import type { NetworkName, NetworkOptions } from "./create_network.ts";
import { denseLayer } from "./_dense.ts";
import { fanInUniform, fanInUniformBias } from "./fan_in_uniform.ts";
import type { FunctionOptions } from "./function_options.ts";
import { glorotUniform } from "./initializers.ts";
import {
  flattenRows,
  initKernelAndBias,
  type LayerInitializers,
  sizeOf,
} from "./_layers.ts";
import { mlp } from "./mlp.ts";
import type { Network } from "./network.ts";
import { nest, scope } from "./parameters.ts";
import type { RandomSource } from "@bellman/types";
import { resolveNetwork } from "./_resolve_network.ts";

/** What {@link body} is made from. */
export type BodyOptions = Omit<FunctionOptions, "observationSpace">;

/** All layers of a function but its last one. */
export interface Body {
  readonly outputSize: number;
  init(random: RandomSource): Params;
  /** Features of encoded observations, and actions `[batch, actionSize]`. */
  apply(
    params: Params,
    observations: tf.Tensor,
    actions?: tf.Tensor2D,
  ): tf.Tensor2D;
}

/** First values of all layers, by the name of how they are chosen. */
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

const isMlp = (network: NetworkName | Network) => network === "mlp";

/**
 * The layers between observations and a head: an mlp, which takes actions with
 * the observations, or another network under `features/` whose outputs go into
 * an mlp together with the actions.
 *
 * @param inputShape Shape of one encoded observation.
 * @param actionSize Numbers of an action, 0 if it takes none.
 */
export function body(
  inputShape: readonly number[],
  actionSize: number,
  { network = "mlp", networkOptions, initializer }: BodyOptions,
): Body {
  const options: NetworkOptions = {
    hiddenSizes: [256, 256],
    activation: "relu",
    ...layerInitializers(initializer),
    ...networkOptions,
  };
  const features = isMlp(network)
    ? flatObservations(inputShape)
    : resolveNetwork(network, { inputShape, ...options });
  checkFeedForward(features);
  const layers = mlp({
    inputShape: [features.outputSize + actionSize],
    hiddenSizes: options.hiddenSizes,
    activation: options.activation,
    layerNorm: options.layerNorm,
    kernelInitializer: options.kernelInitializer,
    biasInitializer: options.biasInitializer,
  });
  return {
    outputSize: layers.outputSize,
    init: (random) => ({
      ...nest(features.init(random), "features"),
      ...layers.init(random),
    }),
    apply: (params, observations, actions) =>
      tf.tidy(() => {
        const { output } = features.apply(scope(params, "features"), {
          x: observations,
        });
        const x = actions ? tf.concat([output, actions], 1) : output;
        return layers.apply(params, { x }).output;
      }),
  };
}

/** A {@link body} and a last layer of so many outputs, `head`. */
export function bodyWithHead(
  inputShape: readonly number[],
  { actionSize, outputs }: { actionSize: number; outputs: number },
  options: BodyOptions,
): Pick<Body, "init" | "apply"> {
  const layers = body(inputShape, actionSize, options);
  const initializers = layerInitializers(options.initializer);
  const shape = [layers.outputSize, outputs];
  return {
    init: (random) => ({
      ...layers.init(random),
      ...nest(initKernelAndBias(shape, initializers, random), "head"),
    }),
    apply: (params, observations, actions) =>
      tf.tidy(() =>
        denseLayer(params, "head", layers.apply(params, observations, actions))
      ),
  };
}

/** Observations themselves, as a network. */
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
    `Cannot use a recurrent network with a state of ${stateSize} numbers here: ` +
      `choose one without a state, as mlp or cnn`,
  );
}
