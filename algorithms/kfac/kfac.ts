import {
  type ArrayWithShape,
  mapParams,
  type Optimizer,
  type OptimizerState,
  type Params,
  sgd,
  tidy,
  valueAndGradients,
} from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import {
  type AverageOptions,
  averageWeights,
  batchFactors,
  eigenbasisMoments,
  type KroneckerFactors,
} from "./factors.ts";
import { invertFactors, type KfacForm } from "./inverses.ts";
import {
  checkLayers,
  type FisherRows,
  fisherRows,
  type KfacLayer,
  type KfacObjective,
  layerMatrix,
  layerSizes,
  splitLayerMatrix,
} from "./layers.ts";
import {
  checkSchedule,
  kfacSchedule,
  type KfacScheduleOptions,
  scheduleFlags,
} from "./schedule.ts";

/** Bound of a step's length, measured by the Fisher matrix. */
export interface TrustRegion {
  /**
   * - `kl`: `min(1, sqrt(2 limit / (lr^2 g'F^-1g)))`, the second-order KL
   *   divergence of Wu et al. 2017;
   * - `norm_constraint`: the same without the factor 2, as baselines' `kl_clip`
   *   and tensorflow/kfac.
   */
  readonly kind: "kl" | "norm_constraint";
  /** Bound, above 0. */
  readonly limit: number;
}

/** Adaptation of the damping by how well the quadratic model predicts. */
export interface DampingAdaptation {
  /**
   * Updates between two changes.
   *
   * @default 5
   */
  readonly every?: number;
  /**
   * Factor of a change for each update, below 1.
   *
   * @default 0.95
   */
  readonly rate?: number;
  /**
   * Smallest damping.
   *
   * @default 1e-8
   */
  readonly minimum?: number;
}

/** Settings of {@link Kfac}. */
export interface KfacOptions extends KfacScheduleOptions {
  /**
   * Parameters in no layer: an error, or their plain gradient.
   *
   * @default "error"
   */
  readonly others?: "error" | "gradient";
  /**
   * Form of the inverse.
   *
   * @default "eigenbasis"
   */
  readonly form?: KfacForm;
  /**
   * Damping, added to the Fisher matrix, above 0.
   *
   * @default 0.01
   */
  readonly damping?: number;
  /**
   * - `factored`: over both factors, by their mean eigenvalues (Tikhonov with pi);
   * - `plain`: to the product of the eigenvalues; `ekfac` takes no other.
   *
   * @default "factored", and "plain" for ekfac
   */
  readonly dampingKind?: "factored" | "plain";
  /**
   * Levenberg-Marquardt adaptation of the damping; `apply` needs the objective.
   *
   * @default none
   */
  readonly adaptDamping?: DampingAdaptation;
  /**
   * Moving average of the factors.
   *
   * @default { kind: "zero_debiased", decay: 0.95 }
   */
  readonly average?: AverageOptions;
  /**
   * Bound of a step; null for none.
   *
   * @default { kind: "kl", limit: 0.001 }
   */
  readonly trustRegion?: TrustRegion | null;
  /**
   * Share of the velocity that each step keeps, from 0 to below 1.
   *
   * @default 0.9
   */
  readonly momentum?: number;
  /**
   * - `regular`: `v = m v + step`, `w = w - lr v`;
   * - `averaged`: the same with `lr (1 - m)`, as baselines' ACKTR;
   * - `adam`: of the gradients, before they are made natural (tensorflow/kfac).
   *
   * @default "regular"
   */
  readonly momentumKind?: "regular" | "averaged" | "adam";
  /**
   * Optimizer of the cold updates.
   *
   * @default sgd()
   */
  readonly coldOptimizer?: Optimizer;
  /**
   * Steps before the first inversion: those of the cold optimizer, or none, as
   * in the original.
   *
   * @default "cold"
   */
  readonly untilInverse?: "cold" | "wait";
  /**
   * Takes warnings: one line for each layer whose factors cannot be inverted.
   *
   * @default console.warn
   */
  readonly onWarning?: (line: string) => void;
}

