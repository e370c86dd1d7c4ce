import {
  adamTf1,
  compile,
  compileStep,
  type Engine,
  mapParams,
  type Optimizer,
} from "@bellman/compute";
import { scope } from "@bellman/policies";
import {
  criticTargets,
  normalPriorLogProb,
  type SacValueModel,
  type SacValueState,
  sacValueUpdate,
  softValues,
} from "@bellman/sac";
import * as tf from "@tensorflow/tfjs";
import {
  type Comparison,
  type FixtureRunner,
  ofUpdates,
} from "./comparison.ts";
import {
  batchOf,
  type Case,
  modelOf,
  rewardScaleAt,
  stateOf,
} from "./sac_update_case.ts";
import {
  compareNetworks,
  compareNumbers,
  expectedStats,
} from "./sac_update_expected.ts";

/** Gives back the gradients instead of the parameters. */
const gradientReader: Optimizer = {
  init: () => ({}),
  apply: (_, gradients) => ({
    params: mapParams(gradients, (it) => it.clone()),
    state: {},
  }),
};

/** What the functions say of a batch before the update. */
function forwardPass(
  { policy, qf, vf }: SacValueModel,
  { discount, action_prior }: Case["inputs"]["hparams"],
  { state, batch, rewardScale }: {
    state: Pick<SacValueState, "policy" | "critics" | "value" | "targets">;
    batch: ReturnType<typeof batchOf>;
    rewardScale: tf.Scalar;
  },
) {
  const { observations, nextObservations } = batch;
  const { distribution } = policy;
  const estimates = (actions: tf.Tensor) =>
    ["qf1", "qf2"].map((name) =>
      qf.apply(scope(state.critics, name), observations, actions)
    );
  const { policy: parameters } = policy.apply(state.policy, observations);
  const sample = distribution.sampleWithLogProb(parameters, batch.noise);
  const [q1, q2] = estimates(batch.actions);
  const [a, b] = estimates(sample.action);
  const logPrior = action_prior === "normal"
    ? normalPriorLogProb(sample.action)
    : tf.zerosLike(sample.logProb);
  const nextValues = vf.apply(state.targets, nextObservations);
  return {
    ys: criticTargets({ ...batch, nextValues }, { discount, rewardScale }),
    q1,
    q2,
    v: vf.apply(state.value, observations),
    v_next_target: nextValues,
    raw_actions: sample.raw,
    new_actions: sample.action,
    log_pi: sample.logProb,
    prior_log_prob: logPrior,
    log_target1: a,
    log_target2: b,
    v_target: softValues(tf.minimum(a, b), sample.logProb, { logPrior }),
    policy_dist: parametersOf(
      parameters,
      batch.actions.shape[1]!,
      "components" in distribution,
    ),
  };
}

/** Parameters of the policy by the fixture's names. */
function parametersOf(parameters: tf.Tensor2D, size: number, mixture: boolean) {
  const weights = mixture ? [1] : [];
  const sizes = [...weights, size, size];
  const rows = tf.reshape(parameters, [-1, mixture ? 1 + 2 * size : 2 * size]);
  const parts = tf.split(rows, sizes, 1);
  const [mu, logSig] = parts.slice(-2);
  return {
    mu,
    log_sig: tf.clipByValue(logSig, -20, 2),
    ...(mixture && { log_w: parts[0] }),
  };
}

