import * as tf from "@tensorflow/tfjs";
import { givenOptions, hintAt, refuseUnknown } from "@bellman/files/options";
import {
  clipByGlobalNorm,
  type LossValue,
  valueAndGradients,
} from "./gradients.ts";
import { type Params, ravel, unravel } from "./params.ts";

/**
 * State of an optimizer: a flat map of its slots by the path of the parameter,
 * such as `rms/pi/dense0/kernel`. It is saved like parameters.
 */
export type OptimizerState = Params;

/** State and learning rate of one step of an optimizer. */
export interface OptimizerStepOptions {
  /** The state after the step before, or of {@linkcode Optimizer.init}. */
  state: OptimizerState;
  /** The learning rate of this step: an input, so that schedules can move it. */
  learningRate: tf.Scalar;
}

/** Result of one step of an optimizer, in new tensors. */
export interface OptimizerStep {
  /** The parameters after the step. */
  params: Params;
  /** The optimizer's state after the step. */
  state: OptimizerState;
}

/** A pure optimizer: it holds settings and no state. */
export interface Optimizer {
  /**
   * Makes the state before the first step.
   *
   * @param params The parameters that will be optimized.
   * @returns New tensors by slot and path.
   */
  init(params: Params): OptimizerState;
  /**
   * Takes one step.
   *
   * @param params The parameters before the step.
   * @param gradients Their gradients, by the same paths.
   * @param options State and learning rate.
   * @returns The parameters and the state after the step, in new tensors.
   */
  apply(
    params: Params,
    gradients: Params,
    options: OptimizerStepOptions,
  ): OptimizerStep;
}

/** Slots of one parameter, by name. */
type Slots = Record<string, tf.Tensor>;

/** Step of a rule. */
interface SlotStep {
  /** Change of the parameter, to be subtracted. */
  change: tf.Tensor;
  /** New slots. */
  slots: Slots;
}

/** A rule that moves one parameter, given its gradient and its slots. */
interface SlotRule {
  /** The slots' names and the number that each starts with. */
  slots: Record<string, number>;
  /** True where the state counts the steps, as bias correction needs. */
  countsSteps?: boolean;
  /**
   * Computes the change of the parameter, and its new slots.
   *
   * @param gradient The flat gradient of all parameters.
   * @param slots The flat slots of all parameters.
   * @param inputs Learning rate, and the step's number from 1.
   */
  step(
    gradient: tf.Tensor,
    slots: Slots,
    inputs: { learningRate: tf.Scalar; step: tf.Scalar },
  ): SlotStep;
}

const STEP = "step";

/**
 * Makes an optimizer from a rule for one tensor.
 *
 * All parameters are moved as one flat vector: the number of kernels does not
 * grow with the number of parameters, and eager backends are bound by it.
 */
function slotOptimizer(rule: SlotRule): Optimizer {
  const names = Object.keys(rule.slots);
  return {
    init: (params) => {
      const state: OptimizerState = {};
      for (const name of names) {
        for (const path in params) {
          const { shape } = params[path];
          state[`${name}/${path}`] = tf.fill(shape, rule.slots[name]);
        }
      }
      if (rule.countsSteps) state[STEP] = tf.scalar(0);
      return state;
    },
    apply: (params, gradients, { state, learningRate }) =>
      tf.tidy(() => {
        const paths = Object.keys(params);
        const gradient = ravel(gradients, paths);
        const slots: Slots = {};
        for (const name of names) {
          const own = paths.map((path) => `${name}/${path}`);
          slots[name] = ravel(state, own);
        }
        const step = rule.countsSteps
          ? tf.add(state[STEP], 1) as tf.Scalar
          : tf.scalar(0);
        const moved = rule.step(gradient, slots, { learningRate, step });
        const flat = tf.sub(ravel(params, paths), moved.change);
        const newState: OptimizerState = {};
        for (const name of names) {
          const slot = moved.slots[name] as tf.Tensor1D;
          Object.assign(newState, unravel(slot, params, `${name}/`));
        }
        if (rule.countsSteps) newState[STEP] = step;
        return {
          params: unravel(flat as tf.Tensor1D, params),
          state: newState,
        };
      }),
  };
}

