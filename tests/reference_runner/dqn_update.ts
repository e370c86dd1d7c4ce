import { ReplayBuffer } from "@bellman/buffers";
import {
  adam,
  compile,
  compileStep,
  type Engine,
  type Params,
  valueAndGradients,
} from "@bellman/compute";
import {
  defaultDqnConfig,
  dqn,
  dqnUpdate,
  projected,
  type ReturnForm,
  returnForm,
} from "@bellman/dqn";
import {
  factorizedNoise,
  noisyLayer,
  type QPolicy,
  qPolicy,
} from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import { buildContext } from "../testdata/build_context.ts";
import { type Arrays, paramsOf } from "./baselines_model.ts";
import {
  checkEach,
  type Comparison,
  type Expected,
  type FixtureRunner,
} from "./comparison.ts";

/** Normal numbers of each noisy layer, in the order of the layers. */
type Noise = Record<string, { in: number[]; out: number[] }>;

interface Batch {
  observations: number[][];
  actions: number[];
  rewards: number[];
  next_observations: number[][];
  terminated: number[];
  discounts?: number[];
  weights?: number[];
  noise?: Record<"online" | "selection" | "target", Noise>;
}

interface Case {
  inputs: {
    arch: {
      kind: "value" | "categorical" | "quantile";
      obs_dim: number;
      actions: number;
      hidden: number[];
      stream_hidden?: number[];
      dueling: boolean;
      noisy: boolean;
      atoms: number;
    };
    hparams: {
      gamma: number;
      double: boolean;
      loss: string;
      tau: number;
      target_update_interval: number;
      max_grad_norm: number | null;
      lr: number;
      adam: { eps: number };
      v_min?: number;
      v_max?: number;
    };
    params: Arrays;
    target: Arrays;
    batches: Batch[];
  };
  expected: {
    after: {
      loss: number;
      grad_norm: number;
      priorities: Expected;
      q?: Expected;
      params?: Arrays;
      target?: Arrays;
    }[];
  };
}

function modelOf({ arch, hparams }: Case["inputs"]): {
  policy: QPolicy;
  returns: ReturnForm;
} {
  const returns = returnForm({
    values: arch.kind === "value" ? "mean" : arch.kind,
    atoms: arch.atoms,
    valueRange: [hparams.v_min ?? 0, hparams.v_max ?? 1],
    loss: hparams.loss === "mse" ? "mse" : "huber",
  });
  const policy = qPolicy({
    ...returns,
    observationSpace: {
      type: "box",
      shape: [arch.obs_dim],
      low: -Infinity,
      high: Infinity,
      dtype: "float32",
    },
    actionSpace: { type: "discrete", n: arch.actions },
    network: "mlp",
    networkOptions: {
      hiddenSizes: [...arch.hidden, ...arch.stream_hidden ?? []],
    },
    dueling: arch.dueling,
    ...(arch.noisy && { sigma0: 0.5 }),
  });
  return { policy, returns };
}

const rowOf = (noise: Noise): number[] =>
  Object.values(noise).flatMap((it) => [...it.in, ...it.out]);

/** Inputs of an update. */
function tensorsOf(it: Batch, { hparams }: Case["inputs"], update: number) {
  const { target_update_interval: interval, tau, lr } = hparams;
  const rows = it.noise &&
    [it.noise.online, it.noise.selection, it.noise.target].map(rowOf);
  return {
    batch: {
      observations: tf.tensor2d(it.observations),
      nextObservations: tf.tensor2d(it.next_observations),
      actions: tf.tensor1d(it.actions, "int32"),
      rewards: tf.tensor1d(it.rewards),
      terminated: tf.tensor1d(it.terminated, "float32"),
      ...(it.discounts && { discounts: tf.tensor1d(it.discounts) }),
      ...(it.weights && { weights: tf.tensor1d(it.weights) }),
    },
    inputs: {
      learningRate: tf.scalar(lr),
      tau: tf.scalar(update % interval === 0 ? tau : 0),
      ...(rows && { noise: tf.tensor2d(rows) }),
    },
  };
}

function runUpdates(
  { inputs, expected }: Case,
  comparison: Comparison,
  engine: Engine,
): void {
  const { hparams, batches } = inputs, { policy, returns } = modelOf(inputs);
  const optimizer = adam({ epsilon: hparams.adam.eps });
  const update = dqnUpdate(policy, {
    returns,
    optimizer,
    double: hparams.double,
    gamma: hparams.gamma,
    maxGradNorm: hparams.max_grad_norm,
  });
  const params = paramsOf(inputs.params, (name) => name);
  const state = {
    policy: params,
    target: paramsOf(inputs.target, (name) => name),
    slots: optimizer.init(params),
  };
  const given = batches.map((it, i) => tensorsOf(it, inputs, i + 1));
  const learner = compileStep(
    (held: typeof state, { batch, inputs }: typeof given[number]) => {
      const { observations } = batch;
      const noise = inputs.noise && tf.slice(inputs.noise, 0, 1) as tf.Tensor2D;
      const outputs = policy.outputs(held.policy, observations, noise);
      const q = policy.values(outputs), made = update(held, batch, inputs);
      return { ...made, results: { ...made.results, q } };
    },
    { state, inputs: given[0], engine, name: "the update" },
  );
  for (const [i, it] of expected.after.entries()) {
    const { stats, results } = learner.run(given[i]);
    const { loss, grad_norm } = stats, { tdErrors: priorities, q } = results;
    comparison.named(
      { loss, grad_norm, priorities, ...(it.q && { q }) },
      it as unknown as Record<string, Expected>,
    );
    const { policy, target } = learner.read();
    comparison.arrays("parameter", policy, it.params ?? {});
    comparison.arrays("target", target, it.target ?? {});
  }
  learner.close();
}

