import type { DiscreteSpace, RandomSource, Space } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { type Params, tidy } from "@bellman/compute";
import { distributionFor } from "../distributions/distribution_for.ts";
import { body, type FunctionOptions, layerInitializers } from "./_body.ts";
import type { ApplyInputs, Policy, PolicyOutput } from "./policy.ts";
import {
  factorizedNoise,
  initNoisyLayer,
  noisyLayer,
} from "../networks/noisy_layer.ts";
import { activationFunction, initLayer, LARGEST } from "../networks/_layers.ts";
import {
  type ObservationEncoder,
  observationEncoder,
} from "../networks/observations.ts";

/** Options of {@link qPolicy}. */
export interface QPolicyOptions extends FunctionOptions {
  /** Action space, which must be discrete. */
  readonly actionSpace: Space;
  /**
   * Use a dueling network: the last hidden layer and the head exist twice, for the
   * state value and for the advantages.
   *
   * @default false
   */
  readonly dueling?: boolean;
  /**
   * Numbers for each action's return distribution, such as quantiles.
   *
   * @default 1
   */
  readonly atoms?: number;
  /**
   * Computes Q-values from the network's outputs.
   *
   * @param outputs Outputs of the network `[batch, n, atoms]`.
   * @returns Values `[batch, n]`.
   * @default the mean of the atoms
   */
  readonly valuesOf?: (outputs: tf.Tensor3D) => tf.Tensor2D;
  /**
   * Use noisy layers at the end (NoisyNet): initial standard deviation of their noise,
   * times the square root of the number of inputs.
   *
   * @default none: layers without noise
   */
  readonly sigma0?: number;
}

/** Greedy policy of a Q-function. */
export interface QPolicy extends Policy {
  /**
   * Computes the network's outputs for all actions.
   *
   * @param params Parameters as `init` makes them.
   * @param observations Encoded observations `[batch, ...]`.
   * @param noise Normal numbers, one row for the batch `[1, size]` or one for each row
   * `[batch, size]`, where `size` is `noise.size`; without them noisy layers use their
   * mean weights.
   * @returns Outputs `[batch, n, atoms]`.
   */
  outputs(
    params: Params,
    observations: tf.Tensor,
    noise?: tf.Tensor2D,
  ): tf.Tensor3D;
  /**
   * Computes the Q-values of all actions.
   *
   * @param outputs Result of {@link outputs}.
   * @param actionMasks 1 where an action is allowed `[batch, n]`.
   * @returns Q-values `[batch, n]`; the lowest float32 where an action is forbidden.
   */
  values(outputs: tf.Tensor3D, actionMasks?: tf.Tensor): tf.Tensor2D;
}

/** Output of a {@link QPolicy}; with noisy layers, what `sample` needs too. */
interface QOutput extends PolicyOutput {
  readonly actionMasks?: tf.Tensor;
}

/**
 * Makes a greedy policy of a Q-function. With noisy layers `sample` takes the best
 * action under sampled weights, other ones for each row, and `mode` under the mean
 * weights; otherwise both are the same and exploration is separate.
 *
 * Parameters: `dense0/kernel` and so on and `head/kernel`, `head/bias`, whose outputs
 * are those of the first action, then of the second; with `dueling` the last hidden
 * layer and the head are under `value/` and `advantage/`, as `value/dense0/kernel`.
 *
 * Source: Wang et al. 2016 (https://arxiv.org/abs/1511.06581), equation 9: Q-values are
 * `V + A - mean(A)`, for each atom.
 *
 * @param options Spaces and layers.
 * @returns The policy; its output `policy` holds the Q-values of all actions.
 * @throws {TypeError} If actions are not discrete.
 * @throws {RangeError} If the network is recurrent.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { qPolicy } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const policy = qPolicy({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 3 },
 *   dueling: true,
 * });
 * const params = policy.init(new RandomStream(1));
 * const { policy: values } = policy.apply(params, tf.eye(4));
 * assertEquals(values.shape, [4, 3]);
 * const best = policy.mode({ policy: tf.tensor2d([[0, 2, 1]]) });
 * assertEquals(best.arraySync(), [1]);
 * ```
 */
export function qPolicy(options: QPolicyOptions): QPolicy {
  const { actionSpace, sigma0, valuesOf = expectedValue } = options;
  if (actionSpace.type !== "discrete") {
    throw new TypeError(
      `Cannot learn values of ${actionSpace.type} actions: expected discrete actions`,
    );
  }
  const encoder = observationEncoder(options.observationSpace);
  const distribution = distributionFor(actionSpace);
  const { trunk, last } = layersOf(encoder, {
    ...options,
    actionSpace,
  });
  const isNoisy = sigma0 !== undefined;

  function values(outputs: tf.Tensor3D, actionMasks?: tf.Tensor): tf.Tensor2D {
    const qValues = valuesOf(outputs);
    return actionMasks === undefined
      ? qValues
      : tf.where(tf.cast(actionMasks, "bool"), qValues, -LARGEST);
  }
  const mode = ({ policy }: PolicyOutput) => distribution.mode(policy);
  return {
    ...encoder,
    stateSize: 0,
    distribution,
    noise: isNoisy ? { kind: "normal", size: last.noise } : distribution.noise,
    usesStateDependentExploration: false,
    squashesActions: false,
    init: (random) => ({ ...trunk.init(random), ...last.init(random) }),
    outputs: (params, observations, noise) =>
      tf.tidy(() =>
        last.apply(params, trunk.apply(params, observations).output, noise)
      ),
    values,
    apply: (params, observations, { actionMasks }: ApplyInputs = {}) =>
      tidy((): QOutput => {
        const latent = trunk.apply(params, observations).output;
        const policy = values(last.apply(params, latent), actionMasks);
        return { policy, ...(isNoisy && { latent, actionMasks }) };
      }),
    sample: (params, output: QOutput, { noise }) =>
      tf.tidy(() => {
        if (!isNoisy) return mode(output);
        const outputs = last.apply(params, output.latent!, noise);
        return mode({ policy: values(outputs, output.actionMasks) });
      }),
    mode,
  };
}

