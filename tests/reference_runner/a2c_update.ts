import { a2cLoss, a2cUpdate, initOptimizerState } from "@bellman/a2c";
import {
  disposeParams,
  type Params,
  rmspropTf1,
  valueAndGradients,
} from "@bellman/compute";
import { type ActorCritic, actorCritic } from "@bellman/policies";
import { schedule, type ScheduleName, Scheduler } from "@bellman/schedulers";
import * as tf from "@tensorflow/tfjs";
import type { Comparison, Expected, FixtureRunner } from "./comparison.ts";

const TOLERANCE = 1e-5;

type Arrays = Record<string, number[] | number[][]>;

interface Batch {
  obs: number[][];
  actions: number[];
  returns: number[];
  values: number[];
  masks?: number[];
  states?: number[][];
  lr: number;
}

interface Case {
  name: string;
  inputs: {
    arch: { kind: string; no: number; nh: number; na: number; nlayers: number };
    hparams: {
      nenvs: number;
      nsteps: number;
      ent_coef: number;
      vf_coef: number;
      max_grad_norm: number | null;
      lr: number;
      alpha: number;
      epsilon: number;
      total_timesteps: number;
      lrschedule: ScheduleName;
    };
    params: Arrays;
    batches: Batch[];
  };
  expected: { after: Record<string, Expected | Arrays>[] };
}

/** Names of the original's variables, and of ours, by path. */
function ourPath(name: string, separate: boolean): string {
  const head = name.match(/^(pi|vf)\/(w|b)$/);
  if (head) return `${head[1]}/head/${head[2] === "w" ? "kernel" : "bias"}`;
  const [tower, ...rest] = name.split("/");
  const trunk = separate ? tower : "shared";
  const inside = rest.join("/")
    .replace(/^mlp_fc(\d+)\/w$/, "dense$1/kernel")
    .replace(/^mlp_fc(\d+)\/b$/, "dense$1/bias");
  return `${trunk}/${inside}`;
}

function modelOf({ arch, params }: Case["inputs"]): ActorCritic {
  const { kind, no, nh, na, nlayers } = arch;
  return actorCritic({
    observationSpace: {
      type: "box",
      shape: [no],
      low: -Infinity,
      high: Infinity,
      dtype: "float32",
    },
    actionSpace: { type: "discrete", n: na },
    network: kind as "mlp" | "lstm" | "lnlstm",
    networkOptions: {
      hiddenSizes: new Array(nlayers ?? 0).fill(nh),
      lstmSize: nh,
    },
    valueNetwork: isSeparate(params) ? "separate" : "shared",
  });
}

function isSeparate(params: Arrays): boolean {
  return Object.keys(params).some((name) => /^vf\/.+\/./.test(name));
}

function tensorOf(values: number[] | number[][]): tf.Tensor {
  return tf.tensor(values, undefined, "float32");
}

function tensorsOf(batch: Batch) {
  const returns = tf.tensor1d(batch.returns);
  return {
    observations: tf.tensor2d(batch.obs),
    actions: tf.tensor1d(batch.actions, "int32"),
    advantages: tf.sub<tf.Tensor1D>(returns, tf.tensor1d(batch.values)),
    returns,
    ...(batch.masks && batch.states && {
      masks: tf.tensor1d(batch.masks, "float32"),
      state: tf.tensor2d(batch.states, undefined, "float32"),
    }),
  };
}

