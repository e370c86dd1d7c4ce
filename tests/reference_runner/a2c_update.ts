import { a2cLoss, a2cUpdate, initA2CState } from "@bellman/a2c";
import {
  compile,
  compileStep,
  type Engine,
  type Params,
  rmspropTf1,
  valueAndGradients,
} from "@bellman/compute";
import { type ActorCritic, actorCritic } from "@bellman/policies";
import { schedule, type ScheduleName, Scheduler } from "@bellman/schedulers";
import * as tf from "@tensorflow/tfjs";
import {
  type Arch,
  type Arrays,
  modelOptions,
  paramsOf,
  pathOf,
} from "./baselines_model.ts";
import type { Comparison, Expected, FixtureRunner } from "./comparison.ts";

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
    arch: Arch;
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

function modelOf({ arch, params }: Case["inputs"]): ActorCritic {
  return actorCritic({
    ...modelOptions(arch),
    valueNetwork: isSeparate(params) ? "separate" : "shared",
  });
}

function isSeparate(params: Arrays): boolean {
  return Object.keys(params).some((name) => /^vf\/.+\/./.test(name));
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

/** Everything that the forward pass, the losses and their gradient give. */
function forwardPass(
  model: ActorCritic,
  { params, batch, hparams }: {
    params: Params;
    batch: ReturnType<typeof tensorsOf>;
    hparams: Case["inputs"]["hparams"];
  },
) {
  const { gradients, aux } = valueAndGradients((params) => {
    const { policy, value } = model.apply(params, batch.observations, batch);
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
  return {
    logits: aux.policy,
    vf: aux.value,
    neglogp: tf.neg(aux.logProb),
    advantages: batch.advantages,
    policy_loss: aux.policyLoss,
    value_loss: aux.valueLoss,
    entropy: aux.entropy,
    loss: aux.loss,
    gradients,
  };
}

/** The forward pass and the update of a case, compiled. */
function compileCase(it: Case, engine: Engine) {
  const { hparams, batches } = it.inputs;
  const separate = isSeparate(it.inputs.params);
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
  const params = paramsOf(it.inputs.params, (name) => pathOf(name, separate));
  const batch = tensorsOf(batches[0]);
  const state = initA2CState(params, { optimizer });
  const forward = compile(
    (given: { params: Params; batch: typeof batch }) =>
      forwardPass(model, { ...given, hparams }),
    { inputs: { params, batch }, engine, name: "the forward pass" },
  );
  const inputs = { batch, learningRate: tf.scalar(hparams.lr) };
  const learner = compileStep((held: typeof state, given: typeof inputs) => {
    const { batch, learningRate } = given;
    const { state, stats } = update(held, batch, {
      learningRate,
      entropyCoefficient: tf.scalar(hparams.ent_coef),
    });
    return { state, grad_norm: stats.grad_norm };
  }, { state, inputs, engine, name: "the update" });
  return { forward, learner };
}

async function runCase(
  it: Case,
  comparison: Comparison,
  engine: Engine,
): Promise<void> {
  const { hparams, batches } = it.inputs;
  const separate = isSeparate(it.inputs.params);
  const path = (name: string) => pathOf(name, separate);
  const scheduler = new Scheduler({
    value: hparams.lr,
    numValues: hparams.total_timesteps,
    schedule: schedule(hparams.lrschedule),
  });
  const { forward, learner } = compileCase(it, engine);
  const samples = hparams.nenvs * hparams.nsteps;
  for (const [k, numbers] of batches.entries()) {
    const expected = it.expected.after[k];
    await comparison.check(`${it.name}, update ${k}`, () => {
      const rate = scheduler.valueAt(k * samples + samples - 1);
      comparison.numbers("lr", rate, numbers.lr, { tolerance: 1e-9 });
      const batch = tensorsOf(numbers);
      const { policy: params } = learner.state;
      const { gradients, ...given } = forward.run({ params, batch });
      comparison.named(given, expected as Record<string, Expected>);
      const before = expected.grads_before_clip as Arrays;
      comparison.arrays("gradient of", gradients, before, path);
      const { grad_norm: [norm] } = learner.run(
        { batch, learningRate: rate },
      );
      comparison.numbers("grad_norm", norm, expected.grad_norm as number);
      const limit = hparams.max_grad_norm ?? Infinity;
      comparison.that(
        "clipping as expected",
        norm > limit === Boolean(expected.clip_active),
      );
      const after = learner.read();
      const { params: moved, rms } = expected as Record<string, Arrays>;
      comparison.arrays("parameter", after.policy, moved, path);
      const square = (name: string) => `rms/${path(name)}`;
      comparison.arrays("mean square of", after.optimizer, rms, square);
    });
  }
  learner.close();
}

/** baselines/a2c: forward pass, losses, gradients, clipping and RMSProp. */
export const runner: FixtureRunner = async (fixture, comparison, engine) => {
  for (const it of fixture.cases as Case[]) {
    await runCase(it, comparison, engine);
  }
};
