import type { ReplayBatch } from "@bellman/agent";
import type { Optimizer } from "@bellman/compute";
import {
  type GaussianMixture,
  qFunction,
  type ReparameterizedDistribution,
  stochasticPolicy,
  valueFunction,
} from "@bellman/policies";
import {
  initSacV1State,
  type SacV1Inputs,
  type SacV1Model,
  type SacV1State,
} from "@bellman/sac-v1";
import * as tf from "@tensorflow/tfjs";
import type { Expected } from "./comparison.ts";
import {
  criticParams,
  type NetworkArrays,
  paramsOf,
  spacesOf,
} from "./sac_networks.ts";

/** All networks. */
export type Networks = Record<
  "qf1" | "qf2" | "vf" | "target_vf" | "policy",
  NetworkArrays
>;

/** One batch of the fixture. */
export interface Batch {
  iteration: number;
  observations: number[][];
  next_observations: number[][];
  actions: number[][];
  rewards: number[];
  terminals: number[];
  noise: number[][];
  component?: number[];
}

/** One case of the fixture of haarnoja/sac. */
export interface Case {
  name: string;
  inputs: {
    arch: {
      policy: "gaussian" | "gmm";
      K: number;
      obs_dim: number;
      action_dim: number;
      hidden: number[];
    };
    hparams: {
      lr: number;
      discount: number;
      tau: number;
      target_update_interval: number;
      scale_reward: number | string;
      action_prior: "uniform" | "normal";
      reparameterize: boolean;
      policy_reg: number;
      adam: { beta1: number; beta2: number; eps: number };
    };
    params: Networks;
    batches: Batch[];
  };
  expected: { after: After[]; after_as_released_gmm?: AsReleased[] };
}

/** What is expected after an update. */
export type After = Record<string, Expected> & {
  params: Networks;
  grads: Partial<Networks> | null;
};

/** What the released program comes to with a mixture. */
export type AsReleased = {
  policy_loss: number;
  params: Pick<Networks, "vf" | "policy">;
  policy_grads_first: NetworkArrays | null;
};

/** The model; the last number of a mixture's noise is the component itself. */
export function modelOf({ arch }: Case["inputs"]): SacV1Model {
  const spaces = spacesOf(arch);
  const mixture = arch.policy === "gmm";
  const policy = stochasticPolicy({
    ...spaces,
    distribution: mixture ? "mixture" : "gaussian",
    components: arch.K,
    squashCorrection: "epsilon",
  });
  const { distribution } = policy;
  return {
    policy: {
      ...policy,
      distribution: mixture
        ? ofGivenComponents(distribution as GaussianMixture)
        : distribution,
    },
    qf: qFunction(spaces),
    vf: valueFunction(spaces),
  };
}

function ofGivenComponents(
  mixture: GaussianMixture,
): ReparameterizedDistribution {
  return {
    ...mixture,
    sampleWithLogProb: (parameters, noise, options) => {
      const [normal, last] = tf.split(noise, [noise.shape[1] - 1, 1], 1);
      const component = tf.cast(tf.reshape(last, [-1]), "int32");
      return mixture.sampleComponent(parameters, {
        ...options,
        component: component as tf.Tensor1D,
        noise: normal as tf.Tensor2D,
      });
    },
  };
}

/** The state before the first update. */
export function stateOf(
  { params }: Case["inputs"],
  model: SacV1Model,
  optimizer: Optimizer,
): SacV1State {
  const random = { uniform: () => 0.5, normal: () => 0, integer: () => 0 };
  return {
    ...initSacV1State(model, random, { optimizer }),
    policy: paramsOf(params.policy),
    critics: criticParams(params.qf1, params.qf2),
    value: paramsOf(params.vf),
    targets: paramsOf(params.target_vf),
  };
}

/** One batch as tensors. */
export function batchOf(numbers: Batch) {
  const { component, noise } = numbers;
  const allNoise = component
    ? noise.map((row, i) => [...row, component[i]])
    : noise;
  return {
    observations: tf.tensor2d(numbers.observations),
    actions: tf.tensor2d(numbers.actions),
    rewards: tf.tensor1d(numbers.rewards),
    terminated: tf.tensor1d(numbers.terminals, "float32"),
    nextObservations: tf.tensor2d(numbers.next_observations),
    noise: tf.tensor2d(allNoise),
  } satisfies ReplayBatch & Pick<SacV1Inputs, "noise">;
}

/** `scale_reward`: a number, or a function of the iteration as a text. */
export function rewardScaleAt(
  scale: number | string,
  iteration: number,
): number {
  if (typeof scale === "number") return scale;
  const match = scale.match(/^([\d.]+) \+ ([\d.]+)\*iteration$/);
  if (match === null) throw new SyntaxError(`Cannot read the scale '${scale}'`);
  return Number(match[1]) + Number(match[2]) * iteration;
}