/** Moves a mean to the next value, of which it keeps a share. */
function movingMean(
  mean: tf.Tensor,
  value: tf.Tensor,
  kept: number,
): tf.Tensor {
  return tf.add(tf.mul(mean, kept), tf.mul(value, 1 - kept));
}

/**
 * Completes an optimizer's settings and checks them: an epsilon is at least 0, a share
 * below 1 too.
 */
function complete<T extends Record<string, number>>(
  options: { readonly [K in keyof T]?: T[K] },
  defaults: T,
): T {
  refuseUnknown(options, Object.keys(defaults), "an optimizer");
  const settings = { ...defaults, ...givenOptions(options) };
  for (const [name, value] of Object.entries<number>(settings)) {
    const most = name === "epsilon" ? Infinity : 1;
    if (typeof value === "number" && value >= 0 && value < most) continue;
    const wanted = most === 1 ? "at least 0 and below 1" : "at least 0";
    throw new RangeError(
      `Cannot make an optimizer with ${name} = ${value}: expected a number ${wanted}`,
    );
  }
  return settings;
}

// Default settings.
const SGD = { momentum: 0 };
const ADAM = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
const RMSPROP = { decay: 0.99, epsilon: 1e-8 };
const RMSPROP_TF1 = { decay: 0.99, epsilon: 1e-5 };

/** Settings of {@linkcode sgd}. */
export interface SgdOptions {
  /**
   * Share of the velocity that each step keeps; 0 for plain descent.
   *
   * @default 0
   */
  momentum?: number;
}

/**
 * Makes stochastic gradient descent with momentum: `v = momentum v + g`,
 * `w = w - lr v`.
 *
 * @param options Momentum.
 * @returns The optimizer.
 * @throws {RangeError} If the momentum lies outside 0 to 1.
 * @example
 * ```ts
 * import { sgd } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const optimizer = sgd({ momentum: 0.9 });
 * const params = { w: tf.scalar(1) };
 * const step = optimizer.apply(params, { w: tf.scalar(2) }, {
 *   state: optimizer.init(params),
 *   learningRate: tf.scalar(0.1),
 * });
 * assertAlmostEquals(step.params.w.dataSync()[0], 0.8, 1e-6);
 * ```
 */
export function sgd(options: SgdOptions = {}): Optimizer {
  const { momentum } = complete(options, SGD);
  return slotOptimizer({
    slots: momentum > 0 ? { velocity: 0 } : {},
    step: (gradient, before, { learningRate }): SlotStep => {
      if (momentum === 0) {
        return { change: tf.mul(gradient, learningRate), slots: {} };
      }
      const velocity = tf.add(tf.mul(before.velocity, momentum), gradient);
      return { change: tf.mul(velocity, learningRate), slots: { velocity } };
    },
  });
}

/** Settings of {@linkcode adam} and {@linkcode adamTf1}. */
export interface AdamOptions {
  /**
   * Share of the mean gradient that each step keeps, 0 to 1.
   *
   * @default 0.9
   */
  beta1?: number;
  /**
   * Share of the mean square that each step keeps, 0 to 1.
   *
   * @default 0.999
   */
  beta2?: number;
  /**
   * Added to the root of the mean square.
   *
   * @default 1e-8
   */
  epsilon?: number;
}

/**
 * Corrects an Adam for its start at 0: from the learning rate, the root of the
 * mean square, `1 - beta1^t` and `1 - beta2^t` to the rate and the root of
 * `w = w - rate m / (root + epsilon)`.
 */
type Correction = (
  learningRate: tf.Scalar,
  root: tf.Tensor,
  corrections: [tf.Tensor, tf.Tensor],
) => { rate: tf.Tensor; root: tf.Tensor };

/**
 * Computes `1 - beta^step` without the cancellation of float32 in the first
 * steps.
 */
