import {
  adam,
  compileStep,
  type Engine,
  type Params,
  RandomStream,
  type StateArrays,
} from "@bellman/compute";
import {
  normalizedMlp,
  qFunction,
  quantileLosses,
  stochasticPolicy,
} from "@bellman/policies";
import {
  initSacState,
  type SacInputs,
  type SacModel,
  type SacState,
  sacUpdate,
  type SacUpdateOptions,
} from "@bellman/sac";
import * as tf from "@tensorflow/tfjs";
import type { Comparison, Expected, FixtureRunner } from "./comparison.ts";
import { spacesOf, transitionsOf } from "./sac_networks.ts";

type Numbers = number | number[] | number[][] | number[][][];
type Arrays = Record<string, Numbers>;
type Masks = Record<string, number[][][]>;

interface Case {
  name: string;
  inputs: {
    arch: {
      obs_dim: number;
      action_dim: number;
      hidden: number[];
      critics: number;
      quantiles?: number;
    };
    hparams: {
      form: "tqc" | "crossq" | "redq" | "droq";
      lr: number;
      gamma: number;
      tau?: number;
      beta1: number;
      temperature_beta1?: number;
      policy_delay: number;
      target_entropy: number;
      actor_over: "mean" | "min";
      init_log_alpha: number;
      log_std_min: number;
      log_std_max: number;
      drop?: number;
      normalization?: "batch" | "layer";
      dropout?: number;
      warmup_steps?: number;
    };
    params: Record<"policy" | "critics", Arrays> & { targets?: Arrays };
    running?: Record<"policy" | "critics", Arrays>;
    batches: (Record<string, Numbers> & {
      subset?: number[];
      dropout_masks?: Record<"targets" | "critics" | "actor", Masks>;
    })[];
  };
  expected: {
    after: (Record<string, Expected> & {
      critic_gradients?: Record<string, Expected>;
      params?: Record<"policy" | "critics" | "targets", Arrays>;
      running?: Record<"policy" | "critics", Arrays>;
    })[];
  };
}

/** Path of a running statistic: `qf1/norm0/mean` is `qf1/running/norm0/mean`. */
const runningPath = (name: string) => name.replace(/norm/, "running/norm");

/** Makes tensors of arrays, by path. */
function paramsOf(
  arrays: Arrays = {},
  path = (name: string): string => name,
): Params {
  const params: Params = {};
  for (const [name, numbers] of Object.entries(arrays)) {
    params[path(name)] = tf.tensor(numbers, undefined, "float32");
  }
  return params;
}

function modelOf({ arch, hparams }: Case["inputs"]): SacModel {
  const { normalization, warmup_steps: warmupUpdates, dropout } = hparams;
  const options = { ...spacesOf(arch), warmupUpdates, normalization };
  return {
    policy: stochasticPolicy({
      ...options,
      normalization: normalization === "batch" ? "batch" : "none",
      logStdBounds: [hparams.log_std_min, hparams.log_std_max],
      squashCorrection: "epsilon",
    }),
    qf: qFunction({ ...options, dropout, quantiles: arch.quantiles }),
  };
}

function optionsOf({ hparams, batches }: Case["inputs"]): SacUpdateOptions {
  const { beta1, temperature_beta1: ofTemperature = 0.9 } = hparams;
  return {
    optimizer: adam({ beta1 }),
    temperatureOptimizer: adam({ beta1: ofTemperature }),
    gamma: hparams.gamma,
    targetEntropy: hparams.target_entropy,
    droppedQuantiles: hparams.drop,
    targetCritics: batches[0].subset?.length ?? null,
    targetNetworks: hparams.form !== "crossq",
    policyValue: hparams.actor_over === "mean" ? "mean" : "smallest",
  };
}