/** Loss, gradients and statistics of a batch. */
export interface KfacGradients {
  /** Loss. */
  readonly loss: tf.Scalar;
  /** Further results of the objective. */
  readonly aux: Params;
  /** Gradients of the loss by path. */
  readonly gradients: Params;
  /** Inputs and output gradients of the layers. */
  readonly rows: FisherRows;
}

/** State, learning rate and statistics of one step. */
export interface KfacStepOptions {
  /** State after the step before, or of {@link Kfac.init}. */
  readonly state: OptimizerState;
  /** Learning rate. */
  readonly learningRate: tf.Scalar;
  /** Inputs and output gradients of the layers. */
  readonly rows: FisherRows;
  /**
   * Learning rate of the cold optimizer.
   *
   * @default learningRate
   */
  readonly coldLearningRate?: tf.Scalar;
  /**
   * Loss of this batch, and at other parameters; where the damping is adapted.
   *
   * @default none
   */
  readonly objective?: {
    /** Loss before the step. */
    readonly loss: tf.Scalar;
    /** Computes the loss of the same batch at other parameters. */
    readonly at: (params: Params) => tf.Scalar;
  };
}

/** Result of one step, in new tensors. */
export interface KfacStep {
  /** Parameters after the step. */
  readonly params: Params;
  /** State after the step. */
  readonly state: OptimizerState;
  /** Factor by which the trust region shortened the step. */
  readonly coefficient: tf.Scalar;
  /** Product `g'F^-1g` of the gradient and the natural gradient. */
  readonly quadratic: tf.Scalar;
  /** 1 for each of {@link Kfac.statistics} that is finite; the step is skipped where one is not. */
  readonly finite: tf.Tensor1D;
}

/** Numbers of a state, as a compiled step reads and writes them. */
export type KfacArrays = Readonly<
  Record<string, { data: ArrayLike<number>; shape: readonly number[] }>
>;

/** Slots of the inverse of each form, and their axes. */
const SLOTS: Record<KfacForm, Record<string, ("inputs" | "outputs")[]>> = {
  inverse: {
    inverse_input: ["inputs", "inputs"],
    inverse_output: ["outputs", "outputs"],
  },
  eigenbasis: {
    basis_input: ["inputs", "inputs"],
    basis_output: ["outputs", "outputs"],
    values_input: ["inputs"],
    values_output: ["outputs"],
  },
  ekfac: {
    basis_input: ["inputs", "inputs"],
    basis_output: ["outputs", "outputs"],
    moments: ["inputs", "outputs"],
  },
};

/**
 * Natural-gradient descent with Kronecker-factored curvature (K-FAC), for any
 * network whose parameters lie in dense, convolutional and recurrent layers.
 *
 * It holds settings and no numbers: the state is a map of tensors that `apply`,
 * a pure function, moves; it can be compiled together with the loss. Factors are
 * inverted outside of it, by `refresh`, after updates whose number alone decides.
 *
 * Sources: Martens & Grosse 2015 (https://arxiv.org/abs/1503.05671); Grosse &
 * Martens 2016 (https://arxiv.org/abs/1602.01407) for convolutions; Wu et al.
 * 2017 (https://arxiv.org/abs/1708.05144) for the trust region.
 *
 * @example
 * ```ts
 * import { gaussian, Kfac, sampledLogProb } from "@bellman/kfac";
 * import { type Params, paramsFromArrays, paramsToArrays } from "@bellman/compute";
 * import { assertAlmostEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const x = tf.tensor2d([[1, 0], [0, 100]]), y = tf.tensor2d([[3], [-200]]);
 * const noise = tf.tensor2d([[1], [-1]]);
 * const objective = ({ w }: Params) => {
 *   const head = gaussian(tf.matMul(x, w));
 *   return {
 *     loss: tf.neg(tf.mean(head.logProb(y))) as tf.Scalar,
 *     logLikelihood: sampledLogProb([head], [noise]),
 *   };
 * };
 * const kfac = new Kfac([{ kernel: "w" }], {
 *   damping: 1e-6, momentum: 0, trustRegion: null, invertEvery: 1,
 * });
 * let params: Params = { w: tf.zeros([2, 1]) };
 * let state = kfac.init(params);
 * const learningRate = tf.scalar(1), coldLearningRate = tf.scalar(0);
 * for (let update = 0; update < 3; update++) {
 *   const { gradients, rows } = kfac.gradients(objective, params);
 *   ({ params, state } = kfac.apply(params, gradients, {
 *     state, learningRate, coldLearningRate, rows,
 *   }));
 *   const inverted = kfac.refresh(update, () => paramsToArrays(state));
 *   if (inverted) state = paramsFromArrays(inverted);
 * }
 * // One natural step: both weights, of curvatures 1 and 10,000, are right.
 * assertAlmostEquals(params.w.dataSync()[0], 3, 1e-3);
 * assertAlmostEquals(params.w.dataSync()[1], -2, 1e-3);
 * ```
 */
