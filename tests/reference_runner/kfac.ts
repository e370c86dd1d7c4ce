import {
  compileStep,
  type Engine,
  imagePatches,
  mapParams,
  type Params,
  type TensorData,
} from "@bellman/compute";
import {
  batchFactors,
  categorical,
  factoredDamping,
  findLayers,
  Kfac,
  type KfacOptions,
  kfacSchedule,
} from "@bellman/kfac";
import * as tf from "@tensorflow/tfjs";
import {
  type Comparison,
  type Expected,
  type FixtureRunner,
  flat,
} from "./comparison.ts";

/** Difference from the originals' numbers, relative to an array's largest. */
const TOLERANCE = 1e-4;

/** A dense layer, or a convolution with stride and padding. */
type LayerShape =
  | ["dense", number | null, number]
  | ["conv", number, number, number, number, number, "VALID" | "SAME"];

/** Nested lists of numbers by the original's variables. */
type Arrays = Record<string, Expected>;

interface Batch {
  x: number[][];
  actions: number[];
  sampled_actions: number[];
  adv: number[];
}

interface Inputs {
  layers: LayerShape[];
  params: Record<string, number[][]>;
  batches: Batch[];
  hparams: Record<string, number>;
}

interface Factors {
  A: Expected;
  G: Expected;
}

/** Runs a network: relu between its layers, images made flat behind them. */
function network(params: Params, x: tf.Tensor, layers: LayerShape[]) {
  return layers.reduce((input, layer, i) => {
    const w = params[`l${i}/w`], b = params[`l${i}/b`];
    const given = i === 0 ? input : tf.relu(input);
    if (layer[0] === "conv") {
      const pad = layer[6].toLowerCase() as "valid" | "same";
      const made = tf.conv2d(
        given as tf.Tensor4D,
        w as tf.Tensor4D,
        layer[5],
        pad,
      );
      return tf.add(made, b);
    }
    const rows = tf.reshape(given, [given.shape[0], -1]);
    return tf.add(tf.matMul(rows, w as tf.Tensor2D), b);
  }, x) as tf.Tensor2D;
}

function tensorsOf({ x, actions, sampled_actions, adv }: Batch) {
  return {
    x: tf.tensor(x),
    actions: tf.tensor1d(actions, "int32"),
    sampled: tf.tensor1d(sampled_actions, "int32"),
    advantages: tf.tensor1d(adv),
  };
}

/** Compares an array, relative to its largest number. */
function compare(
  comparison: Comparison,
  name: string,
  { actual, expected, scale = 1 }: {
    actual: ArrayLike<number> | number;
    expected: Expected;
    scale?: number;
  },
): void {
  const largest = Math.max(...flat(expected).map(Math.abs)) || 1;
  const numbers = typeof actual === "number" ? [actual] : Array.from(actual);
  comparison.numbers(name, numbers.map((it) => it * scale / largest), {
    expected: flat(expected).map((it) => it / largest),
    tolerance: TOLERANCE,
  });
}

/** Compares maps by the paths of parameters. */
function compareMaps(
  comparison: Comparison,
  name: string,
  { actual, expected }: {
    actual: Readonly<Record<string, TensorData | { data: TensorData }>>;
    expected: Arrays;
  },
): void {
  for (const path in expected) {
    const given = actual[path];
    const numbers = "data" in given ? given.data : given;
    compare(comparison, `${name} ${path}`, {
      actual: numbers,
      expected: expected[path],
    });
  }
}

