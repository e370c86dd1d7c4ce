import type { ReplayBatch } from "@bellman/agent";
import {
  adam,
  compile,
  compileStep,
  type Engine,
  type Params,
  type StateArrays,
} from "@bellman/compute";
import {
  criticTargets,
  pickPrefix,
  qFunction,
  stochasticPolicy,
} from "@bellman/policies";
import {
  initSacState,
  type SacInputs,
  type SacModel,
  type SacState,
  sacUpdate,
  softValues,
  temperatureLoss,
} from "@bellman/sac";
import * as tf from "@tensorflow/tfjs";
import type { Comparison, Expected, FixtureRunner } from "./comparison.ts";
import {
  byPath,
  criticParams,
  type NetworkArrays,
  paramsOf,
  spacesOf,
} from "./sac_networks.ts";

type Networks = Record<
  "qf1" | "qf2" | "policy" | "target_qf1" | "target_qf2",
  NetworkArrays
>;

interface Case {
  name: string;
  inputs: {
    arch: { obs_dim: number; action_dim: number; hidden: number[] };
    hparams: {
      lr: number;
      gamma: number;
      tau: number;
      auto_alpha: boolean;
      init_alpha: number;
      target_entropy: number;
      log_std_min: number;
      log_std_max: number;
      adam: { beta1: number; beta2: number; eps: number };
    };
    params: Networks;
    batches: Record<
      | "observations"
      | "next_observations"
      | "actions"
      | "rewards"
      | "terminals"
      | "noise"
      | "noise_next",
      number[] | number[][]
    >[];
  };
  expected: { after: After[] };
}

type After = Record<string, Expected> & {
  params: Networks & { alpha: { log_alpha: number } };
};

function modelOf({ arch, hparams }: Case["inputs"]): SacModel {
  const spaces = spacesOf(arch);
  return {
    policy: stochasticPolicy({
      ...spaces,
      logStdBounds: [hparams.log_std_min, hparams.log_std_max],
      squashCorrection: "epsilon",
    }),
    qf: qFunction(spaces),
  };
}

function stateOf({ params, hparams }: Case["inputs"], model: SacModel) {
  const { beta1, beta2, eps } = hparams.adam;
  const optimizer = adam({ beta1, beta2, epsilon: eps });
  const random = { uniform: () => 0.5, normal: () => 0, integer: () => 0 };
  const state: SacState = {
    ...initSacState(model, random, {
      optimizer,
      initialAlpha: hparams.auto_alpha ? hparams.init_alpha : null,
    }),
    policy: paramsOf(params.policy),
    critics: criticParams(params.qf1, params.qf2),
    targets: criticParams(params.target_qf1, params.target_qf2),
  };
  return { state, optimizer };
}

function batchOf(numbers: Case["inputs"]["batches"][number]) {
  const tensor = <T extends tf.Tensor>(values: number[] | number[][]) =>
    tf.tensor(values, undefined, "float32") as T;
  return {
    observations: tensor(numbers.observations),
    actions: tensor(numbers.actions),
    rewards: tensor<tf.Tensor1D>(numbers.rewards),
    terminated: tensor<tf.Tensor1D>(numbers.terminals),
    nextObservations: tensor(numbers.next_observations),
    noise: tensor<tf.Tensor2D>(numbers.noise),
    nextNoise: tensor<tf.Tensor2D>(numbers.noise_next),
  } satisfies Batch;
}

/** A batch, and the noise of its actions. */
type Batch = ReplayBatch & Pick<SacInputs, "noise" | "nextNoise">;

/** What policy and critics say of a batch before the update. */
function forwardPass(
  { policy, qf }: SacModel,
  { gamma, target_entropy: targetEntropy }: Case["inputs"]["hparams"],
  { state, batch, alpha }: {
    state: Pick<SacState, "policy" | "critics" | "targets">;
    batch: Batch;
    alpha: tf.Scalar;
  },
) {
  const { observations, nextObservations, noise, nextNoise } = batch;
  const sample = (observations: tf.Tensor, noise: tf.Tensor2D) =>
    policy.distribution.sampleWithLogProb(
      policy.apply(state.policy, observations).policy,
      noise,
    );
  const estimates = (critics: Params, x: tf.Tensor, actions: tf.Tensor) =>
    ["qf1", "qf2"].map((name) =>
      qf.apply(pickPrefix(critics, name), x, actions)
    );
  const now = sample(observations, noise);
  const next = sample(nextObservations, nextNoise);
  const [q1, q2] = estimates(state.critics, observations, batch.actions);
  const [a, b] = estimates(state.targets, nextObservations, next.action);
  const nextValues = softValues(tf.minimum<tf.Tensor1D>(a, b), next.logProb, {
    alpha,
  });
  const logAlpha = tf.log(alpha) as tf.Scalar;
  return {
    new_actions: now.action,
    log_pi: now.logProb,
    next_actions: next.action,
    next_log_pi: next.logProb,
    target_q: criticTargets({ ...batch, nextValues }, { discount: gamma }),
    q1,
    q2,
    alpha_loss: temperatureLoss(logAlpha, now.logProb, { targetEntropy }),
  };
}

