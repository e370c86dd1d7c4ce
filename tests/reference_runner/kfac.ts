/** K-FAC on the networks of the fixtures, for both originals. */
import {
  compileStep,
  type Engine,
  extractPatches,
  mapParams,
  type Params,
  type TensorData,
} from "@bellman/compute";
import {
  batchFactors,
  categorical,
  findLayers,
  Kfac,
  type KfacOptions,
} from "@bellman/kfac";
import * as tf from "@tensorflow/tfjs";
import type { Comparison, Expected } from "./comparison.ts";

/** A dense layer, or a convolution with stride and padding. */
type LayerShape =
  | ["dense", number | null, number]
  | ["conv", number, number, number, number, number, "VALID" | "SAME"];

/** Nested lists of numbers by the original's variables. */
export type Arrays = Record<string, Expected>;

interface Batch {
  x: number[][];
  actions: number[];
  sampled_actions: number[];
  adv: number[];
}

/** A network, and batches that it is given. */
export interface Inputs {
  layers: LayerShape[];
  params: Record<string, number[][]>;
  batches: Batch[];
  hparams: Record<string, number>;
}

/** Factors of one layer: of inputs, and of gradients of outputs. */
export interface Factors {
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

/** Makes comparisons relative to the largest number of an array. */
export function compareRelative(comparison: Comparison): void {
  comparison.relative = true;
  comparison.tolerance = 1e-4;
}

/** Compares numbers of a layer, each with what scales it to the original's. */
export function compareScaled<K extends string>(
  comparison: Comparison,
  layer: string,
  { actual, expected }: {
    actual: Record<K, readonly [TensorData | number, number]>;
    expected: Record<K, Expected>;
  },
): void {
  for (const key in actual) {
    const [numbers, scale] = actual[key];
    comparison.numbers(`${key} of ${layer}`, numbers, expected[key], { scale });
  }
}

/** Compiles a step on gradients that are given, and computes those of a batch. */
export function compileCase(
  inputs: Inputs,
  options: KfacOptions,
  engine: Engine,
) {
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
  /** An update on gradients, with the last batch. */
  const update = (gradients: Record<string, TensorData>) =>
    run(inputs.batches.at(-1)!, gradients, inputs.hparams.lr);
  return { layers, learner, gather, update };
}

/** Patches of the first batch, where the first layer is a convolution. */
export function patchesOf(
  { layers, batches }: Inputs,
): tf.Tensor2D | undefined {
  const [layer] = layers;
  if (layer[0] !== "conv") return undefined;
  const patches = extractPatches(tf.tensor(batches[0].x) as tf.Tensor4D, {
    filterSize: [layer[1], layer[2]],
    strides: layer[5],
    pad: layer[6].toLowerCase() as "valid" | "same",
  });
  return tf.reshape(patches, [-1, patches.shape[3]]);
}

/** Number of places of each layer: 1, or those of a convolution. */
export function placesOf(inputs: Inputs): number[] {
  const patches = patchesOf(inputs)?.shape[0];
  const examples = inputs.batches[0].actions.length;
  return inputs.layers.map(([kind]) =>
    kind === "conv" ? patches! / examples : 1
  );
}