/** Compiles a step on gradients that are given, and computes those of a batch. */
function compileCase(inputs: Inputs, options: KfacOptions, engine: Engine) {
  const params: Params = {};
  for (const path in inputs.params) {
    params[path] = tf.tensor(inputs.params[path], undefined, "float32");
  }
  const batch = tensorsOf(inputs.batches[0]);
  const layers = findLayers(
    (params, { x }) => network(params, x, inputs.layers),
    { params, inputs: batch },
  );
  const kfac = new Kfac(layers, options);
  const { trustRegion } = options;
  const paper = new Kfac(layers, {
    ...options,
    trustRegion: trustRegion && { ...trustRegion, kind: "kl" },
  });
  const state = { params, slots: kfac.init(params) };
  const learner = compileStep((held: typeof state, given: {
    batch: typeof batch;
    gradients: Params;
    learningRate: tf.Scalar;
  }) => {
    const { x, actions, sampled, advantages } = given.batch;
    const logits = network(held.params, x, inputs.layers);
    const { loss, gradients, rows } = kfac.gradients((params) => {
      const policy = categorical(network(params, x, inputs.layers));
      const logProb = policy.logProb(actions);
      return {
        loss: tf.neg(tf.mean(tf.mul(advantages, logProb))) as tf.Scalar,
        logLikelihood: policy.logProb(sampled),
      };
    }, held.params);
    const step = {
      state: held.slots,
      learningRate: given.learningRate,
      rows,
    };
    const made = kfac.apply(held.params, given.gradients, step);
    const factors: Params = {};
    for (const { kernel } of layers) {
      const { input, output } = batchFactors(rows[kernel]);
      factors[`input/${kernel}`] = input;
      factors[`output/${kernel}`] = output;
    }
    return {
      state: { params: made.params, slots: made.state },
      loss,
      logits,
      gradients,
      factors,
      natural: kfac.naturalGradient(given.gradients, held.slots),
      coefficient: made.coefficient,
      ofPaper: paper.apply(held.params, given.gradients, step).coefficient,
      quadratic: made.quadratic,
    };
  }, {
    state,
    inputs: { batch, gradients: params, learningRate: tf.scalar(0) },
    engine,
    name: "the update of K-FAC",
  });
  /** Updates without moving, then inverts; what is left is the last gradient. */
  const gather = (each: (made: ReturnType<typeof run>, k: number) => void) => {
    let last: Record<string, TensorData> = {};
    const none = mapParams(params, (it) => tf.zerosLike(it));
    inputs.batches.forEach((it, k) => {
      const made = run(it, none, 0);
      each(made, k);
      last = Object.fromEntries(
        Object.entries(made.gradients).map(([path, it]) => [path, it.slice()]),
      );
      const read = () => learner.read().slots;
      const slots = kfac.refresh(k, read);
      if (slots !== undefined) {
        learner.write({ params: learner.read().params, slots });
      }
    });
    return last;
  };
  const run = (
    batch: Batch,
    gradients: Record<string, tf.Tensor | TensorData>,
    learningRate: number,
  ) => learner.run({ batch: tensorsOf(batch), gradients, learningRate });
  return { layers, learner, gather, run };
}

/** Patches of the first batch, where the first layer is a convolution. */
function patchesOf({ layers, batches }: Inputs): tf.Tensor2D | undefined {
  const [layer] = layers;
  if (layer[0] !== "conv") return undefined;
  const patches = imagePatches(tf.tensor(batches[0].x) as tf.Tensor4D, {
    filterSize: [layer[1], layer[2]],
    strides: layer[5],
    pad: layer[6].toLowerCase() as "valid" | "same",
  });
  return tf.reshape(patches, [-1, patches.shape[3]]);
}

/** Number of places of each layer: 1, or those of a convolution. */
function placesOf(inputs: Inputs): number[] {
  const patches = patchesOf(inputs)?.shape[0];
  const examples = inputs.batches[0].actions.length;
  return inputs.layers.map(([kind]) =>
    kind === "conv" ? patches! / examples : 1
  );
}

interface AcktrCase {
  name: string;
  inputs: Inputs;
  expected: {
    per_batch: {
      loss: number;
      logits: Expected;
      grads: Arrays;
      factors: Factors[];
    }[];
    conv_patches_batch0: Expected;
    running_factors: Factors[][];
    result: Record<string, {
      natural_gradient: Arrays;
      vFv: number;
      kl_clip: Record<string, {
        clip_kl: number;
        scaling: number;
        updates: Arrays;
        params_after_one_momentum_step: Arrays;
        params_after_second_step_with_same_update: Arrays;
        eta_paper: number;
      }>;
    }>;
  };
}