function oneMinusPower(beta: number, step: tf.Scalar): tf.Tensor {
  return tf.neg(tf.expm1(tf.mul(step, Math.log(beta))));
}

/** Makes an Adam: the moving means are common to all, the correction is not. */
function adamWith(options: AdamOptions, correct: Correction): Optimizer {
  const { beta1, beta2, epsilon } = complete(options, ADAM);
  return slotOptimizer({
    slots: { m: 0, v: 0 },
    countsSteps: true,
    step: (gradient, { m, v }, { learningRate, step }) => {
      const mean = movingMean(m, gradient, beta1);
      const square = movingMean(v, tf.square(gradient), beta2);
      const { rate, root } = correct(learningRate, tf.sqrt(square), [
        oneMinusPower(beta1, step),
        oneMinusPower(beta2, step),
      ]);
      const change = tf.mul(rate, tf.div(mean, tf.add(root, epsilon)));
      return { change, slots: { m: mean, v: square } };
    },
  });
}

/**
 * Makes Adam as it is written today (Kingma and Ba's algorithm, PyTorch's
 * form): `w = w - lr mHat / (sqrt(vHat) + epsilon)` with both means corrected
 * for their start at 0.
 *
 * @param options Betas and epsilon.
 * @returns The optimizer; its state counts the steps under `step`.
 * @throws {RangeError} If a setting lies outside its range.
 * @example
 * ```ts
 * import { adam } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const optimizer = adam();
 * const params = { w: tf.scalar(1) };
 * const step = optimizer.apply(params, { w: tf.scalar(5) }, {
 *   state: optimizer.init(params),
 *   learningRate: tf.scalar(0.1),
 * });
 * // The first step has the length of the learning rate.
 * assertAlmostEquals(step.params.w.dataSync()[0], 0.9, 1e-5);
 * ```
 */
export function adam(options: AdamOptions = {}): Optimizer {
  return adamWith(options, (learningRate, root, [ofMean, ofSquare]) => ({
    rate: tf.div(learningRate, ofMean),
    // The root of the correction is one number, that of a division is many.
    root: tf.mul(root, tf.div(1, tf.sqrt(ofSquare))),
  }));
}

/**
 * Makes Adam as TensorFlow 1 computes it: the corrections go into the learning
 * rate, `lrT = lr sqrt(1 - beta2^t) / (1 - beta1^t)`, and the epsilon is added
 * to the uncorrected root, `w = w - lrT m / (sqrt(v) + epsilon)`.
 *
 * @param options Betas and epsilon.
 * @returns The optimizer; its state counts the steps under `step`.
 * @throws {RangeError} If a setting lies outside its range.
 * @example
 * ```ts
 * import { adamTf1 } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const optimizer = adamTf1({ epsilon: 1 });
 * const params = { w: tf.scalar(1) };
 * const step = optimizer.apply(params, { w: tf.scalar(5) }, {
 *   state: optimizer.init(params),
 *   learningRate: tf.scalar(0.1),
 * });
 * const rate = 0.1 * Math.sqrt(1 - 0.999) / (1 - 0.9);
 * const root = Math.sqrt(0.001 * 25);
 * assertAlmostEquals(
 *   step.params.w.dataSync()[0],
 *   1 - rate * 0.5 / (root + 1),
 *   1e-6,
 * );
 * ```
 */
export function adamTf1(options: AdamOptions = {}): Optimizer {
  return adamWith(options, (learningRate, root, [ofMean, ofSquare]) => ({
    rate: tf.div(tf.mul(learningRate, tf.sqrt(ofSquare)), ofMean),
    root,
  }));
}

/** Settings of {@linkcode rmsprop}. */
export interface RmspropOptions {
  /**
   * Share of the mean square that each step keeps, 0 to 1.
   *
   * @default 0.99
   */
  decay?: number;
  /**
   * Added to the root of the mean square, outside the root.
   *
   * @default 1e-8
   */
  epsilon?: number;
}