export class Kfac {
  /** Layers whose gradients are made natural. */
  readonly layers: readonly KfacLayer[];
  readonly #options;
  readonly #warned = new Set<string>();

  /**
   * Makes the optimizer.
   *
   * @param layers Layers, registered or of `findLayers`.
   * @param options Settings.
   * @throws {RangeError} If a setting lies outside of its range.
   * @throws {TypeError} If settings exclude each other.
   */
  constructor(layers: readonly KfacLayer[], options: KfacOptions = {}) {
    this.layers = layers;
    const { form = "eigenbasis" } = options;
    this.#options = {
      others: "error" as const,
      damping: 0.01,
      dampingKind: form === "ekfac" ? "plain" as const : "factored" as const,
      momentum: 0.9,
      momentumKind: "regular" as const,
      coldOptimizer: sgd(),
      untilInverse: "cold" as const,
      trustRegion: { kind: "kl", limit: 0.001 } as TrustRegion | null,
      average: {},
      // deno-lint-ignore no-console -- warnings go there by default
      onWarning: (line: string) => console.warn(line),
      ...options,
      form,
    };
    checkOptions(this.#options);
    checkSchedule(options);
  }

  /** Names of the statistics that each step checks, in the order of `finite`. */
  get statistics(): string[] {
    return [
      "the gradient",
      ...this.layers.flatMap(({ kernel }) => [
        `the input factor of layer '${kernel}'`,
        `the output factor of layer '${kernel}'`,
      ]),
    ];
  }

  /**
   * Makes the state before the first step.
   *
   * @param params The parameters that will be optimized.
   * @returns New tensors by slot and path.
   * @throws {RangeError} If a layer has parameters that do not exist or fit.
   * @throws {TypeError} If a parameter is in no layer and `others` is "error".
   */
  init(params: Params): OptimizerState {
    const { form, others, damping, momentum, coldOptimizer } = this.#options;
    checkLayers(this.layers, { params, others });
    const state: OptimizerState = {
      step: tf.scalar(0),
      count: tf.scalar(0),
      inverted: tf.scalar(0),
      damping: tf.scalar(damping),
    };
    for (const layer of this.layers) {
      const sizes = layerSizes(layer, params);
      const { inputs, outputs } = sizes;
      state[slot("input", layer)] = tf.zeros([inputs, inputs]);
      state[slot("output", layer)] = tf.zeros([outputs, outputs]);
      for (const [name, axes] of Object.entries(SLOTS[form])) {
        state[slot(name, layer)] = tf.zeros(axes.map((axis) => sizes[axis]));
      }
    }
    for (const path in params) {
      if (momentum > 0) state[`velocity/${path}`] = tf.zerosLike(params[path]);
    }
    if (this.#hasCold) {
      const cold = coldOptimizer.init(params);
      for (const path in cold) state[`cold/${path}`] = cold[path];
    }
    return state;
  }