function stateOf(
  { params, running, hparams, arch }: Case["inputs"],
  model: SacModel,
  options: SacUpdateOptions,
): SacState {
  const made = initSacState(model, new RandomStream(0), {
    ...options,
    numCritics: arch.critics,
    initialAlpha: Math.exp(hparams.init_log_alpha),
  });
  const part = (name: "policy" | "critics") => ({
    ...paramsOf(params[name]),
    ...paramsOf(running?.[name], runningPath),
  });
  return {
    ...made,
    policy: part("policy"),
    critics: part("critics"),
    targets: paramsOf(params.targets),
  };
}

/** Uniform numbers that drop the units whose masks are 0. */
function dropoutOf(
  masks: NonNullable<Case["inputs"]["batches"][number]["dropout_masks"]>,
): tf.Tensor2D {
  const passes = [masks.targets, masks.critics, masks.actor ?? masks.targets];
  const rows = Object.keys(masks.critics).flatMap((name) =>
    passes.map((pass) => {
      const layers = pass[name].map((it) => tf.tensor2d(it));
      return tf.mul(tf.concat(layers, 1), 0.999);
    })
  );
  return tf.concat(rows) as tf.Tensor2D;
}

function givenOf(
  { hparams, arch }: Case["inputs"],
  numbers: Case["inputs"]["batches"][number],
) {
  const { batch, tensor } = transitionsOf(numbers);
  const { subset, dropout_masks: masks } = numbers;
  const others = Array.from({ length: arch.critics }, (_, i) => i)
    .filter((it) => !subset?.includes(it));
  const inputs = {
    learningRate: tf.scalar(hparams.lr),
    tau: tf.scalar(hparams.tau ?? 0),
    nextNoise: tensor<tf.Tensor2D>("next_noise"),
    // An update of the critics alone has none.
    noise: tensor<tf.Tensor2D>("noise" in numbers ? "noise" : "next_noise"),
    ...(subset && {
      criticOrder: tf.tensor2d([[...subset, ...others]], undefined, "int32"),
    }),
    ...(masks && { dropout: dropoutOf(masks) }),
  } satisfies SacInputs;
  return { batch, inputs };
}

function compileCase({ inputs }: Case, engine: Engine) {
  const model = modelOf(inputs), options = optionsOf(inputs);
  const state = stateOf(inputs, model, options);
  type Given = ReturnType<typeof givenOf>;
  const given = givenOf(inputs, inputs.batches[0]);
  const updates = sacUpdate(model, options);
  const learner = compileStep(
    (held: SacState, it: Given) => updates.learn(held, it.batch, it.inputs),
    { state, inputs: given, engine, name: "the update" },
  );
  const critics = learner.also((held: SacState, it: Given) =>
    updates.critics(held, it.batch, it.inputs)
  );
  return { learner, critics };
}

/** Makes tensors of a part of the state. */
function mapState(part: StateArrays<SacState>["policy"]): Params {
  return Object.fromEntries(
    Object.entries(part).map((
      [path, { data, shape }],
    ) => [path, tf.tensor(data, [...shape])]),
  );
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
    await comparison.check(`${it.name}, update ${k + 1}`, () => {
      const isFull = (k + 1) % hparams.policy_delay === 0;
      const { stats } = (isFull ? learner : critics)
        .run(givenOf(it.inputs, numbers)) as Record<
          string,
          Record<string, Float32Array>
        >;
      comparison.named({
        critic_loss: stats.q_loss,
        ...(isFull && {
          actor_loss: stats.policy_loss,
          alpha_used: stats.temperature,
          temperature_loss: stats.temperature_loss,
        }),
      }, expected);
      const state = learner.read();
      comparison.numbers(
        "log_alpha",
        state.temperature.logAlpha.data,
        expected.log_alpha,
      );
      const scale = 1 / (1 - hparams.beta1); // Of the first update.
      const { critic_gradients = {}, params, running } = expected;
      for (const [path, wanted] of Object.entries(critic_gradients)) {
        const { data } = state.criticSlots[`m/${path}`];
        comparison.numbers(`gradient ${path}`, data, wanted, { scale });
      }
      for (const part of ["policy", "critics", "targets"] as const) {
        comparison.arrays(part, state[part], params?.[part] ?? {});
      }
      for (const part of ["policy", "critics"] as const) {
        const wanted = running?.[part] ?? {};
        comparison.arrays(`running ${part}`, state[part], wanted, runningPath);
      }
      const output = expected.policy_output_in_evaluation;
      if (output === undefined) return;
      const { policy } = modelOf(it.inputs);
      const held = mapState(state.policy);
      const { observations } = givenOf(it.inputs, numbers).batch;
      const found = policy.apply(held, observations).policy.dataSync();
      comparison.numbers("policy in evaluation", found, output);
    });
  }
  learner.close();
}