async function runAcktr(
  it: AcktrCase,
  comparison: Comparison,
  engine: Engine,
): Promise<void> {
  const { inputs, expected } = it;
  const { hparams, batches } = inputs;
  const lastBatch = batches[batches.length - 1];
  for (const [kind, result] of Object.entries(expected.result)) {
    for (const clip of Object.values(result.kl_clip)) {
      const { layers, learner, gather, run } = compileCase(inputs, {
        form: "eigenbasis",
        damping: hparams.epsilon,
        dampingKind: kind === "plain_damping" ? "plain" : "factored",
        average: {
          kind: "accumulated",
          accumulated: hparams.stats_accum_iter,
          decay: hparams.stats_decay,
        },
        trustRegion: { kind: "norm_constraint", limit: clip.clip_kl },
        momentum: hparams.momentum,
        momentumKind: "averaged",
        untilInverse: "wait",
        invertEvery: batches.length - 1,
      }, engine);
      const places = placesOf(inputs);
      // The original's factors are means of patches, and sums of gradients.
      const compareFactors = (
        name: string,
        expected: Factors[],
        actual: (name: string) => TensorData,
      ) =>
        layers.forEach(({ kernel }, i) => {
          const T = places[i];
          compare(comparison, `${name} A of ${kernel}`, {
            actual: actual(`input/${kernel}`),
            expected: expected[i].A,
            scale: 1 / T ** 2,
          });
          compare(comparison, `${name} G of ${kernel}`, {
            actual: actual(`output/${kernel}`),
            expected: expected[i].G,
            scale: T ** 2,
          });
        });
      await comparison.check(`${it.name}, statistics, ${kind}`, () => {
        const patches = patchesOf(inputs);
        if (patches !== undefined) {
          compare(comparison, "patches", {
            actual: patches.dataSync(),
            expected: expected.conv_patches_batch0,
          });
        }
      });
      let gradients: Record<string, TensorData> = {};
      await comparison.check(`${it.name}, factors, ${kind}`, () => {
        gradients = gather((made, k) => {
          const wanted = expected.per_batch[k];
          compare(comparison, "loss", {
            actual: made.loss[0],
            expected: wanted.loss,
          });
          compare(comparison, "logits", {
            actual: made.logits,
            expected: wanted.logits,
          });
          compareMaps(comparison, "gradient", {
            actual: made.gradients,
            expected: wanted.grads,
          });
          compareFactors("batch", wanted.factors, (name) => made.factors[name]);
          const { slots } = learner.read();
          compareFactors(
            "running",
            expected.running_factors[k],
            (name) => slots[name].data,
          );
        });
      });
      const name = `${it.name}, ${kind}, KL clip ${clip.clip_kl}`;
      await comparison.check(name, () => {
        const made = run(lastBatch, gradients, hparams.lr);
        const coefficient = made.coefficient[0];
        compareMaps(comparison, "natural gradient", {
          actual: made.natural,
          expected: result.natural_gradient,
        });
        for (const path in clip.updates) {
          compare(comparison, `update of ${path}`, {
            actual: made.natural[path],
            expected: clip.updates[path],
            scale: coefficient,
          });
        }
        const numbers = {
          vFv: [hparams.lr ** 2 * made.quadratic[0], result.vFv],
          scaling: [coefficient, clip.scaling],
          eta: [hparams.lr * made.ofPaper[0], clip.eta_paper],
        };
        for (const [name, [actual, expected]] of Object.entries(numbers)) {
          compare(comparison, name, { actual, expected });
        }
        compareMaps(comparison, "parameter", {
          actual: learner.read().params,
          expected: clip.params_after_one_momentum_step,
        });
        run(lastBatch, gradients, hparams.lr);
        compareMaps(comparison, "parameter after the second step", {
          actual: learner.read().params,
          expected: clip.params_after_second_step_with_same_update,
        });
      });
      learner.close();
    }
  }
}

/** baselines/acktr/kfac.py: factors, damping, KL clip and momentum. */
export const acktrKfacRunner: FixtureRunner = async (
  fixture,
  comparison,
  engine,
) => {
  for (const it of fixture.cases as AcktrCase[]) {
    await runAcktr(it, comparison, engine);
  }
};

interface TfCase {
  name: string;
  inputs: Inputs;
  expected: {
    grads_batch2: Arrays;
    factors_per_update: (Factors & { A_new: Expected; G_new: Expected })[][];
    inverses: {
      damping_A: number;
      damping_G: number;
      A_inv: Expected;
      G_inv: Expected;
    }[];
    natural_gradient: Arrays;
    inner_product: number;
    norm_constraint_cases: Record<string, {
      norm_constraint: number;
      coeff: number;
      params_after_one: Arrays;
      params_after_two_same_gradient: Arrays;
      momentum_adam_variant: {
        coeff_second_step: number;
        params_after_two_same_gradient: Arrays;
      };
    }>;
  };
}

