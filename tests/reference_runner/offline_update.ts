import type { AgentState, SavedState } from "@bellman/agent";
import { Dataset } from "@bellman/buffers/datasets";
import {
  adam,
  compileStep,
  type Engine,
  type Params,
  RandomStream,
} from "@bellman/compute";
import { dqnUpdate } from "@bellman/dqn";
import { bcUpdate, initIqlState, iqlModel, iqlUpdate } from "@bellman/offline";
import {
  actorCritic,
  deterministicPolicy,
  type Policy,
  qFunction,
  qPolicy,
  stochasticPolicy,
} from "@bellman/policies";
import { scheduledOverRun } from "@bellman/schedulers";
import { initTd3State, td3Update } from "@bellman/td3";
import type { BoxSpace, Space } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import type { Comparison, Expected, FixtureRunner } from "./comparison.ts";

interface DataCase {
  inputs: {
    episode_lengths: number[];
    observations: number[][];
    rewards: number[];
    gamma: number;
    best_fraction: number;
  };
  expected: Record<string, Expected>;
}

/** Expected numbers have 12 digits. */
const FLOAT64 = 1e-9;

/** Makes a data set of the case's episodes, whose last observations are not given. */
function datasetOf({ inputs }: DataCase, bestFraction: number): Dataset {
  const { episode_lengths, observations, rewards, gamma } = inputs;
  let end = 0;
  const episodes = episode_lengths.map((steps) => {
    const start = end;
    end += steps;
    const seen = observations.slice(start, end);
    const ends = new Uint8Array(steps);
    ends[steps - 1] = 1;
    return {
      observations: Float32Array.from([...seen, seen[0]].flat()),
      actions: new Int32Array(steps),
      rewards: rewards.slice(start, end),
      terminations: ends,
      truncations: new Uint8Array(steps),
    };
  });
  return new Dataset(episodes, {
    observationSpace: {
      type: "box",
      shape: [observations[0].length],
      low: -Infinity,
      high: Infinity,
      dtype: "float32",
    },
    actionSpace: { type: "discrete", n: 1 },
    holdout: 0,
    bestFraction,
    gamma,
  });
}

/** Returns, the best episodes and the statistics of observations. */
function runData(it: DataCase, comparison: Comparison): void {
  const all = datasetOf(it, 1);
  const best = datasetOf(it, it.inputs.best_fraction);
  const { mean, deviation } = all.observationStatistics;
  comparison.tolerance = FLOAT64;
  comparison.named({
    returns: all.returns,
    discounted_returns: all.discountedReturns,
    best_episodes: best.training.episodes,
    reward_scale_by_return_range: all.rewardScale,
    observation_mean: mean as Float64Array,
    observation_std_plus_eps: (deviation as Float64Array).map((x) => x + 1e-3),
  }, it.expected);
}

/** Numbers of a case by name: parameters, or tensors of a batch. */
type Numbers = Record<string, tf.TensorLike>;

interface UpdateCase {
  name: string;
  inputs: {
    arch: {
      obs_dim: number;
      hidden?: number[];
      nh?: number;
      steps?: number;
      policy?: string;
      action_dim?: number;
      actions?: number;
      action_space?: {
        type: string;
        n?: number;
        nvec?: number[];
        shape?: number[];
      };
    };
    hparams: Record<string, number> & {
      adam: { beta1: number; beta2: number; eps: number };
    };
    params: Numbers & Record<string, Numbers>;
    batches: Numbers[];
    heldout_batch: Numbers;
    dataset_observations?: number[][];
  };
  expected: { after: (Record<string, Expected> & { params?: unknown })[] };
}

/** Names of a batch's entries, ours by the fixture's. */
const ENTRIES: Record<string, string> = {
  next_observations: "nextObservations",
  action_masks: "actionMasks",
  masks: "starts",
};

/** Makes the tensors of a batch; discrete actions are whole numbers. */
function batchOf(
  numbers: Numbers,
  isDiscrete: boolean,
  change = (_: string, it: tf.Tensor) => it,
): Record<string, tf.Tensor> {
  return Object.fromEntries(
    Object.entries(numbers).map(([name, values]) => {
      const isWhole = isDiscrete && name === "actions";
      const dtype = isWhole ? "int32" : "float32";
      const tensor = tf.tensor(values, undefined, dtype);
      return [ENTRIES[name] ?? name, change(name, tensor)];
    }),
  );
}