/** The forward pass and the update of a case, compiled. */
function compileCase({ inputs }: Case, engine: Engine) {
  const { hparams, batches } = inputs;
  const model = modelOf(inputs);
  const { state, optimizer } = stateOf(inputs, model);
  const { learn: update } = sacUpdate(model, {
    optimizer,
    gamma: hparams.gamma,
    targetEntropy: hparams.target_entropy,
  });
  const { policy, critics, targets } = state;
  const batch = batchOf(batches[0]);
  const number = tf.scalar(0);
  const forward = compile(
    (given: Parameters<typeof forwardPass>[2]) =>
      forwardPass(model, hparams, given),
    {
      inputs: { state: { policy, critics, targets }, batch, alpha: number },
      engine,
      name: "the forward pass",
    },
  );
  const hyperparameters = {
    learningRate: number,
    tau: number,
    ...(!hparams.auto_alpha && { alpha: number }),
  };
  const inputTypes = { batch, hyperparameters };
  const learner = compileStep(
    (held: SacState, { batch, hyperparameters }: typeof inputTypes) => {
      const { noise, nextNoise } = batch;
      return update(held, batch, { ...hyperparameters, noise, nextNoise });
    },
    { state, inputs: inputTypes, engine, name: "the update" },
  );
  return { forward, learner };
}

/** All parameters after an update. */
function compareState(
  comparison: Comparison,
  state: StateArrays<SacState>,
  { params }: After,
): void {
  const compare = (
    name: keyof Networks,
    actual: keyof SacState,
    prefix = "",
  ) =>
    comparison.arrays(
      name,
      state[actual],
      byPath(params[name]),
      (path) => prefix + path,
    );
  compare("policy", "policy");
  compare("qf1", "critics", "qf1/");
  compare("qf2", "critics", "qf2/");
  compare("target_qf1", "targets", "qf1/");
  compare("target_qf2", "targets", "qf2/");
  const { logAlpha } = state.temperature;
  if (logAlpha === undefined) return;
  comparison.numbers("log_alpha", logAlpha.data, params.alpha.log_alpha);
}

async function runCase(
  it: Case,
  comparison: Comparison,
  engine: Engine,
): Promise<void> {
  const { hparams, batches } = it.inputs;
  const { forward, learner } = compileCase(it, engine);
  for (const [k, numbers] of batches.entries()) {
    const expected = it.expected.after[k];
    await comparison.check(`${it.name}, update ${k}`, () => {
      const batch = batchOf(numbers);
      const { policy, critics, targets } = learner.state;
      const alpha = Number(expected.alpha_used);
      const before = forward.run({
        state: { policy, critics, targets },
        batch,
        alpha,
      });
      const { stats } = learner.run({
        batch,
        hyperparameters: {
          learningRate: hparams.lr,
          tau: hparams.tau,
          ...(!hparams.auto_alpha && { alpha: hparams.init_alpha }),
        },
      });
      const found = {
        ...before,
        alpha_used: stats.temperature,
        critic_loss: stats.q_loss,
        actor_loss: stats.policy_loss,
        ...(hparams.auto_alpha && { alpha_loss: stats.temperature_loss! }),
      };
      comparison.named(found, expected as Record<string, Expected>);
      compareState(comparison, learner.read(), expected);
    });
  }
  learner.close();
}

/** Stable-Baselines3's SAC: samples, targets, losses and all parameters. */
export const runner: FixtureRunner = async (fixture, comparison, engine) => {
  for (const it of fixture.cases as Case[]) {
    await runCase(it, comparison, engine);
  }
};