  /**
   * Computes the loss, its gradients, and what the factors are made of.
   *
   * @param objective A pure function of the parameters.
   * @param params The parameters.
   * @returns New tensors.
   * @throws {TypeError} If the objective does not use a layer's kernel as one.
   */
  gradients(
    objective: (params: Params) => KfacObjective,
    params: Params,
  ): KfacGradients {
    const { layers } = this;
    return tidy(() => ({
      ...valueAndGradients(objective, params),
      rows: fisherRows((it) => objective(it).logLikelihood, params, { layers }),
    }));
  }

  /**
   * Multiplies a gradient with the inverse of the damped Fisher matrix.
   *
   * @param gradients Gradients by path.
   * @param state State, whose inverses are used.
   * @returns The natural gradient by path; parameters in no layer keep theirs.
   */
  naturalGradient(gradients: Params, state: OptimizerState): Params {
    return tidy(() => {
      const natural = { ...gradients };
      for (const layer of this.layers) {
        const matrix = this.#precondition(
          layer,
          layerMatrix(layer, gradients),
          state,
        );
        Object.assign(natural, splitLayerMatrix(layer, matrix, gradients));
      }
      return mapParams(natural, (it) => it.clone());
    });
  }

  /**
   * Takes one step.
   *
   * @param params The parameters before the step.
   * @param gradients Gradients of the loss, as they are or clipped.
   * @param options State, learning rate and statistics.
   * @returns Parameters and state after the step, in new tensors.
   * @throws {TypeError} If the damping is adapted and there is no objective.
   */
  apply(
    params: Params,
    gradients: Params,
    options: KfacStepOptions,
  ): KfacStep {
    const { state, learningRate, rows, objective } = options;
    return tidy(() => {
      const factors = this.layers.map(({ kernel }) =>
        batchFactors(rows[kernel])
      );
      const finite = finiteFlags(gradients, factors);
      const isFine = tf.greater(tf.min(finite), 0);
      const fine = tf.cast(isFine, "float32") as tf.Scalar;
      const safe = mapParams(gradients, (it) => orZero(isFine, it));
      const flags = scheduleFlags(state.step as tf.Scalar, this.#options);
      const next: OptimizerState = {
        ...state,
        step: tf.add(state.step, 1),
        ...this.#averages(state, factors, {
          rows,
          due: tf.mul(flags.covariance, fine),
          isFine,
        }),
      };
      const made = this.#move(safe, state, learningRate);
      let moved = mapParams(
        params,
        (it, path) => tf.sub(it, made.change[path]),
      );
      let warm = fine;
      if (this.#hasCold) {
        const isCold = tf.greater(
          this.#options.untilInverse === "cold"
            ? tf.maximum(flags.cold, tf.sub(1, state.inverted))
            : flags.cold,
          0,
        );
        const cold = this.#options.coldOptimizer.apply(params, safe, {
          state: slotsOf(state, "cold/"),
          learningRate: options.coldLearningRate ?? learningRate,
        });
        moved = mapParams(
          moved,
          (it, path) => tf.where(isCold, cold.params[path], it),
        );
        const takesCold = tf.logicalAnd(isCold, isFine);
        for (const path in cold.state) {
          const name = `cold/${path}`;
          next[name] = tf.where(takesCold, cold.state[path], state[name]);
        }
        const isWarm = tf.cast(tf.logicalNot(isCold), "float32");
        warm = tf.mul(fine, isWarm);
      }
      const isWarm = tf.greater(warm, 0);
      for (const path in made.velocity) {
        const name = `velocity/${path}`;
        next[name] = tf.where(isWarm, made.velocity[path], state[name]);
      }
      if (this.#options.adaptDamping !== undefined) {
        if (objective === undefined) {
          throw new TypeError(
            "Cannot adapt the damping without the objective: expected apply(..., { objective: { loss, at } })",
          );
        }
        const predicted = this.#predicted(safe, made.change, next);
        const actual = tf.sub(objective.at(moved), objective.loss);
        next.damping = this.#adapted(state, tf.div(actual, predicted), warm);
      }
      const { coefficient, quadratic } = made;
      return {
        params: mapParams(
          params,
          (it, path) => tf.where(isFine, moved[path], it),
        ),
        state: mapParams(next, (it) => it.clone()),
        coefficient,
        quadratic,
        finite,
      };
    });
  }

  /**
   * Inverts the factors, or finds their eigenvectors, where that is due.
   *
   * @param update Number of the update that was taken last, from 0.
   * @param read Copies the state out; it is called where an inversion is due.
   * @returns The whole new state, or `undefined` where it stays. A layer whose
   * factors cannot be inverted keeps its inverse.
   */
  refresh<Arrays extends KfacArrays>(
    update: number,
    read: () => Arrays,
  ): Arrays | undefined {
    const layers = this.#dueLayers(update);
    if (layers.length === 0) return undefined;
    const state = read();
    const next: Record<string, ArrayWithShape> = {};
    let failed = false;
    for (const layer of layers) {
      try {
        const made = invertFactors({
          input: state[slot("input", layer)].data as Float32Array,
          output: state[slot("output", layer)].data as Float32Array,
        }, { form: this.#options.form, damping: state.damping.data[0] });
        for (const name in made) next[slot(name, layer)] = made[name];
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        failed = true;
        this.#warn(layer, error.message);
      }
    }
    if (!failed) {
      next.inverted = { data: Float32Array.of(1), shape: [] };
    }
    return { ...state, ...next };
  }

  /**
   * Names the first statistic that was not finite.
   *
   * @param finite Numbers of `KfacStep.finite`.
   * @returns One line, or `undefined` where all are finite.
   */
  nonFinite(finite: ArrayLike<number>): string | undefined {
    const at = Array.from(finite).findIndex((it) => it === 0);
    return at < 0
      ? undefined
      : `Skipped a step of K-FAC: ${this.statistics[at]} is not finite`;
  }

  get #hasCold(): boolean {
    const { coldUpdates = 0, untilInverse } = this.#options;
    return coldUpdates > 0 || untilInverse === "cold";
  }

  #dueLayers(update: number): readonly KfacLayer[] {
    const { invertEvery = 10, spreadInversion = false } = this.#options;
    const { cold, inverse, age } = kfacSchedule(update, this.#options);
    if (!spreadInversion || age === invertEvery) {
      return inverse ? this.layers : [];
    }
    if (cold || age < invertEvery) return [];
    const share = invertEvery / this.layers.length;
    return this.layers.filter((_, i) =>
      Math.floor(i * share) === age % invertEvery
    );
  }

  #warn({ kernel }: KfacLayer, reason: string): void {
    if (this.#warned.has(kernel)) return;
    this.#warned.add(kernel);
    this.#options.onWarning(
      `Layer '${kernel}' keeps its old inverse: ${reason}`,
    );
  }

  /** Moves the averages of factors and moments. */
  #averages(
    state: OptimizerState,
    factors: readonly KroneckerFactors[],
    { rows, due, isFine }: {
      rows: FisherRows;
      due: tf.Tensor;
      isFine: tf.Tensor;
    },
  ): OptimizerState {
    const { average, form } = this.#options;
    const weights = averageWeights(state.count as tf.Scalar, average);
    const add = tf.mul(weights.add, due);
    const keep = tf.add(1, tf.mul(due, tf.sub(weights.keep, 1)));
    const next: OptimizerState = { count: tf.add(state.count, due) };
    const move = (
      name: string,
      batch: tf.Tensor,
      keep: tf.Tensor,
      add: tf.Tensor,
    ) => {
      const kept = tf.mul(state[name], keep);
      next[name] = tf.add(kept, tf.mul(orZero(isFine, batch), add));
    };
    this.layers.forEach((layer, i) => {
      move(slot("input", layer), factors[i].input, keep, add);
      move(slot("output", layer), factors[i].output, keep, add);
      if (form !== "ekfac") return;
      const moments = eigenbasisMoments(rows[layer.kernel], {
        input: state[slot("basis_input", layer)] as tf.Tensor2D,
        output: state[slot("basis_output", layer)] as tf.Tensor2D,
      });
      const decay = average.decay ?? 0.95;
      const newest = tf.mul(due, 1 - decay);
      move(slot("moments", layer), moments, tf.sub(1, newest), newest);
    });
    return next;
  }

  /** Computes the natural step, its length and the velocity. */
  #move(gradients: Params, state: OptimizerState, learningRate: tf.Scalar) {
    const { momentum, momentumKind } = this.#options;
    const accumulate = (values: Params) =>
      mapParams(
        values,
        (it, path) => tf.add(tf.mul(state[`velocity/${path}`], momentum), it),
      );
    const isAdam = momentum > 0 && momentumKind === "adam";
    const direction = isAdam ? accumulate(gradients) : gradients;
    const natural = this.naturalGradient(direction, state);
    const quadratic = innerProduct(direction, natural);
    const coefficient = this.#coefficient(quadratic, learningRate);
    const step = mapParams(natural, (it) => tf.mul(it, coefficient));
    if (momentum === 0 || isAdam) {
      return {
        change: mapParams(step, (it) => tf.mul(it, learningRate)),
        velocity: isAdam ? direction : {},
        coefficient,
        quadratic,
      };
    }
    const velocity = accumulate(step);
    const rate = momentumKind === "averaged"
      ? tf.mul(learningRate, 1 - momentum)
      : learningRate;
    return {
      change: mapParams(velocity, (it) => tf.mul(it, rate)),
      velocity,
      coefficient,
      quadratic,
    };
  }

  #coefficient(quadratic: tf.Scalar, learningRate: tf.Scalar): tf.Scalar {
    const { trustRegion } = this.#options;
    if (trustRegion === null) return tf.scalar(1);
    const { kind, limit } = trustRegion;
    const bound = kind === "kl" ? 2 * limit : limit;
    const length = tf.mul(tf.square(learningRate), tf.relu(quadratic));
    return tf.sqrt(tf.div(bound, tf.maximum(length, bound)));
  }

  #precondition(
    layer: KfacLayer,
    matrix: tf.Tensor2D,
    state: OptimizerState,
  ): tf.Tensor2D {
    const { form } = this.#options;
    const of = (name: string) => state[slot(name, layer)] as tf.Tensor2D;
    if (form === "inverse") {
      const left = tf.matMul(of("inverse_input"), matrix);
      return tf.matMul(left, of("inverse_output"));
    }
    const input = of("basis_input"), output = of("basis_output");
    const inBasis = tf.matMul(tf.matMul(input, matrix, true), output);
    const scaled = tf.div(inBasis, this.#curvature(layer, state));
    return tf.matMul(tf.matMul(input, scaled), output, false, true);
  }

  /** Computes the damped eigenvalues of a layer's block, as its matrix lies. */
  #curvature(layer: KfacLayer, state: OptimizerState): tf.Tensor {
    const { form, dampingKind } = this.#options;
    const { damping } = state;
    if (form === "ekfac") return tf.add(state[slot("moments", layer)], damping);
    const input = tf.reshape(state[slot("values_input", layer)], [-1, 1]);
    const output = tf.reshape(state[slot("values_output", layer)], [1, -1]);
    if (dampingKind === "plain") {
      return tf.add(tf.mul(input, output), damping);
    }
    const ofInput = tf.mean(input), ofOutput = tf.mean(output);
    const isZero = tf.equal(tf.mul(ofInput, ofOutput), 0);
    const ratio = tf.div(ofInput, tf.where(isZero, 1, ofOutput));
    const pi = tf.sqrt(tf.where(isZero, 1, ratio)), root = tf.sqrt(damping);
    return tf.mul(
      tf.add(input, tf.mul(pi, root)),
      tf.add(output, tf.div(root, pi)),
    );
  }

  /** Computes the quadratic model's change of the loss for a step. */
  #predicted(
    gradients: Params,
    change: Params,
    state: OptimizerState,
  ): tf.Tensor {
    const squares = [tf.mul(innerProduct(change, change), state.damping)];
    for (const layer of this.layers) {
      const matrix = layerMatrix(layer, change);
      const input = state[slot("input", layer)] as tf.Tensor2D;
      const output = state[slot("output", layer)] as tf.Tensor2D;
      const product = tf.matMul(tf.matMul(input, matrix), output);
      squares.push(tf.sum(tf.mul(matrix, product)));
    }
    const curved = tf.mul(tf.addN(squares), 0.5);
    return tf.sub(curved, innerProduct(gradients, change));
  }

  /** Moves the damping by the ratio of actual and predicted change. */
  #adapted(
    state: OptimizerState,
    ratio: tf.Tensor,
    warm: tf.Tensor,
  ): tf.Tensor {
    const { every = 5, rate = 0.95, minimum = 1e-8 } = this.#options
      .adaptDamping!;
    const steps = tf.add(state.step, 1);
    const due = tf.logicalAnd(
      tf.equal(tf.mod(steps, every), 0),
      tf.greater(warm, 0),
    );
    const power = rate ** every;
    // A ratio that is no number is a bad step.
    const isGood = tf.greater(ratio, 0.75),
      isFair = tf.greaterEqual(ratio, 0.25);
    const factor = tf.where(isGood, power, tf.where(isFair, 1, 1 / power));
    const changed = tf.maximum(tf.mul(state.damping, factor), minimum);
    return tf.where(due, changed, state.damping);
  }
}