/** Makes parameters; `drop` is left out at the start of their paths. */
function paramsOf(numbers: Numbers, drop = ""): Params {
  return Object.fromEntries(
    Object.entries(numbers).map(([path, values]) => [
      path.startsWith(drop) ? path.slice(drop.length) : path,
      tf.tensor(values, undefined, "float32"),
    ]),
  );
}

const observationsOf = (size: number) => ({
  type: "box" as const,
  shape: [size],
  low: -Infinity,
  high: Infinity,
  dtype: "float32" as const,
});

const boxOf = (size: number) => ({
  type: "box" as const,
  shape: [size],
  low: -1,
  high: 1,
  dtype: "float32" as const,
});

function actionsOf(
  { action_space, action_dim, actions }: UpdateCase["inputs"]["arch"],
): Space {
  const { type = "", n = 0, nvec = [], shape = [action_dim ?? 0] } =
    action_space ?? {};
  switch (type) {
    case "multi_discrete":
      return { type: "multiDiscrete", nvec };
    case "multi_binary":
      return { type: "multiBinary", n };
    case "discrete":
      return { type: "discrete", n };
    default:
      return actions === undefined
        ? boxOf(shape[0])
        : { type: "discrete", n: actions };
  }
}

const optimizerOf = (
  { adam: { beta1, beta2, eps } }: UpdateCase["inputs"]["hparams"],
) => adam({ beta1, beta2, epsilon: eps });

/** Takes the updates of a case, and compares each with what is expected. */
async function runUpdates<S extends AgentState>(
  it: UpdateCase,
  comparison: Comparison,
  { engine, state, update, given, compare }: {
    engine: Engine;
    state: S;
    /** Update number `k`. */
    update: (k: number) => (
      state: S,
      batch: never,
      inputs: never,
    ) => { state: S; stats: Readonly<Record<string, tf.Tensor | undefined>> };
    given: (k: number) => { batch: object; inputs: object };
    compare: (
      k: number,
      stats: Record<string, Float32Array>,
      read: () => Record<string, SavedState[string]>,
    ) => void;
  },
): Promise<void> {
  const step =
    (one: ReturnType<typeof update>) => (held: S, values: object) => {
      const { batch, inputs } = values as { batch: never; inputs: never };
      const { state, stats } = one(held, batch, inputs);
      return { state, stats };
    };
  const kinds = new Map<unknown, { run(given: object): object }>();
  const first = update(it.inputs.batches.length - 1);
  const learner = compileStep(step(first) as never, {
    ...{ state, engine, name: "the update" },
    inputs: given(0) as never,
  });
  kinds.set(first, learner as never);
  for (const k of it.inputs.batches.keys()) {
    await comparison.check(`${it.name}, update ${k}`, () => {
      const one = update(k);
      const program = kinds.get(one) ??
        learner.also(step(one) as never) as never;
      kinds.set(one, program);
      const { stats } = program.run(given(k)) as {
        stats: Record<string, Float32Array>;
      };
      compare(k, stats, () => learner.read() as never);
    });
  }
  learner.close();
}

/** Tolerances of float32: of losses, and of parameters. */
const LOSS = 2e-6, PARAMETERS = 1e-6;

function clonePolicy({ arch }: UpdateCase["inputs"]): Policy {
  const { obs_dim, hidden, nh = 0, policy } = arch;
  const spaces = {
    observationSpace: observationsOf(obs_dim),
    actionSpace: actionsOf(arch) as BoxSpace,
    network: nh > 0 ? "lstm" as const : "mlp" as const,
    networkOptions: {
      hiddenSizes: hidden,
      lstmSize: nh,
      activation: "relu" as const,
    },
  };
  if (policy === "deterministic") return deterministicPolicy(spaces);
  if (policy === "squashed") return stochasticPolicy(spaces);
  return actorCritic({ ...spaces, valueNetwork: "separate" });
}