/**
 * Makes RMSProp as it is written today (PyTorch's form): the mean square starts
 * at 0 and the epsilon stands outside the root,
 * `w = w - lr g / (sqrt(ms) + epsilon)`.
 *
 * @param options Decay and epsilon.
 * @returns The optimizer.
 * @throws {RangeError} If a setting lies outside its range.
 * @example
 * ```ts
 * import { rmsprop } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const optimizer = rmsprop();
 * const params = { w: tf.scalar(1) };
 * const step = optimizer.apply(params, { w: tf.scalar(2) }, {
 *   state: optimizer.init(params),
 *   learningRate: tf.scalar(0.1),
 * });
 * // The first step is the learning rate times 1 / sqrt(1 - decay).
 * assertAlmostEquals(step.params.w.dataSync()[0], 1 - 0.1 * 10, 1e-5);
 * ```
 */
export function rmsprop(options: RmspropOptions = {}): Optimizer {
  const { decay, epsilon } = complete(options, RMSPROP);
  return slotOptimizer({
    slots: { rms: 0 },
    step: (gradient, before, { learningRate }): SlotStep => {
      const rms = movingMean(before.rms, tf.square(gradient), decay);
      const direction = tf.div(gradient, tf.add(tf.sqrt(rms), epsilon));
      return { change: tf.mul(direction, learningRate), slots: { rms } };
    },
  });
}

/** Settings of {@linkcode rmspropTf1}. */
export interface RmspropTf1Options {
  /**
   * Share of the mean square that each step keeps, 0 to 1.
   *
   * @default 0.99
   */
  decay?: number;
  /**
   * Added to the mean square, inside the root.
   *
   * @default 1e-5
   */
  epsilon?: number;
}

/**
 * Makes RMSProp as TensorFlow 1 computes it: A2C and ACER were tuned with it.
 *
 * `ms = decay ms + (1 - decay) g^2`, `w = w - lr g / sqrt(ms + epsilon)`: the
 * epsilon stands inside the root and the mean square `rms/...` starts at 1, so
 * that the first steps are small.
 *
 * @param options Decay and epsilon.
 * @returns The optimizer.
 * @throws {RangeError} If a setting lies outside its range.
 * @example
 * ```ts
 * import { rmspropTf1 } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * const optimizer = rmspropTf1({ decay: 0.99, epsilon: 1e-5 });
 * const params = { w: tf.scalar(1) };
 * const step = optimizer.apply(params, { w: tf.scalar(2) }, {
 *   state: optimizer.init(params),
 *   learningRate: tf.scalar(0.1),
 * });
 * const expected = 1 - 0.1 * 2 / Math.sqrt(0.99 + 0.01 * 4 + 1e-5);
 * assertAlmostEquals(step.params.w.dataSync()[0], expected, 1e-6);
 * ```
 */
export function rmspropTf1(options: RmspropTf1Options = {}): Optimizer {
  const { decay, epsilon } = complete(options, RMSPROP_TF1);
  return slotOptimizer({
    slots: { rms: 1 },
    step: (gradient, before, { learningRate }): SlotStep => {
      const rms = movingMean(before.rms, tf.square(gradient), decay);
      const rate = tf.div(learningRate, tf.sqrt(tf.add(rms, epsilon)));
      return { change: tf.mul(gradient, rate), slots: { rms } };
    },
  });
}

/** The names that {@linkcode createOptimizer} knows. */
export type OptimizerName =
  | "rmsprop_tf1"
  | "rmsprop"
  | "adam"
  | "adam_tf1"
  | "sgd";

/** Settings of any optimizer; each takes those that are its own. */
export type OptimizerSettings =
  & RmspropTf1Options
  & RmspropOptions
  & AdamOptions
  & SgdOptions;

/** Optimizers by name, with their default settings. */
const OPTIMIZERS: Readonly<
  Record<
    OptimizerName,
    readonly [(settings: OptimizerSettings) => Optimizer, defaults: object]
  >
> = {
  rmsprop_tf1: [rmspropTf1, RMSPROP_TF1],
  rmsprop: [rmsprop, RMSPROP],
  adam_tf1: [adamTf1, ADAM],
  adam: [adam, ADAM],
  sgd: [sgd, SGD],
};