/**
 * Computes the mean over the last axis; an axis of length 1 is removed.
 *
 * @param outputs Numbers of each action, such as `[batch, n, atoms]`.
 * @returns Their means, such as `[batch, n]`.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { expectedValue } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * assertEquals(expectedValue(tf.tensor2d([[1, 3], [4, 4]])).arraySync(), [2, 4]);
 * ```
 */
export function expectedValue<T extends tf.Tensor>(outputs: tf.Tensor): T {
  return outputs.shape.at(-1) === 1
    ? tf.reshape(outputs, outputs.shape.slice(0, -1)) as T
    : tf.mean<T>(outputs, -1);
}

/** Last layers, which compute the outputs of all actions. */
interface LastLayers {
  /** Size of one row's noise. */
  readonly noise: number;
  init(random: RandomSource): Params;
  apply(
    params: Params,
    features: tf.Tensor2D,
    noise?: tf.Tensor2D,
  ): tf.Tensor3D;
}

/** Makes the trunk and the last layers. */
function layersOf(
  encoder: ObservationEncoder,
  options: QPolicyOptions & { readonly actionSpace: DiscreteSpace },
): { trunk: ReturnType<typeof body>; last: LastLayers } {
  const { actionSpace: { n }, atoms = 1, dueling = false } = options;
  const { networkOptions } = options;
  const sizes = networkOptions?.hiddenSizes ?? [256, 256];
  const [shared, streams] = dueling
    ? [sizes.slice(0, -1), sizes.slice(-1)]
    : [sizes, []];
  const trunk = body(encoder, 0, {
    ...options,
    networkOptions: { ...networkOptions, hiddenSizes: shared },
  });
  const stream = (prefix: string, outputs: number, firstNoise: number) =>
    streamOf([trunk.outputSize, ...streams, outputs], {
      prefix,
      firstNoise,
      ...options,
    });
  if (!dueling) {
    const head = stream("", n * atoms, 0);
    return {
      trunk,
      last: {
        ...head,
        apply: (params, features, noise) =>
          tf.reshape(head.apply(params, features, noise), [-1, n, atoms]),
      },
    };
  }
  const value = stream("value/", atoms, 0);
  const advantage = stream("advantage/", n * atoms, value.noise);
  return {
    trunk,
    last: {
      noise: value.noise + advantage.noise,
      init: (random) => ({
        ...value.init(random),
        ...advantage.init(random),
      }),
      apply(params, features, noise) {
        const apply = (it: typeof value, choices: number) =>
          tf.reshape(it.apply(params, features, noise), [-1, choices, atoms]);
        const advantages = apply(advantage, n);
        const mean = tf.mean(advantages, 1, true);
        return tf.add(apply(value, 1), tf.sub(advantages, mean)) as tf.Tensor3D;
      },
    },
  };
}

/** Makes hidden layers `dense0` and so on, and `head`, of these sizes. */
function streamOf(
  sizes: readonly number[],
  { prefix, firstNoise, sigma0, ...options }: QPolicyOptions & {
    readonly prefix: string;
    /** Index of the first noise element of these layers in a row. */
    readonly firstNoise: number;
  },
) {
  const initializers = {
    ...layerInitializers(options.initializer),
    ...options.networkOptions,
  };
  const activate = activationFunction(
    options.networkOptions?.activation ?? "relu",
  );
  let noise = 0;
  const layers = sizes.slice(1).map((outputs, i) => {
    const isHead = i === sizes.length - 2;
    const shape = [sizes[i], outputs] as const, at = firstNoise + noise;
    noise += sizes[i] + outputs;
    return {
      isHead,
      shape,
      at,
      name: `${prefix}${isHead ? "head" : `dense${i}`}`,
      // Only the name decides how a head is initialized, as in all networks.
      initializers: isHead
        ? layerInitializers(options.initializer)
        : initializers,
    };
  });
  return {
    noise,
    init: (random: RandomSource): Params =>
      Object.assign(
        {},
        ...layers.map(({ name, shape, initializers }) =>
          sigma0 === undefined
            ? initLayer(name, shape, initializers, random)
            : initNoisyLayer(name, shape, { ...initializers, sigma0 }, random)
        ),
      ),
    apply(params: Params, features: tf.Tensor2D, normal?: tf.Tensor2D) {
      const factors = normal && factorizedNoise(normal);
      const part = (at: number, size: number) =>
        tf.slice(factors!, [0, at], [-1, size]);
      return layers.reduce((x, { name, isHead, shape: [inputs, size], at }) => {
        const noise = factors && {
          inputs: part(at, inputs),
          outputs: part(at + inputs, size),
        };
        const y = noisyLayer(params, name, { x, noise });
        return isHead ? y : activate(y) as tf.Tensor2D;
      }, features);
    },
  };
}
