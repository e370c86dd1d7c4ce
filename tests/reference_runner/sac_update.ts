import {
  adamTf1,
  compile,
  compileStep,
  type Engine,
  mapParams,
  type Optimizer,
} from "@bellman/compute";
import { criticTargets, pickPrefix } from "@bellman/policies";
import { softValues } from "@bellman/sac";
import {
  normalPriorLogProb,
  type SacV1Model,
  type SacV1State,
  sacV1Update,
} from "@bellman/sac-v1";
import * as tf from "@tensorflow/tfjs";
import {
  type Comparison,
  type Expected,
  type FixtureRunner,
  flat,
  ofUpdates,
} from "./comparison.ts";
import {
  type After,
  batchOf,
  type Case,
  modelOf,
  type Networks,
  rewardScaleAt,
  stateOf,
} from "./sac_update_case.ts";
import { byPath } from "./sac_networks.ts";

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
  { policy, qf, vf }: SacV1Model,
  { discount, action_prior }: Case["inputs"]["hparams"],
  { state, batch, rewardScale }: {
    state: Pick<SacV1State, "policy" | "critics" | "value" | "targets">;
    batch: ReturnType<typeof batchOf>;
    rewardScale: tf.Scalar;
  },
) {
  const { observations, nextObservations } = batch;
  const { distribution } = policy;
  const estimates = (actions: tf.Tensor) =>
    ["qf1", "qf2"].map((name) =>
      qf.apply(pickPrefix(state.critics, name), observations, actions)
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
    v_target: softValues(tf.minimum<tf.Tensor1D>(a, b), sample.logProb, {
      logPrior,
    }),
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
    sacV1Update(model, {
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
    (held: SacV1State, { batch, hyperparameters }: typeof given) =>
      update(held, batch, { ...hyperparameters, noise: batch.noise }),
    { state, inputs: given, engine, name: "the update" },
  );
  return { forward, gradients, learner };
}

/** Mean and standard deviation of some numbers of a fixture. */
function momentsOf(expected: Expected): [mean: number, deviation: number] {
  const numbers = flat(expected);
  const mean = numbers.reduce((sum, it) => sum + it, 0) / numbers.length;
  const square = numbers.reduce((sum, it) => sum + (it - mean) ** 2, 0);
  return [mean, Math.sqrt(square / numbers.length)];
}

/** Computes the statistics of the update, by the names of the original. */
function expectedStats(expected: After): Record<string, number> {
  const [q1, q2] = [flat(expected.q1), flat(expected.q2)];
  const differences = q1.map((it, i) => Math.abs(it - q2[i]));
  const [[a, b], [c, d], [e, f]] = [q1, q2, expected.v].map(momentsOf);
  return {
    "qf1-avg": a,
    "qf1-std": b,
    "qf2-avg": c,
    "qf2-std": d,
    "mean-qf-diff": momentsOf(differences)[0],
    "vf-avg": e,
    "vf-std": f,
    "mean-sq-bellman-error1": Number(expected.td_loss1),
    "mean-sq-bellman-error2": Number(expected.td_loss2),
    vf_loss: Number(expected.vf_loss),
    policy_loss: Number(expected.policy_loss),
    policy_kl_loss: Number(expected.policy_kl_loss),
    policy_reg_loss: Number(expected.policy_reg_loss),
    entropy: -momentsOf(expected.log_pi)[0],
  };
}

type Arrays = Parameters<Comparison["arrays"]>[1];

/** Parameters, or gradients, of those networks that the fixture has. */
function compareNetworks(
  comparison: Comparison,
  what: string,
  actual: Record<"policy" | "critics" | "value", Arrays> & {
    targets?: Arrays;
  },
  expected: Partial<Networks>,
): void {
  const places = {
    policy: [actual.policy, ""],
    qf1: [actual.critics, "qf1/"],
    qf2: [actual.critics, "qf2/"],
    vf: [actual.value, ""],
    target_vf: [actual.targets ?? {}, ""],
  } as const;
  for (const name of Object.keys(expected) as (keyof Networks)[]) {
    const [arrays, prefix] = places[name];
    comparison.arrays(
      `${what} ${name}`,
      arrays,
      byPath(expected[name]!),
      (path) => prefix + path,
    );
  }
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
        const { policy_loss, policy_grads_first: policy } = expected;
        comparison.numbers("policy_loss", stats.policy_loss, policy_loss);
        compareNetworks(comparison, "parameters of", after, expected.params);
        const first = policy ? { policy } : {};
        compareNetworks(comparison, "gradient of", descent, first);
        return;
      }
      const expected = it.expected.after[k];
      const { target_updated, params, grads } = expected;
      comparison.that("the target moves as expected", moves === target_updated);
      const { policy_dist, ...numbersBefore } = before;
      comparison.named(numbersBefore, expected as Record<string, Expected>);
      comparison.named(policy_dist, expected.policy_dist as never);
      comparison.named(stats, ofUpdates(expectedStats(expected)));
      compareNetworks(comparison, "parameters of", after, params);
      compareNetworks(comparison, "gradient of", descent, grads ?? {});
    });
  }
  learner.close();
}

/** haarnoja/sac: samples, targets, losses, gradients and all parameters. */
export const runner: FixtureRunner = async (fixture, comparison, engine) => {
  for (const it of fixture.cases as Case[]) {
    await runCase(it, comparison, { engine, asReleased: false });
    if (it.expected.after_as_released_gmm === undefined) continue;
    await runCase(it, comparison, { engine, asReleased: true });
  }
};