async function runClone(
  it: UpdateCase,
  comparison: Comparison,
  engine: Engine,
): Promise<void> {
  const { hparams, params, batches, heldout_batch, arch } = it.inputs;
  const policy = clonePolicy(it.inputs), optimizer = optimizerOf(hparams);
  const isPlain = ["squashed", "deterministic"].includes(arch.policy!);
  const drop = isPlain ? "pi/" : "";
  const isDiscrete = policy.distribution.actionDtype === "int32";
  const own = {
    ...policy.init(new RandomStream(0)),
    ...paramsOf(params as Numbers, drop),
  };
  const { judge } = bcUpdate(policy, {
    optimizer,
    entropyCoefficient: hparams.entropy_coef,
    numSteps: arch.steps,
  });
  // The value's network has a state of its own, behind that of the policy.
  const padded = (name: string, it: tf.Tensor) =>
    name === "state"
      ? tf.pad(it, [[0, 0], [0, policy.stateSize - it.shape[1]!]])
      : it;
  const held = batchOf(heldout_batch, isDiscrete);
  const judged = {
    heldObservations: held.observations,
    heldActions: held.actions,
    ...held.actionMasks && { heldActionMasks: held.actionMasks },
    ...held.starts && { heldStarts: held.starts },
  };
  await runUpdates(it, comparison, {
    engine,
    state: { policy: own, slots: optimizer.init(own) },
    update: () => judge as never,
    given: (k) => ({
      batch: { ...batchOf(batches[k], isDiscrete, padded), ...judged },
      inputs: { learningRate: tf.scalar(hparams.lr) },
    }),
    compare: (k, stats, read) => {
      const wanted = it.expected.after[k];
      comparison.tolerance = LOSS;
      comparison.numbers("loss", stats.loss, wanted.loss);
      // Held-out sequences of the fixture start from another state than zeros.
      if (held.state === undefined) {
        const { heldout_loss_after: after } = wanted;
        comparison.numbers("held out", stats.heldout_loss, after);
      }
      if (wanted.params === undefined) return;
      comparison.tolerance = PARAMETERS;
      comparison.arrays(
        "policy",
        read().policy,
        wanted.params as never,
        (name) => name.replace(new RegExp(`^${drop}`), ""),
      );
    },
  });
}

