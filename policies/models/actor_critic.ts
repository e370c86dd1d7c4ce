import { type Params, tidy } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import type { RandomSource, Space } from "@bellman/types";
import type { Distribution } from "../distributions/distribution.ts";
import { distributionFor } from "../distributions/distribution_for.ts";
import {
  sampleStateDependent,
  stateDependentLogStd,
} from "../distributions/state_dependent_exploration.ts";
import { maskedBy, resolveNetwork } from "./_body.ts";
import type {
  ApplyInputs,
  Policy,
  PolicyOutput,
  SampleOptions,
} from "./policy.ts";
import { denseLayer, initLayer } from "../networks/_layers.ts";
import type {
  NetworkName,
  NetworkOptions,
} from "../networks/create_network.ts";
import { glorotUniform, orthogonal } from "../networks/initializers.ts";
import {
  addPrefix,
  type Network,
  parameter,
  pickPrefix,
} from "../networks/network.ts";
import { observationEncoder } from "../networks/observations.ts";

/** Result of an {@link ActorCritic} for observations. */
export interface ActorCriticOutput extends PolicyOutput {
  /** Estimated returns `[batch]`. */
  readonly value: tf.Tensor1D;
  /** Features that they are estimated from `[batch, size]`; recurrent only. */
  readonly features?: tf.Tensor2D;
}

/** Policy and value function over one or two trunks; all of it is pure. */
export type ActorCritic = Policy<ActorCriticOutput, Distribution>;

/** Result of a {@link QActorCritic} for observations. */
export interface QActorCriticOutput extends PolicyOutput {
  /** Estimated returns of all actions `[batch, n]`. */
  readonly q: tf.Tensor2D;
}

/** Policy and Q function over one or two trunks; all of it is pure. */
export type QActorCritic = Policy<QActorCriticOutput, Distribution>;

/** Outputs of the trunks, for the two heads. */
interface Latent {
  readonly pi: tf.Tensor2D;
  readonly vf: tf.Tensor2D;
  readonly state?: tf.Tensor2D;
}

/** Part of a model between the observations and the heads. */
interface Trunk {
  readonly stateSize: number;
  init(random: RandomSource): Params;
  apply(params: Params, x: tf.Tensor, inputs: ApplyInputs): Latent;
}

/** Parameters of the networks before the heads: one for both, or one each. */
const TRUNKS = { shared: ["shared"], separate: ["pi", "vf"] } as const;

/** Makes the networks before the heads of policy and values. */
function trunkOf(network: Network, kind: "shared" | "separate"): Trunk {
  if (!Object.hasOwn(TRUNKS, kind)) {
    throw new RangeError(
      `Cannot use the value network '${kind}': choose shared or separate`,
    );
  }
  const names = TRUNKS[kind], size = network.stateSize;
  const statesIn = (state?: tf.Tensor2D): (tf.Tensor2D | undefined)[] =>
    size > 0 && state && names.length > 1
      ? tf.split(state, names.map(() => size), 1)
      : [state];
  return {
    stateSize: names.length * size,
    init: (random) =>
      Object.assign(
        {},
        ...names.map((name) => addPrefix(network.init(random), name)),
      ),
    apply(params, x, { state: before, masks }) {
      const states = statesIn(before);
      const each = names.map((name, i) =>
        [pickPrefix(params, name), { x, masks, state: states[i] }] as const
      );
      const [pi, vf = pi] = network.applyAll?.(each) ??
        each.map((it) => network.apply(...it));
      const state = pi.state && vf !== pi
        ? tf.concat([pi.state, vf.state!], 1)
        : pi.state;
      return { pi: pi.output, vf: vf.output, state };
    },
  };
}