function slot(name: string, { kernel }: KfacLayer): string {
  return `${name}/${kernel}`;
}

function slotsOf(state: OptimizerState, prefix: string): OptimizerState {
  return Object.fromEntries(
    Object.entries(state)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, tensor]) => [name.slice(prefix.length), tensor]),
  );
}

function innerProduct(a: Params, b: Params): tf.Scalar {
  const terms = Object.keys(a).map((path) => tf.sum(tf.mul(a[path], b[path])));
  return tf.addN(terms) as tf.Scalar;
}

/** Tells for the gradient and for each factor where all numbers are finite. */
function finiteFlags(
  gradients: Params,
  factors: readonly KroneckerFactors[],
): tf.Tensor1D {
  const sums = [
    tf.addN(Object.values(gradients).map((it) => tf.sum(it))),
    ...factors.flatMap(({ input, output }) => [tf.sum(input), tf.sum(output)]),
  ];
  return tf.cast(tf.isFinite(tf.stack(sums)), "float32") as tf.Tensor1D;
}

function orZero(isFine: tf.Tensor, tensor: tf.Tensor): tf.Tensor {
  return tf.where(isFine, tensor, tf.zerosLike(tensor));
}

/** Checks the ranges of settings, and which exclude each other. */
function checkOptions(
  options: KfacOptions & { damping: number; momentum: number; form: string },
): void {
  const { damping, momentum, trustRegion, average, adaptDamping } = options;
  const within = (
    name: string,
    value: number,
    [low, high]: [number, number],
  ) => {
    if (value >= low && value < high) return;
    const wanted = high === Infinity
      ? "above 0"
      : `at least 0 and below ${high}`;
    throw new RangeError(
      `Cannot make K-FAC with ${name} = ${value}: expected a number ${wanted}`,
    );
  };
  within("damping", damping, [Number.MIN_VALUE, Infinity]);
  within("momentum", momentum, [0, 1]);
  within("average.decay", average?.decay ?? 0, [0, 1]);
  within("adaptDamping.rate", adaptDamping?.rate ?? 0, [0, 1]);
  if (trustRegion) {
    const { limit } = trustRegion;
    within("trustRegion.limit", limit, [Number.MIN_VALUE, Infinity]);
  }
  const { form, dampingKind } = options;
  if (form === "inverse" && dampingKind === "plain") {
    throw new TypeError(
      "Cannot add plain damping to inverses of factors: expected form 'eigenbasis', or damping 'factored'",
    );
  }
  if (form === "ekfac" && dampingKind === "factored") {
    throw new TypeError(
      "Cannot factor the damping of 'ekfac', whose moments are no product: expected damping 'plain'",
    );
  }
}
