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

/** Output of an {@link ActorCritic}. */
export interface ActorCriticOutput extends PolicyOutput {
  /** Value estimates `[batch]`. */
  readonly value: tf.Tensor1D;
  /** Features before the value head `[batch, size]`; recurrent only. */
  readonly features?: tf.Tensor2D;
}

/** Policy and value function with a shared trunk or one each, as pure functions. */
export type ActorCritic = Policy<ActorCriticOutput, Distribution>;

/** Output of a {@link QActorCritic}. */
export interface QActorCriticOutput extends PolicyOutput {
  /** Q-values of all actions `[batch, n]`. */
  readonly q: tf.Tensor2D;
}

/** Policy and Q-function with a shared trunk or one each, as pure functions. */
export type QActorCritic = Policy<QActorCriticOutput, Distribution>;

/** Outputs of the trunks, for the two heads. */
interface Latent {
  readonly pi: tf.Tensor2D;
  readonly vf: tf.Tensor2D;
  readonly state?: tf.Tensor2D;
}

/** Layers between the observations and the heads. */
interface Trunk {
  readonly stateSize: number;
  init(random: RandomSource): Params;
  apply(params: Params, x: tf.Tensor, inputs: ApplyInputs): Latent;
}

/** Parameter prefixes of the trunks. */
const TRUNKS = { shared: ["shared"], separate: ["pi", "vf"] } as const;

/** Makes the trunks of policy and value. */
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
  /** Observation space. */
  readonly observationSpace: Space;
  /** Action space: any but dict and tuple. */
  readonly actionSpace: Space;
  /** Trunk of the network, by name or as an object. */
  readonly network: NetworkName | Network;
  /**
   * Options of a network given by name.
   *
   * @default {}
   */
  readonly networkOptions?: NetworkOptions;
  /**
   * Trunk of the value function: its own, or shared with the policy.
   *
   * @default "shared"
   */
  readonly valueNetwork?: "shared" | "separate";
  /**
   * Initial log standard deviation of box actions.
   *
   * @default 0
   */
  readonly initialLogStd?: number;
  /**
   * Use state-dependent exploration (gSDE) for box actions (Raffin et al. 2020,
   * https://arxiv.org/abs/2005.05719).
   *
   * @default false
   */
  readonly useSde?: boolean;
  /**
   * Distribution of box actions: a Gaussian clipped to the action bounds, or a squashed
   * one, rescaled from [-1, 1] to them.
   *
   * @default "gaussian"
   */
  readonly actions?: "gaussian" | "squashed";
  /**
   * Initialize kernels orthogonally (gains as in baselines: trunk sqrt 2, policy 0.01,
   * value 1) instead of Glorot uniform. Networks given as objects are not affected.
   *
   * @default true
   */
  readonly orthogonalInit?: boolean;
}

/**
 * Makes an actor-critic model for an observation and an action space.
 *
 * Parameters of the trunks are under `shared/`, or `pi/` and `vf/` if separate; those
 * of the heads are `pi/head/kernel`, `pi/head/bias`, `vf/head/kernel`, `vf/head/bias`
 * and, for box actions, `pi/logStd`. With two recurrent trunks the policy's recurrent
 * state comes first, then the value's.
 *
 * @param options Spaces, network and initialization.
 * @returns The model.
 * @throws {TypeError} If actions are a dict or tuple, or state-dependent exploration is
 * used for actions that are not a box.
 * @throws {RangeError} If the network's name, inputs or options do not fit.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { actorCritic } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
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
 * Makes a policy and a Q-function of discrete actions, as in ACER.
 *
 * Parameters are those of {@link actorCritic}, with `q/head/kernel` and `q/head/bias`
 * in place of the value head.
 *
 * @param options Spaces, network and initialization.
 * @returns The model.
 * @throws {TypeError} If the actions are not discrete.
 * @throws {RangeError} If the network's name, inputs or options do not fit.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { qActorCritic } from "@bellman/policies";
 * import { RandomStream } from "@bellman/compute";
 * import { assertEquals } from "@std/assert";
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

/** Head of values or Q-values. */
interface ValueHead<V> {
  readonly name: string;
  readonly size: number;
  /** Names the head's outputs `[batch, size]`. */
  read(outputs: tf.Tensor2D): V;
}

/** Makes a model of trunks, policy head and value head. */
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

/** Throws if a parameter path belongs to both a trunk and a head. */
function checkPathsDiffer(trunks: Params, heads: Params): void {
  const path = Object.keys(trunks).find((it) => Object.hasOwn(heads, it));
  if (path === undefined) return;
  throw new RangeError(
    `Cannot name a parameter of the network '${path}': the name is taken by a head`,
  );
}