async function runTd3(
  it: UpdateCase,
  comparison: Comparison,
  engine: Engine,
): Promise<void> {
  const { hparams, params, batches, arch, dataset_observations } = it.inputs;
  const spaces = {
    observationSpace: observationsOf(arch.obs_dim),
    actionSpace: boxOf(arch.action_dim!),
    networkOptions: { hiddenSizes: arch.hidden, activation: "relu" as const },
  };
  const model = { policy: deterministicPolicy(spaces), qf: qFunction(spaces) };
  const optimizer = optimizerOf(hparams);
  const { learn, critics } = td3Update(model, {
    optimizer,
    gamma: hparams.gamma,
    targetNoise: hparams.target_noise,
    targetNoiseClip: hparams.target_noise_clip,
    bcAlpha: hparams.bc_alpha,
  });
  const scaled = scaler(dataset_observations);
  const isFull = (k: number) => (k + 1) % hparams.policy_delay === 0;
  const state = {
    ...initTd3State(model, new RandomStream(0), { optimizer }),
    policy: paramsOf(params.actor, "pi/"),
    critics: paramsOf(params.critics),
    targetPolicy: paramsOf(params.target_actor, "pi/"),
    targets: paramsOf(params.target_critics),
  };
  await runUpdates(it, comparison, {
    engine,
    state,
    update: (k) => (isFull(k) ? learn : critics) as never,
    given: (k) => {
      const { noise, ...batch } = batchOf(batches[k], false, scaled);
      return {
        batch,
        inputs: {
          learningRate: tf.scalar(hparams.lr),
          tau: tf.scalar(hparams.tau),
          nextNoise: noise,
        },
      };
    },
    compare: (k, stats, read) => {
      const wanted = it.expected.after[k];
      comparison.tolerance = LOSS;
      comparison.named({
        critic_loss: stats.q_loss,
        ...isFull(k) && { policy_loss: stats.policy_loss },
      }, wanted);
      const all = wanted.params as Record<string, never> | undefined;
      if (all === undefined) return;
      comparison.tolerance = PARAMETERS;
      const found = read(), short = (name: string) => name.replace(/^pi\//, "");
      comparison.arrays("actor", found.policy, all.actor, short);
      comparison.arrays("critic", found.critics, all.critics);
      comparison.arrays("target", found.targetPolicy, all.target_actor, short);
      comparison.arrays("target", found.targets, all.target_critics);
    },
  });
}

/** Normalizes the observations of a batch by those of a data set. */
function scaler(
  data: number[][] | undefined,
): (name: string, it: tf.Tensor) => tf.Tensor {
  if (data === undefined) return (_, it) => it;
  const all = tf.tensor2d(data, undefined, "float32");
  const { mean, variance } = tf.moments(all, 0);
  const deviation = tf.add(tf.sqrt(variance), 1e-3);
  return (name, it) =>
    name.endsWith("observations") ? tf.div(tf.sub(it, mean), deviation) : it;
}

async function runIql(
  it: UpdateCase,
  comparison: Comparison,
  engine: Engine,
): Promise<void> {
  const { hparams, params, batches, arch } = it.inputs;
  const options = {
    observationSpace: observationsOf(arch.obs_dim),
    actionSpace: actionsOf(arch) as BoxSpace,
    networkOptions: { hiddenSizes: arch.hidden, activation: "relu" as const },
  };
  const made = iqlModel(options);
  const model = arch.policy === "deterministic"
    ? { ...made, policy: deterministicPolicy(options) }
    : made;
  const optimizer = optimizerOf(hparams);
  const own = {
    policy: paramsOf(params.actor, "pi/"),
    critics: paramsOf(params.critics),
    value: paramsOf(params.vf, "vf/"),
  };
  const { learn } = iqlUpdate(model, {
    ...hparams,
    ...{ optimizer, weightMax: hparams.weight_max },
  });
  const rate = scheduledOverRun(hparams.actor_lr, {
    schedule: "cosine",
    totalTimesteps: hparams.cosine_updates,
  });
  await runUpdates(it, comparison, {
    engine,
    state: {
      ...initIqlState({ init: () => own }, new RandomStream(0), { optimizer }),
      targets: paramsOf(params.target_critics),
    },
    update: () => learn as never,
    given: (k) => ({
      batch: batchOf(batches[k], arch.policy === "discrete"),
      inputs: {
        learningRate: tf.scalar(rate(k)),
        criticLearningRate: tf.scalar(hparams.q_lr),
      },
    }),
    compare: (k, stats, read) => {
      const wanted = it.expected.after[k];
      comparison.tolerance = LOSS;
      comparison.numbers("rate", rate(k), wanted.policy_learning_rate);
      comparison.named({
        q_loss: stats.q_loss,
        value_loss: stats.value_loss,
        policy_loss: stats.policy_loss,
      }, wanted);
      const rows = (wanted.weights as number[]).length;
      const clipped = Math.round(stats.clipped_weights[0] * rows);
      comparison.numbers("clipped_weights", clipped, wanted.clipped_weights);
      const all = wanted.params as Record<string, never> | undefined;
      if (all === undefined) return;
      comparison.tolerance = PARAMETERS;
      const found = read(),
        short = (name: string) => name.replace(/^(pi|vf)\//, "");
      comparison.arrays("actor", found.policy, all.actor, short);
      comparison.arrays("value", found.value, all.vf, short);
      comparison.arrays("critic", found.critics, all.critics);
      comparison.arrays("target", found.targets, all.target_critics);
    },
  });
}

async function runCql(
  it: UpdateCase,
  comparison: Comparison,
  engine: Engine,
): Promise<void> {
  const { hparams, params, batches, arch } = it.inputs;
  const policy = qPolicy({
    observationSpace: observationsOf(arch.obs_dim),
    actionSpace: { type: "discrete", n: arch.actions! },
    networkOptions: { hiddenSizes: arch.hidden, activation: "relu" },
  });
  const optimizer = optimizerOf(hparams);
  const learn = dqnUpdate(policy, {
    ...{ optimizer, gamma: hparams.gamma, cqlAlpha: hparams.cql_alpha },
    maxGradNorm: null,
  });
  const online = paramsOf(params.online, "qf/");
  await runUpdates(it, comparison, {
    engine,
    state: {
      policy: online,
      target: paramsOf(params.target, "qf/"),
      slots: optimizer.init(online),
    },
    update: () => learn as never,
    given: (k) => ({
      batch: batchOf(batches[k], true),
      inputs: { learningRate: tf.scalar(hparams.lr) },
    }),
    compare: (k, stats, read) => {
      const wanted = it.expected.after[k];
      comparison.tolerance = LOSS;
      comparison.numbers("loss", stats.loss, wanted.loss);
      if (wanted.params === undefined) return;
      comparison.tolerance = PARAMETERS;
      comparison.arrays(
        "online",
        read().policy,
        wanted.params as never,
        (name) => name.replace(/^qf\//, ""),
      );
    },
  });
}

/** Learning from recorded data: the data's own numbers, losses and all parameters. */
export const runner: FixtureRunner = async (fixture, comparison, engine) => {
  await comparison.check("data", () => runData(fixture.data, comparison));
  const runs = [
    [fixture.bc, runClone],
    [fixture.td3_bc, runTd3],
    [fixture.iql, runIql],
    [fixture.discrete_cql, runCql],
  ] as const;
  for (const [cases = [], run] of runs) {
    for (const it of cases) await run(it, comparison, engine);
  }
};
