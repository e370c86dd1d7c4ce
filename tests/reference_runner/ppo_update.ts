import { actorCriticSteps } from "@bellman/a2c";
import { adam, compileStep, type Engine } from "@bellman/compute";
import { type ActorCritic, actorCritic } from "@bellman/policies";
import { type PpoBatch, ppoUpdate } from "@bellman/ppo";
import {
  explainedVariance,
  generalizedAdvantageEstimation,
} from "@bellman/returns";
import type { Space } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { type Arrays, paramsOf } from "./baselines_model.ts";
import {
  checkEach,
  type Comparison,
  type Expected,
  type FixtureRunner,
} from "./comparison.ts";

interface Rollout {
  observations: number[][];
  actions: number[] | number[][];
  rewards: number[];
  terminated: number[];
  truncated: number[];
  values: number[];
  final_values: number[];
  last_values: number[];
  old_log_probs: number[];
  masks?: number[];
  action_masks?: number[][];
  states?: number[][];
  permutations: number[][];
  lr: number;
  clip_range: number;
}

interface Arch {
  kind: "mlp" | "lstm";
  obs_dim: number;
  hidden?: number[];
  nh?: number;
  trunk: "shared" | "separate";
  action_space: { type: string; n: number; shape: number[]; nvec: number[] };
}

interface Hyperparameters {
  nenvs: number;
  nsteps: number;
  minibatches: number;
  gamma: number;
  gae_lambda: number;
  clip_range_vf: number | null;
  value_clip: "max" | "clipped" | null;
  normalize_advantage: boolean;
  ent_coef: number;
  vf_coef: number;
  max_grad_norm: number;
  target_kl: number | null;
  adam: { eps: number };
}

type Minibatch = Record<string, number> & { stepped: boolean };

interface Case {
  inputs: {
    arch: Arch;
    hparams: Hyperparameters;
    params: Arrays;
    rollouts: Rollout[];
  };
  expected: {
    rollouts: {
      advantages: number[];
      returns: number[];
      explained_variance: number;
      minibatches: Minibatch[];
      stopped: unknown;
      params: Arrays;
      adam?: { m: Arrays; v: Arrays };
    }[];
  };
}

const boxOf = (shape: number[]): Space => ({
  type: "box",
  shape,
  low: -Infinity,
  high: Infinity,
  dtype: "float32",
});

function actionSpaceOf({ type, n, shape, nvec }: Arch["action_space"]): Space {
  if (type === "discrete") return { type, n };
  if (type === "multi_discrete") return { type: "multiDiscrete", nvec };
  return type === "multi_binary" ? { type: "multiBinary", n } : boxOf(shape);
}

function modelOf(arch: Arch): ActorCritic {
  return actorCritic({
    observationSpace: boxOf([arch.obs_dim]),
    actionSpace: actionSpaceOf(arch.action_space),
    network: arch.kind,
    networkOptions: { hiddenSizes: arch.hidden, lstmSize: arch.nh },
    valueNetwork: arch.trunk,
  });
}

/** Advantages and returns of a rollout. */
function targetsOf(it: Rollout, hparams: Hyperparameters) {
  const { nenvs: numEnvs, nsteps: numSteps, gamma, gae_lambda } = hparams;
  return generalizedAdvantageEstimation({
    rewards: Float64Array.from(it.rewards),
    terminated: Uint8Array.from(it.terminated),
    truncated: Uint8Array.from(it.truncated),
    values: Float32Array.from(it.values),
    finalValues: Float32Array.from(it.final_values),
    lastValues: Float32Array.from(it.last_values),
  }, {
    numEnvs,
    numSteps,
    gamma,
    lambda: gae_lambda,
  });
}

/** Inputs of an update. */
function tensorsOf(it: Rollout, { distribution }: ActorCritic, {
  advantages,
  returns,
}: ReturnType<typeof targetsOf>) {
  const batch: PpoBatch = {
    observations: tf.tensor2d(it.observations),
    actions: tf.tensor(it.actions, undefined, distribution.actionDtype),
    oldLogProb: tf.tensor1d(it.old_log_probs),
    oldValues: tf.tensor1d(it.values),
    advantages: tf.tensor1d(Float32Array.from(advantages)),
    returns: tf.tensor1d(Float32Array.from(returns)),
    ...(it.action_masks && { actionMasks: tf.tensor2d(it.action_masks) }),
    ...(it.masks && it.states && {
      masks: tf.tensor1d(it.masks, "float32"),
      state: tf.tensor2d(it.states),
    }),
  };
  const inputs = {
    learningRate: tf.scalar(it.lr),
    clipRange: tf.scalar(it.clip_range),
    order: tf.tensor2d(it.permutations, undefined, "int32"),
  };
  return { batch, inputs };
}

const MEANS = [
  ...["loss", "policy_loss", "value_loss", "entropy", "approx_kl"],
  ...["clip_fraction", "grad_norm"],
];

/** Statistics of an update: means over the minibatches that stepped. */
function statisticsOf(
  { minibatches, stopped }: Case["expected"]["rollouts"][number],
  { minibatches: perEpoch }: Hyperparameters,
): Record<string, number> {
  const stepped = minibatches.filter((it) => it.stepped);
  const mean = (name: string) =>
    stepped.reduce((sum, it) => sum + it[name], 0) / stepped.length;
  return {
    ...Object.fromEntries(MEANS.map((name) => [name, mean(name)])),
    epochs_done: stepped.length / perEpoch,
    stopped_early: stopped === null ? 0 : 1,
  };
}

function runCase(
  { inputs, expected }: Case,
  comparison: Comparison,
  engine: Engine,
): void {
  const { hparams, rollouts } = inputs, model = modelOf(inputs.arch);
  const options = {
    optimizer: adam({ epsilon: hparams.adam.eps }),
    minibatches: hparams.minibatches,
    normalizeAdvantage: hparams.normalize_advantage,
    clipRangeValue: hparams.clip_range_vf,
    valueClip: hparams.value_clip ?? undefined,
    targetKl: hparams.target_kl,
    valueCoefficient: hparams.vf_coef,
    maxGradNorm: hparams.max_grad_norm,
  };
  const update = ppoUpdate(model, options);
  const targets = rollouts.map((it) => targetsOf(it, hparams));
  const given = rollouts.map((it, i) => tensorsOf(it, model, targets[i]));
  const state = actorCriticSteps(options).init(
    paramsOf(inputs.params, (name) => name),
  );
  const learner = compileStep(
    (held: typeof state, { batch, inputs }: typeof given[number]) => {
      const entropyCoefficient = tf.scalar(hparams.ent_coef);
      return update(held, batch, { ...inputs, entropyCoefficient });
    },
    { state, inputs: given[0], engine, name: "the update" },
  );
  for (const [i, it] of expected.rollouts.entries()) {
    const { advantages, returns } = targets[i];
    const explained = explainedVariance(rollouts[i].values, returns);
    comparison.named(
      { advantages, returns, explained_variance: explained },
      it as unknown as Record<string, Expected>,
    );
    const { stats } = learner.run(given[i]);
    comparison.named(stats, statisticsOf(it, hparams));
    const { policy, optimizer } = learner.read();
    comparison.arrays("parameter", policy, it.params);
    for (const slot of ["m", "v"] as const) {
      const path = (name: string) => `${slot}/${name}`;
      comparison.arrays(slot, optimizer, it.adam?.[slot] ?? {}, path);
    }
  }
  learner.close();
}

/** PPO: advantages, all minibatches of all epochs, and Adam. */
export const runner: FixtureRunner = checkEach({ cases: runCase });