/**
 * Makes an optimizer by name.
 *
 * @param name Name of the optimizer.
 * @param settings Its settings; those of other optimizers are left alone.
 * @returns The optimizer.
 * @throws {RangeError} If no optimizer has that name; the message has the
 * nearest.
 * @throws {TypeError} If no optimizer has a setting of that name.
 * @example
 * ```ts
 * import { createOptimizer } from "@bellman/compute";
 * import { assertThrows } from "@std/assert";
 *
 * createOptimizer("adam", { beta1: 0.5 });
 * assertThrows(
 *   () => createOptimizer("adm" as "adam"),
 *   RangeError,
 *   "Unknown optimizer 'adm': did you mean 'adam'?",
 * );
 * ```
 */
export function createOptimizer(
  name: OptimizerName,
  settings: OptimizerSettings = {},
): Optimizer {
  if (!Object.hasOwn(OPTIMIZERS, name)) {
    const hint = hintAt(String(name), Object.keys(OPTIMIZERS));
    throw new RangeError(`Unknown optimizer '${name}': ${hint}`);
  }
  const all = Object.assign({}, SGD, ADAM, RMSPROP);
  refuseUnknown(settings, Object.keys(all), "an optimizer");
  const [make, own] = OPTIMIZERS[name];
  const given = Object.entries(settings)
    .filter(([name]) => Object.hasOwn(own, name));
  return make(Object.fromEntries(given));
}

/** Parameters after {@link descend}. */
export interface Descent<A extends Params = Params> {
  /** Parameters after the step. */
  params: Params;
  /** Slots of the optimizer after it. */
  slots: OptimizerState;
  /** Loss before the step. */
  loss: tf.Scalar;
  /** Global norm of its gradients before clipping, where `maxGradNorm` is given. */
  gradNorm?: tf.Scalar;
  /** Further results of the loss function. */
  aux: A;
}

/** Options of {@link descend}. */
export interface DescendOptions {
  /** Optimizer of the parameters. */
  readonly optimizer: Optimizer;
  /** Its learning rate. */
  readonly learningRate: tf.Scalar;
  /**
   * Largest global norm of the gradients; null takes their norm alone.
   *
   * @default neither is the norm taken, nor are gradients clipped
   */
  readonly maxGradNorm?: number | null;
}

const DESCEND: readonly (keyof DescendOptions)[] = [
  "optimizer",
  "learningRate",
  "maxGradNorm",
];

/**
 * Takes one optimizer step on a loss.
 *
 * @param loss A pure function of the parameters.
 * @param held Parameters, and slots of the optimizer.
 * @param options Optimizer and learning rate.
 * @returns New tensors.
 *
 * @example
 * ```ts
 * import { descend, sgd } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const params = { w: tf.scalar(3) }, optimizer = sgd();
 * const step = descend(
 *   ({ w }) => ({ loss: tf.square(w) }),
 *   { params, slots: optimizer.init(params) },
 *   { optimizer, learningRate: tf.scalar(0.5) },
 * );
 * assertEquals([step.loss.arraySync(), step.params.w.arraySync()], [9, 0]);
 * ```
 */
export function descend<A extends Params>(
  loss: (params: Params) => LossValue<A>,
  { params, slots }: {
    readonly params: Params;
    readonly slots: OptimizerState;
  },
  options: DescendOptions,
): Descent<A> {
  refuseUnknown(options, DESCEND, "descend");
  const { optimizer, learningRate, maxGradNorm } = options;
  const { gradients, ...value } = valueAndGradients(loss, params);
  const clipped: { gradients: Params; norm?: tf.Scalar } =
    maxGradNorm === undefined
      ? { gradients }
      : clipByGlobalNorm(gradients, maxGradNorm);
  const step = optimizer.apply(params, clipped.gradients, {
    state: slots,
    learningRate,
  });
  const { params: moved, state } = step;
  return { params: moved, slots: state, gradNorm: clipped.norm, ...value };
}