function runProjection(
  { inputs, expected }: {
    inputs: {
      v_min: number;
      v_max: number;
      rewards: number[];
      discounts: number[];
      probabilities: number[][];
    };
    expected: { target: Expected };
  },
  comparison: Comparison,
  engine: Engine,
): void {
  const { v_min, v_max } = inputs;
  const given = {
    probabilities: tf.tensor2d(inputs.probabilities),
    rewards: tf.tensor1d(inputs.rewards),
    discounts: tf.tensor1d(inputs.discounts),
  };
  const compiled = compile(
    ({ probabilities, ...backup }: typeof given) =>
      projected(probabilities, { ...backup, range: [v_min, v_max] }),
    { inputs: given, engine, name: "the projection" },
  );
  const { targets } = compiled.run(given);
  comparison.numbers("target", targets as Float32Array, expected.target);
}

function runNoisyLayer(
  { inputs, expected }: {
    inputs: {
      params: Arrays;
      x: number[][];
      noise: { in: number[]; out: number[] };
      cotangent: number[][];
    };
    expected: { y: Expected; y_without_noise: Expected; gradients: Arrays };
  },
  comparison: Comparison,
  engine: Engine,
): void {
  const rows = inputs.x.length;
  // The same noise for all rows as one row, and as one for each.
  for (const copies of [1, rows]) {
    const given = {
      params: paramsOf(inputs.params, (name) => name),
      x: tf.tensor2d(inputs.x),
      into: tf.tensor2d(Array(copies).fill(inputs.noise.in)),
      out: tf.tensor2d(Array(copies).fill(inputs.noise.out)),
      cotangent: tf.tensor2d(inputs.cotangent),
    };
    const compiled = compile((all) => {
      const { params, x, into, out, cotangent } =
        all as unknown as typeof given;
      const noise = {
        inputs: factorizedNoise(into),
        outputs: factorizedNoise(out),
      };
      const apply = (params: Params) =>
        noisyLayer(params, "layer", { x, noise });
      const { gradients } = valueAndGradients(
        (it) => ({ loss: tf.sum(tf.mul(apply(it), cotangent)) }),
        params,
      );
      return {
        y: apply(params),
        y_without_noise: noisyLayer(params, "layer", { x }),
        gradients,
      };
    }, { inputs: given as never, engine, name: "the layer" });
    const { gradients, ...outputs } = compiled.run(given as never);
    comparison.named(outputs as never, expected as never);
    comparison.arrays("gradient", gradients as never, expected.gradients);
  }
}

function runSteps(
  { inputs, expected }: {
    inputs: {
      n_steps: number;
      gamma: number;
      rewards: number[];
      terminated: number[];
      truncated: number[];
    };
    expected: {
      rows: {
        reward: number;
        discount: number;
        terminated: number;
        next_after_step: number;
      }[];
    };
  },
  comparison: Comparison,
): void {
  const { rewards, terminated, truncated } = inputs;
  const number = { shape: [], dtype: "float32" } as const;
  const flag = { shape: [], dtype: "uint8" } as const;
  const buffer = new ReplayBuffer({
    capacity: rewards.length,
    fields: {
      observation: number,
      reward: number,
      terminated: flag,
      truncated: flag,
    },
    episodes: {
      next: { nextObservation: "observation" },
      nStep: { steps: inputs.n_steps, gamma: inputs.gamma },
    },
  });
  rewards.forEach((reward, step) =>
    buffer.add({
      // Observations that come after a step have its number.
      observation: Float32Array.of(step - 1),
      nextObservation: Float32Array.of(step),
      reward: Float32Array.of(reward),
      terminated: Uint8Array.of(terminated[step]),
      truncated: Uint8Array.of(truncated[step]),
    })
  );
  const rows = buffer.gather(rewards.map((_, slot) => slot));
  const compare = (field: string, wanted: Expected) =>
    comparison.numbers(
      field,
      rows[field as keyof typeof rows] as Float32Array,
      wanted,
    );
  const { rows: wanted } = expected;
  compare("reward", wanted.map((it) => it.reward));
  compare("discount", wanted.map((it) => it.discount));
  compare("terminated", wanted.map((it) => it.terminated));
  compare("nextObservation", wanted.map((it) => it.next_after_step));
}

/** Exploration rates by the steps of a run. */
function runExploration(
  { inputs, expected }: {
    inputs: Record<"initial" | "final" | "fraction" | "total", number> & {
      steps: number[];
    };
    expected: Expected;
  },
  comparison: Comparison,
): void {
  const spaces = {
    observationSpace: { type: "discrete", n: 2 },
    actionSpace: { type: "discrete", n: 2 },
    numEnvs: 1,
  } as const;
  const parts = dqn.build({
    ...defaultDqnConfig,
    initialEpsilon: inputs.initial,
    finalEpsilon: inputs.final,
    explorationFraction: inputs.fraction,
  }, buildContext(spaces, inputs.total));
  const none = () => ({ data: new Float32Array(), shape: [] });
  const rates = inputs.steps.map((steps) => {
    const fraction = steps / inputs.total;
    return +parts.inputs({ steps, updates: 0, fraction }, none).epsilon;
  });
  comparison.numbers("epsilon", rates, expected);
}

const lists = checkEach({
  updates: runUpdates,
  n_step: runSteps,
  projection: runProjection,
  noisy_layer: runNoisyLayer,
});

/** DQN: updates of every form, n-step rows, projection, noisy layer and exploration. */
export const runner: FixtureRunner = async (fixture, comparison, engine) => {
  await lists(fixture, comparison, engine);
  await comparison.check(
    "exploration",
    () => runExploration(fixture.exploration, comparison),
  );
};