async function runTf(
  it: TfCase,
  comparison: Comparison,
  engine: Engine,
): Promise<void> {
  const { inputs, expected } = it;
  const { hparams, batches } = inputs;
  const lastBatch = batches[batches.length - 1];
  for (const limits of Object.values(expected.norm_constraint_cases)) {
    for (const momentumKind of ["regular", "adam"] as const) {
      const { layers, learner, gather, run } = compileCase(inputs, {
        form: "inverse",
        damping: hparams.damping,
        average: { decay: hparams.cov_ema_decay },
        trustRegion: {
          kind: "norm_constraint",
          limit: limits.norm_constraint,
        },
        momentum: hparams.momentum,
        momentumKind,
        untilInverse: "wait",
        invertEvery: batches.length - 1,
      }, engine);
      const places = placesOf(inputs);
      const name =
        `${it.name}, norm constraint ${limits.norm_constraint}, ${momentumKind}`;
      await comparison.check(name, () => {
        const gradients = gather((made, k) => {
          const { slots } = learner.read();
          layers.forEach(({ kernel }, i) => {
            const wanted = expected.factors_per_update[k][i];
            const scale = 1 / places[i];
            const input = `input/${kernel}`, output = `output/${kernel}`;
            const pairs = {
              A_new: [made.factors[input], scale],
              G_new: [made.factors[output], 1],
              A: [slots[input].data, scale],
              G: [slots[output].data, 1],
            } as const;
            for (const [key, [actual, scale]] of Object.entries(pairs)) {
              compare(comparison, `${key} of ${kernel}`, {
                actual,
                expected: wanted[key as keyof typeof pairs],
                scale,
              });
            }
          });
        });
        compareMaps(comparison, "gradient", {
          actual: gradients,
          expected: expected.grads_batch2,
        });
        const { slots } = learner.read();
        layers.forEach(({ kernel }, i) => {
          const wanted = expected.inverses[i];
          const of = (name: string) =>
            slots[`${name}/${kernel}`].data as Float32Array;
          const damping = factoredDamping({
            input: of("input"),
            output: of("output"),
          }, hparams.damping);
          const T = places[i];
          const pairs = {
            damping_A: [damping.input, 1 / T],
            damping_G: [damping.output, 1],
            A_inv: [of("inverse_input"), T],
            G_inv: [of("inverse_output"), 1],
          } as const;
          for (const [key, [actual, scale]] of Object.entries(pairs)) {
            compare(comparison, `${key} of ${kernel}`, {
              actual,
              expected: wanted[key as keyof typeof pairs],
              scale,
            });
          }
        });
        const made = run(lastBatch, gradients, hparams.lr);
        compareMaps(comparison, "natural gradient", {
          actual: made.natural,
          expected: expected.natural_gradient,
        });
        compare(comparison, "inner product", {
          actual: made.quadratic[0],
          expected: expected.inner_product,
        });
        compare(comparison, "coefficient", {
          actual: made.coefficient[0],
          expected: limits.coeff,
        });
        compareMaps(comparison, "parameter", {
          actual: learner.read().params,
          expected: limits.params_after_one,
        });
        const second = run(lastBatch, gradients, hparams.lr);
        const adam = limits.momentum_adam_variant;
        if (momentumKind === "adam") {
          compare(comparison, "second coefficient", {
            actual: second.coefficient[0],
            expected: adam.coeff_second_step,
          });
        }
        compareMaps(comparison, "parameter after the second step", {
          actual: learner.read().params,
          expected: momentumKind === "adam"
            ? adam.params_after_two_same_gradient
            : limits.params_after_two_same_gradient,
        });
      });
      learner.close();
    }
  }
}

interface ScheduleCase {
  inputs: { num_cold_updates: number; invert_every: number };
  observed_original_trace: Trace[];
  intended_trace: Trace[];
}

interface Trace {
  call: number;
  cold: number;
  cov_update: number;
  inv_update: number;
}

async function runSchedule(
  it: ScheduleCase,
  comparison: Comparison,
): Promise<void> {
  const traces = {
    original: it.observed_original_trace,
    documented: it.intended_trace,
  } as const;
  for (const [counting, trace] of Object.entries(traces)) {
    const name = `${it.inputs.num_cold_updates} cold updates, ${counting}`;
    await comparison.check(name, () => {
      for (const { call, ...wanted } of trace) {
        const { cold, covariance, inverse } = kfacSchedule(call, {
          coldUpdates: it.inputs.num_cold_updates,
          invertEvery: it.inputs.invert_every,
          coldCounting: counting as keyof typeof traces,
          untilInverse: "wait",
        });
        comparison.that(
          `call ${call}`,
          cold === (wanted.cold === 1) &&
            covariance === (wanted.cov_update === 1) &&
            inverse === (wanted.inv_update === 1),
        );
      }
    });
  }
}

/** tensorflow/kfac, and the cold start of jrobine/actor-critic. */
export const tfKfacRunner: FixtureRunner = async (
  fixture,
  comparison,
  engine,
) => {
  for (const it of fixture.cases as TfCase[]) {
    await runTf(it, comparison, engine);
  }
  for (const it of fixture.cold_start_schedule as ScheduleCase[]) {
    await runSchedule(it, comparison);
  }
};