/** The forward pass, the gradients and the update of a case, compiled. */
function compileCase(
  { inputs }: Case,
  { engine, asReleased }: { engine: Engine; asReleased: boolean },
) {
  const { hparams, batches } = inputs;
  const { beta1, beta2, eps } = hparams.adam;
  const optimizer = adamTf1({ beta1, beta2, epsilon: eps });
  const model = modelOf(inputs);
  const updateWith = (optimizer: Optimizer) =>
    sacValueUpdate(model, {
      optimizer,
      gamma: hparams.discount,
      actionPrior: hparams.action_prior,
      reparameterize: hparams.reparameterize,
      policyRegularization: hparams.policy_reg,
      haarnojaPolicyLoss: true,
      haarnojaMixtureGradient: asReleased,
    });
  const state = stateOf(inputs, model, optimizer);
  const { policy, critics, value, targets } = state;
  const weights = { policy, critics, value, targets };
  const batch = batchOf(batches[0]);
  const number = tf.scalar(0);
  const forward = compile(
    (given: Parameters<typeof forwardPass>[2]) =>
      forwardPass(model, hparams, given),
    {
      inputs: { state: weights, batch, rewardScale: number },
      engine,
      name: "the forward pass",
    },
  );
  const hyperparameters = {
    learningRate: number,
    tau: number,
    rewardScale: number,
  };
  const given = { batch, hyperparameters };
  const gradients = compile(
    ({ weights: held, ...given }: {
      weights: typeof weights;
      batch: typeof batch;
      hyperparameters: typeof hyperparameters;
    }) => {
      const slots = { policySlots: {}, criticSlots: {}, valueSlots: {} };
      const { state } = updateWith(gradientReader)(
        { ...held, ...slots },
        given.batch,
        { ...given.hyperparameters, noise: given.batch.noise },
      );
      const { policy, critics, value } = state;
      return { policy, critics, value };
    },
    { inputs: { weights, ...given }, engine, name: "the gradients" },
  );
  const update = updateWith(optimizer);
  const learner = compileStep(
    (held: SacValueState, { batch, hyperparameters }: typeof given) =>
      update(held, batch, { ...hyperparameters, noise: batch.noise }),
    { state, inputs: given, engine, name: "the update" },
  );
  return { forward, gradients, learner };
}

async function runCase(
  it: Case,
  comparison: Comparison,
  { engine, asReleased }: { engine: Engine; asReleased: boolean },
): Promise<void> {
  const { hparams, batches } = it.inputs;
  const { forward, gradients, learner } = compileCase(it, {
    engine,
    asReleased,
  });
  const name = asReleased ? `${it.name}, as released` : it.name;
  for (const [k, numbers] of batches.entries()) {
    await comparison.check(`${name}, update ${k}`, () => {
      const batch = batchOf(numbers);
      const { iteration } = numbers;
      const moves = iteration % hparams.target_update_interval === 0;
      const hyperparameters = {
        learningRate: hparams.lr,
        tau: moves ? hparams.tau : 0,
        rewardScale: rewardScaleAt(hparams.scale_reward, iteration),
      };
      const { policy, critics, value, targets } = learner.state;
      const weights = { policy, critics, value, targets };
      const { rewardScale } = hyperparameters;
      const before = forward.run({ state: weights, batch, rewardScale });
      const descent = gradients.run({ weights, batch, hyperparameters });
      const { stats } = learner.run({ batch, hyperparameters });
      const after = learner.read();
      if (asReleased) {
        const expected = it.expected.after_as_released_gmm![k];
        const { policy_loss } = stats;
        const { policy_grads_first } = expected;
        compareNumbers(comparison, { policy_loss }, expected);
        compareNetworks(comparison, "parameters of", {
          actual: after,
          expected: expected.params,
        });
        compareNetworks(comparison, "gradient of", {
          actual: descent,
          expected: policy_grads_first ? { policy: policy_grads_first } : {},
        });
      } else {
        const expected = it.expected.after[k];
        comparison.that(
          "the target moves as expected",
          moves === expected.target_updated,
        );
        compareNumbers(comparison, before, expected);
        compareNumbers(comparison, stats, ofUpdates(expectedStats(expected)));
        compareNetworks(comparison, "parameters of", {
          actual: after,
          expected: expected.params,
        });
        compareNetworks(comparison, "gradient of", {
          actual: descent,
          expected: expected.grads ?? {},
        });
      }
    });
  }
  learner.close();
}

/** haarnoja/sac: samples, targets, losses, gradients and all parameters. */
export const sacUpdateRunner: FixtureRunner = async (
  fixture,
  comparison,
  engine,
) => {
  for (const it of fixture.cases as Case[]) {
    await runCase(it, comparison, { engine, asReleased: false });
    if (it.expected.after_as_released_gmm === undefined) continue;
    await runCase(it, comparison, { engine, asReleased: true });
  }
};