interface Layer {
  name: string;
  training: boolean;
  x: number[][];
  running: Arrays;
  params: Arrays;
  cotangent: number[][];
  warmup_steps: number;
  expected: {
    y: Expected;
    running: Record<string, Expected>;
    gradient_x: Expected;
    gradient_scale: Expected;
    gradient_bias: Expected;
  };
}

/** Batch renormalization by itself: outputs, gradients, running statistics. */
function runLayer(it: Layer, comparison: Comparison): void {
  const network = normalizedMlp({
    inputShape: [it.x[0].length],
    hiddenSizes: [],
    normalization: "batch",
    warmupUpdates: it.warmup_steps,
  });
  const fixed = paramsOf(it.running, runningPath);
  const apply = (x: tf.Tensor, scale: tf.Tensor, bias: tf.Tensor) =>
    network.apply(
      { ...fixed, "norm0/scale": scale, "norm0/bias": bias },
      { x, training: it.training },
    );
  const params = paramsOf(it.params);
  const inputs = [
    tf.tensor2d(it.x),
    params["norm0/scale"],
    params["norm0/bias"],
  ] as const;
  const { output, running = fixed } = apply(...inputs);
  const gradients = tf.grads((x, scale, bias) => apply(x, scale, bias).output)(
    [...inputs],
    tf.tensor2d(it.cotangent),
  );
  comparison.named({
    y: output.dataSync(),
    gradient_x: gradients[0].dataSync(),
    gradient_scale: gradients[1].dataSync(),
    gradient_bias: gradients[2].dataSync(),
  }, it.expected as unknown as Record<string, Expected>);
  for (const [name, wanted] of Object.entries(it.expected.running)) {
    const found = running[runningPath(name)].dataSync();
    comparison.numbers(`running ${name}`, found, wanted);
  }
}

interface QuantileHuber {
  quantiles: number[][][];
  targets: number[][];
  expected: { loss: Expected; gradient: Expected };
}

/** Loss of all critics and its gradient: the mean over rows, critics and quantiles. */
function runQuantiles(
  { quantiles, targets, expected }: QuantileHuber,
  comparison: Comparison,
): void {
  const given = tf.tensor3d(quantiles), [, critics, count] = given.shape;
  const loss = (all: tf.Tensor): tf.Scalar => {
    const each = tf.unstack(all, 1).map((it) =>
      tf.mean(quantileLosses(it as tf.Tensor2D, tf.tensor2d(targets)))
    );
    return tf.mul(tf.addN(each), 1 / (critics * count));
  };
  comparison.named({
    loss: loss(given).dataSync(),
    gradient: tf.grad(loss)(given).dataSync(),
  }, expected as Record<string, Expected>);
}

/** TQC, CrossQ, REDQ and DroQ: losses, parameters, running statistics. */
export const runner: FixtureRunner = async (fixture, comparison, engine) => {
  for (const it of fixture.cases as Case[]) {
    await runCase(it, comparison, engine);
  }
  for (const it of (fixture.batch_renorm ?? []) as Layer[]) {
    await comparison.check(
      `layer ${it.name}`,
      () => runLayer(it, comparison),
    );
  }
  if (fixture.quantile_huber === undefined) return;
  await comparison.check(
    "quantile Huber loss",
    () => runQuantiles(fixture.quantile_huber, comparison),
  );
};