/** Options of {@link actorCritic}. */
export interface ActorCriticOptions {
  /** Space of one observation. */
  readonly observationSpace: Space;
  /** Space of one action: any but dict and tuple. */
  readonly actionSpace: Space;
  /** Trunk of the network, by name or as an object. */
  readonly network: NetworkName | Network;
  /**
   * Options of a network that is given by name.
   *
   * @default {}
   */
  readonly networkOptions?: NetworkOptions;
  /**
   * Trunk of the value: separate, or the policy's.
   *
   * @default "shared"
   */
  readonly valueNetwork?: "shared" | "separate";
  /**
   * Logarithm of the standard deviation at the start, for box actions.
   *
   * @default 0
   */
  readonly initialLogStd?: number;
  /**
   * Explore box actions by noise that depends on the state
   * (Raffin et al. 2020, https://arxiv.org/abs/2005.05719).
   *
   * @default false
   */
  readonly useSde?: boolean;
  /**
   * Box actions: Gaussian, clipped to the bounds of their space, or squashed by tanh
   * into [-1, 1], which is stretched to them.
   *
   * @default "gaussian"
   */
  readonly actions?: "gaussian" | "squashed";
  /**
   * Start kernels orthogonal (baselines: trunk sqrt 2, policy 0.01, value 1),
   * not Glorot uniform. Networks given as objects choose themselves.
   *
   * @default true
   */
  readonly orthogonalInit?: boolean;
}

/**
 * Makes an actor-critic model for a pair of spaces.
 *
 * The parameters of the trunks are under `shared/`, or under `pi/` and `vf/`
 * where there are two; those of the heads are `pi/head/kernel`,
 * `pi/head/bias`, `vf/head/kernel`, `vf/head/bias` and, for box actions,
 * `pi/logStd`. A recurrent model with two trunks keeps the state of the policy
 * first and that of the value after it.
 *
 * @param options Spaces, network and how to start.
 * @returns The model.
 * @throws {TypeError} If actions are a dict or tuple, or state-dependent
 * exploration is wanted for actions that are not box.
 * @throws {RangeError} If the network's name, inputs or options do not fit.
 *
 * @example
 * ```ts
 * import { actorCritic } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const model = actorCritic({
 *   observationSpace: {
 *     type: "box",
 *     shape: [4],
 *     low: -1,
 *     high: 1,
 *     dtype: "float32",
 *   },
 *   actionSpace: { type: "discrete", n: 2 },
 *   network: "mlp",
 * });
 * const params = model.init(new RandomStream(1));
 * const observations = model.observationTensor(new Float32Array(12), 3);
 * const output = model.apply(params, observations);
 * assertEquals(output.policy.shape, [3, 2]);
 * assertEquals(output.value.shape, [3]);
 * assertEquals(model.mode(output).shape, [3]);
 * ```
 */
export function actorCritic(options: ActorCriticOptions): ActorCritic {
  return withHeads(options, {
    name: "vf/head",
    size: 1,
    read: (values) => ({ value: tf.reshape(values, [-1]) as tf.Tensor1D }),
  });
}

/**
 * Makes a policy and a Q function of discrete actions over one or two trunks,
 * as ACER has them.
 *
 * The parameters are those of {@link actorCritic}, but `q/head/kernel` and
 * `q/head/bias` in place of the value's head.
 *
 * @param options Spaces, network and how to start.
 * @returns The model.
 * @throws {TypeError} If the actions are not discrete.
 * @throws {RangeError} If the network's name, inputs or options do not fit.
 *
 * @example
 * ```ts
 * import { qActorCritic } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const model = qActorCritic({
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 3 },
 *   network: "lstm",
 * });
 * const observations = model.observationTensor(new Int32Array(2), 2);
 * const { q } = model.apply(model.init(new RandomStream(1)), observations);
 * assertEquals(q.shape, [2, 3]);
 * ```
 */
export function qActorCritic(options: QActorCriticOptions): QActorCritic {
  const { type } = options.actionSpace;
  if (options.actionSpace.type !== "discrete") {
    throw new TypeError(
      `Cannot value all actions of a ${type} space: expected discrete actions`,
    );
  }
  const { n } = options.actionSpace;
  return withHeads(options, {
    name: "q/head",
    size: n,
    read: (q) => ({ q }),
  });
}

/** Options of {@link qActorCritic}. */
export type QActorCriticOptions = Pick<
  ActorCriticOptions,
  | "observationSpace"
  | "actionSpace"
  | "network"
  | "networkOptions"
  | "valueNetwork"
  | "orthogonalInit"
>;

/** Head in addition to that of the policy. */
interface ValueHead<V> {
  readonly name: string;
  readonly size: number;
  /** Names the head's outputs `[batch, size]`. */
  read(outputs: tf.Tensor2D): V;
}