/** Every number of the forward pass, the losses and the gradients. */
function compareForward(
  comparison: Comparison,
  model: ActorCritic,
  run: {
    params: Params;
    batch: ReturnType<typeof tensorsOf>;
    hparams: Case["inputs"]["hparams"];
    expected: Record<string, Expected | Arrays>;
    pathOf: (name: string) => string;
  },
): void {
  const { params, batch, hparams, expected, pathOf } = run;
  const compare = (name: string, tensor: tf.Tensor) =>
    comparison.numbers(name, tensor.dataSync(), {
      expected: expected[name] as Expected,
      tolerance: TOLERANCE,
    });
  const { state, masks } = batch;
  const recurrence = state && masks && { state, masks };
  const { gradients, aux } = valueAndGradients((params) => {
    const { policy, value } = model.apply(
      params,
      batch.observations,
      recurrence,
    );
    const logProb = model.distribution.logProb(policy, batch.actions);
    const { loss, ...parts } = a2cLoss({
      ...batch,
      logProb,
      values: value,
      entropy: model.distribution.entropy(policy),
    }, {
      entropyCoefficient: hparams.ent_coef,
      valueCoefficient: hparams.vf_coef,
    });
    return { loss, aux: { ...parts, loss, policy, value, logProb } };
  }, params);
  compare("logits", aux.policy);
  compare("vf", aux.value);
  compare("neglogp", tf.neg(aux.logProb));
  compare("advantages", batch.advantages);
  compare("policy_loss", aux.policyLoss);
  compare("value_loss", aux.valueLoss);
  compare("entropy", aux.entropy);
  compare("loss", aux.loss);
  compareParams(comparison, "gradient of", {
    actual: gradients,
    expected: expected.grads_before_clip as Arrays,
    pathOf,
  });
}

function compareParams(
  comparison: Comparison,
  what: string,
  { actual, expected, pathOf }: {
    actual: Params;
    expected: Arrays;
    pathOf: (name: string) => string;
  },
): void {
  for (const [name, values] of Object.entries(expected)) {
    const tensor = actual[pathOf(name)];
    comparison.that(`${what} ${name} exists`, tensor !== undefined);
    if (tensor === undefined) continue;
    comparison.numbers(`${what} ${name}`, tensor.dataSync(), {
      expected: values,
      tolerance: TOLERANCE,
    });
  }
}

async function runCase(it: Case, comparison: Comparison): Promise<void> {
  const { hparams, batches } = it.inputs;
  const separate = isSeparate(it.inputs.params);
  const pathOf = (name: string) => ourPath(name, separate);
  const model = modelOf(it.inputs);
  const optimizer = rmspropTf1({
    decay: hparams.alpha,
    epsilon: hparams.epsilon,
  });
  const update = a2cUpdate(model, {
    optimizer,
    valueCoefficient: hparams.vf_coef,
    maxGradNorm: hparams.max_grad_norm,
  });
  const scheduler = new Scheduler({
    value: hparams.lr,
    numValues: hparams.total_timesteps,
    schedule: schedule(hparams.lrschedule),
  });
  let params: Params = {};
  for (const [name, values] of Object.entries(it.inputs.params)) {
    params[pathOf(name)] = tensorOf(values);
  }
  let state = initOptimizerState(params, { optimizer });
  const samples = hparams.nenvs * hparams.nsteps;
  for (const [k, numbers] of batches.entries()) {
    const expected = it.expected.after[k];
    await comparison.check(`${it.name}, update ${k}`, () => {
      const rate = scheduler.valueAt(k * samples + samples - 1);
      comparison.numbers("lr", rate, {
        expected: numbers.lr,
        tolerance: 1e-9,
      });
      const batch = tensorsOf(numbers);
      compareForward(comparison, model, {
        params,
        batch,
        hparams,
        expected,
        pathOf,
      });
      const step = update(params, state, batch, {
        learningRate: tf.scalar(rate),
        entropyCoefficient: tf.scalar(hparams.ent_coef),
      });
      disposeParams(params, state);
      params = step.params;
      state = step.optimizerState;
      const norm = step.stats.grad_norm.dataSync()[0];
      comparison.numbers("grad_norm", norm, {
        expected: expected.grad_norm as number,
        tolerance: TOLERANCE,
      });
      const limit = hparams.max_grad_norm ?? Infinity;
      comparison.that(
        "clipping as expected",
        norm > limit === Boolean(expected.clip_active),
      );
      compareParams(comparison, "parameter", {
        actual: params,
        expected: expected.params as Arrays,
        pathOf,
      });
      compareParams(comparison, "mean square of", {
        actual: state,
        expected: expected.rms as Arrays,
        pathOf: (name) => `rms/${pathOf(name)}`,
      });
    });
  }
}

/** baselines/a2c: forward pass, losses, gradients, clipping and RMSProp. */
export const a2cUpdateRunner: FixtureRunner = async (fixture, comparison) => {
  for (const it of fixture.cases as Case[]) await runCase(it, comparison);
};
