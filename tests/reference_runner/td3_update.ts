import { noisyActions } from "@bellman/agent";
import { adam, compileStep, type Engine, RandomStream } from "@bellman/compute";
import { deterministicPolicy, envActions, qFunction } from "@bellman/policies";
import { initTd3State, td3Update } from "@bellman/td3";
import * as tf from "@tensorflow/tfjs";
import { type Arrays, paramsOf } from "./baselines_model.ts";
import type { Comparison, Expected, FixtureRunner } from "./comparison.ts";
import { spacesOf, transitionsOf } from "./sac_networks.ts";

type Networks = Record<
  "actor" | "critics" | "target_actor" | "target_critics",
  Arrays
>;

interface Case {
  name: string;
  inputs: {
    arch: {
      obs_dim: number;
      action_dim: number;
      hidden: number[];
      critics: number;
    };
    hparams: {
      gamma: number;
      tau: number;
      policy_delay: number;
      target_noise: number;
      target_noise_clip: number;
      lr: number;
      adam: { beta1: number; beta2: number; eps: number };
    };
    params: Networks;
    batches: Record<string, number[] | number[][]>[];
  };
  expected: {
    after: {
      q: number[][];
      target_q: number[];
      critic_loss: number;
      actor_updated: boolean;
      actor_loss?: number;
      critic_grads?: Arrays;
      /** Left out after some updates. */
      params?: Networks;
    }[];
  };
}

interface Acting {
  inputs: Record<"mean" | "noise", number[][]> & {
    sigma: number;
    low: number[];
    high: number[];
  };
  expected: Record<"stored_actions" | "env_actions", number[][]>;
}

/** Paths of a policy's parameters, which are a part of their own. */
const ofPolicy = (name: string) => name.replace(/^pi\//, "");

function stateOf({ params }: Case["inputs"]) {
  const own = (name: string) => name;
  return {
    policy: paramsOf(params.actor, ofPolicy),
    critics: paramsOf(params.critics, own),
    targetPolicy: paramsOf(params.target_actor, ofPolicy),
    targets: paramsOf(params.target_critics, own),
  };
}

function givenOf(
  numbers: Case["inputs"]["batches"][number],
  { lr, tau, target_noise }: Case["inputs"]["hparams"],
) {
  const { batch, tensor } = transitionsOf(numbers);
  const inputs = {
    learningRate: tf.scalar(lr),
    tau: tf.scalar(tau),
    ...(target_noise > 0 && { nextNoise: tensor<tf.Tensor2D>("noise") }),
  };
  return { batch, inputs };
}

/** Means of rows over the critics, by what the update returns of them. */
function statisticsOf({ q, target_q }: Case["expected"]["after"][number]) {
  const mean = (numbers: number[]) =>
    numbers.reduce((sum, it) => sum + it, 0) / numbers.length;
  return {
    means: q.map(mean),
    errors: target_q.map((y, row) =>
      mean(q.map((values) => Math.abs(y - values[row])))
    ),
  };
}

function compileCase({ inputs }: Case, engine: Engine) {
  const { arch, hparams, batches } = inputs, spaces = spacesOf(arch);
  const model = {
    policy: deterministicPolicy(spaces),
    qf: qFunction(spaces),
  };
  const { beta1, beta2, eps } = hparams.adam;
  const options = {
    optimizer: adam({ beta1, beta2, epsilon: eps }),
    gamma: hparams.gamma,
    targetNoise: hparams.target_noise,
    targetNoiseClip: hparams.target_noise_clip,
    numCritics: arch.critics,
  };
  const state = {
    ...initTd3State(model, new RandomStream(0), options),
    ...stateOf(inputs),
  };
  type Given = ReturnType<typeof givenOf>;
  const { learn, critics } = td3Update(model, options);
  const step = (update: typeof learn) => (held: typeof state, it: Given) => {
    const { results = {}, ...after } = update(held, it.batch, it.inputs);
    return { ...after, state: after.state as typeof state, results };
  };
  const given = givenOf(batches[0], hparams);
  const learner = compileStep(step(learn), {
    state,
    inputs: given,
    engine,
    name: "the update",
  });
  return { learner, critics: learner.also(step(critics)) };
}

async function runCase(
  it: Case,
  comparison: Comparison,
  engine: Engine,
): Promise<void> {
  const { hparams, batches } = it.inputs;
  const { learner, critics } = compileCase(it, engine);
  for (const [k, numbers] of batches.entries()) {
    const expected = it.expected.after[k];
    await comparison.check(`${it.name}, update ${k}`, () => {
      const isFull = (k + 1) % hparams.policy_delay === 0;
      comparison.numbers("actor_updated", +isFull, +expected.actor_updated);
      const { stats, results } = (isFull ? learner : critics)
        .run(givenOf(numbers, hparams)) as Record<
          string,
          Record<string, Float32Array>
        >;
      const { means, errors } = statisticsOf(expected);
      means.forEach((mean, i) =>
        comparison.numbers(`q${i + 1}`, stats[`q${i + 1}_mean`], mean)
      );
      comparison.numbers("errors", results.tdErrors, errors);
      comparison.named({
        critic_loss: stats.q_loss,
        ...(isFull && { actor_loss: stats.policy_loss }),
      }, expected as unknown as Record<string, Expected>);
      const state = learner.read(), { params } = expected;
      const scale = 1 / (1 - hparams.adam.beta1); // of the first update
      for (
        const [path, wanted] of Object.entries(expected.critic_grads ?? {})
      ) {
        const { data } = state.criticSlots[`m/${path}`];
        comparison.numbers(`gradient ${path}`, data, wanted, { scale });
      }
      if (params === undefined) return;
      comparison.arrays("actor", state.policy, params.actor, ofPolicy);
      comparison.arrays("critic", state.critics, params.critics);
      const { target_actor, target_critics } = params;
      comparison.arrays("target", state.targetPolicy, target_actor, ofPolicy);
      comparison.arrays("target", state.targets, target_critics);
    });
  }
  learner.close();
}

/** Actions with given noise, as they are stored and as the environment takes them. */
function runActing({ inputs, expected }: Acting, comparison: Comparison): void {
  const { mean, noise, sigma, low, high } = inputs;
  const shape = [low.length], numEnvs = mean.length;
  const actionSpace = {
    type: "box",
    shape,
    low,
    high,
    dtype: "float32",
  } as const;
  const random = new RandomStream(0), left = noise.flat();
  random.normal = () => left.shift()!;
  const explorer = noisyActions({ actionSpace, numEnvs }, {
    explorationNoise: sigma,
    explorationNoiseType: "gaussian",
    learningStarts: 0,
  });
  const stored = explorer.act({
    progress: { steps: 0, updates: 0, fraction: 0 },
    random,
    sample: () => Float32Array.from(mean.flat()),
  });
  comparison.named({
    stored_actions: stored,
    env_actions: envActions(actionSpace, { squashed: true })(stored),
  }, expected);
}

/** TD3 and DDPG: errors, losses, all parameters, and noisy actions. */
export const runner: FixtureRunner = async (fixture, comparison, engine) => {
  for (const it of fixture.cases as Case[]) {
    await runCase(it, comparison, engine);
  }
  await comparison.check("acting", () => runActing(fixture.acting, comparison));
};