/** Makes a policy with another head over one or two trunks. */
function withHeads<V extends object>(
  options: ActorCriticOptions,
  head: ValueHead<V>,
): Policy<PolicyOutput & V, Distribution> {
  const {
    actionSpace,
    valueNetwork = "shared",
    initialLogStd = 0,
    useSde = false,
    orthogonalInit = true,
  } = options;
  const encoder = observationEncoder(options.observationSpace);
  const gaussian = actionSpace.type === "box";
  const squashed = gaussian && options.actions === "squashed";
  const distribution = distributionFor(actionSpace, { squashed });
  if (useSde && !gaussian) {
    throw new TypeError(
      `Cannot use state-dependent exploration for ${actionSpace.type} actions: it is for box actions`,
    );
  }
  const network = resolveNetwork(options.network, {
    inputShape: encoder.observationShape,
    inputParts: encoder.observationParts,
    ...(!orthogonalInit && { kernelInitializer: glorotUniform() }),
    ...options.networkOptions,
  });
  const base = trunkOf(network, valueNetwork);
  const features = network.outputSize;
  const { parameterSize } = distribution;
  const actions = gaussian ? parameterSize / 2 : parameterSize;
  const logStdShape = useSde ? [features, actions] : [actions];

  function init(random: RandomSource): Params {
    const [pi, vf] = [0.01, 1].map((scale) => ({
      kernelInitializer: orthogonalInit ? orthogonal(scale) : glorotUniform(),
    }));
    const trunks = base.init(random);
    const heads: Params = {
      ...initLayer("pi/head", [features, actions], pi, random),
      ...initLayer(head.name, [features, head.size], vf, random),
    };
    if (gaussian) heads["pi/logStd"] = tf.fill(logStdShape, initialLogStd);
    checkPathsDiffer(trunks, heads);
    return { ...trunks, ...heads };
  }

  function logStdOf(params: Params, like: tf.Tensor2D, latent: tf.Tensor2D) {
    const logStd = parameter(params, "pi/logStd");
    if (!useSde) return tf.add(tf.zeros(like.shape), logStd) as tf.Tensor2D;
    return stateDependentLogStd(latent, logStd as tf.Tensor2D);
  }

  function apply(
    params: Params,
    observations: tf.Tensor,
    inputs: ApplyInputs = {},
  ): PolicyOutput & V {
    return tidy(() => {
      const latent = base.apply(params, observations, inputs);
      const mean = denseLayer(params, "pi/head", latent.pi);
      const policy = gaussian
        ? tf.concat([mean, logStdOf(params, mean, latent.pi)], 1)
        : mean;
      return {
        policy: maskedBy(inputs, distribution, policy),
        ...head.read(denseLayer(params, head.name, latent.vf)),
        ...(latent.state && { state: latent.state, features: latent.vf }),
        ...(useSde && { latent: latent.pi }),
      };
    });
  }

  function sample(
    params: Params,
    output: PolicyOutput,
    { noise }: SampleOptions,
  ): tf.Tensor {
    if (!useSde) return distribution.sample(output.policy, noise);
    return tidy(() => {
      const explored = sampleStateDependent(
        tf.slice(output.policy, [0, 0], [-1, actions]),
        parameter<tf.Tensor2D>(params, "pi/logStd"),
        { latent: output.latent!, noise },
      );
      return tf.reshape(
        squashed ? tf.tanh(explored) : explored,
        [-1, ...distribution.actionShape],
      );
    });
  }

  return {
    ...encoder,
    stateSize: base.stateSize,
    distribution,
    noise: useSde
      ? { kind: "normal", size: features * actions }
      : distribution.noise,
    usesStateDependentExploration: useSde,
    squashesActions: squashed,
    init,
    apply,
    sample,
    mode: (output) => distribution.mode(output.policy),
  };
}

/** Throws where a path of the trunks is one of the heads too. */
function checkPathsDiffer(trunks: Params, heads: Params): void {
  const path = Object.keys(trunks).find((it) => Object.hasOwn(heads, it));
  if (path === undefined) return;
  throw new RangeError(
    `Cannot name a parameter of the network '${path}': the name is taken by a head`,
  );
}
