import {
  type ArrayWithShape,
  mapParams,
  type OptimizerState,
  type Params,
  sgd,
  tidy,
  valueAndGradients,
} from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { adaptedDamping, innerProduct, predictedChange } from "./damping.ts";
import {
  averageWeights,
  batchFactors,
  eigenbasisMoments,
  type KroneckerFactors,
} from "./factors.ts";
import { INVERSE_SLOTS, invertFactors, precondition } from "./inverses.ts";
import {
  checkLayers,
  type KfacLayer,
  type KfacObjective,
  layerMatrix,
  layerSizes,
  layerSlot,
  splitLayerMatrix,
} from "./layers.ts";
import { checkOptions, type KfacOptions, type TrustRegion } from "./options.ts";
import { type FisherRows, fisherRows } from "./rows.ts";
import { checkSchedule, kfacSchedule, scheduleFlags } from "./schedule.ts";

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
 *   damping: 1e-6, dampingKind: "plain", momentum: 0, trustRegion: null,
 *   invertEvery: 1,
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
      ...this.layers.flatMap(({ kernel }) => [
        `the input factor of layer '${kernel}'`,
        `the output factor of layer '${kernel}'`,
      ]),
      "the gradient",
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
      state[layerSlot("input", layer)] = tf.zeros([inputs, inputs]);
      state[layerSlot("output", layer)] = tf.zeros([outputs, outputs]);
      for (const [name, axes] of Object.entries(INVERSE_SLOTS[form])) {
        state[layerSlot(name, layer)] = tf.zeros(
          axes.map((axis) => sizes[axis]),
        );
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
        const gradient = layerMatrix(layer, gradients);
        const matrix = precondition(layer, gradient, {
          ...this.#options,
          state,
        });
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
      const { adaptDamping } = this.#options;
      if (adaptDamping !== undefined) {
        if (objective === undefined) {
          throw new TypeError(
            "Cannot adapt the damping without the objective: expected apply(..., { objective: { loss, at } })",
          );
        }
        const predicted = predictedChange(safe, made.change, {
          layers: this.layers,
          state: next,
        });
        const actual = tf.sub(objective.at(moved), objective.loss);
        const isDue = tf.equal(tf.mod(next.step, adaptDamping.every ?? 5), 0);
        next.damping = tf.where(
          tf.logicalAnd(isDue, isWarm),
          adaptedDamping(
            state.damping,
            tf.div(actual, predicted),
            adaptDamping,
          ),
          state.damping,
        );
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
          input: state[layerSlot("input", layer)].data as Float32Array,
          output: state[layerSlot("output", layer)].data as Float32Array,
        }, { form: this.#options.form, damping: state.damping.data[0] });
        for (const name in made) next[layerSlot(name, layer)] = made[name];
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
      move(layerSlot("input", layer), factors[i].input, keep, add);
      move(layerSlot("output", layer), factors[i].output, keep, add);
      if (form !== "ekfac") return;
      const moments = eigenbasisMoments(rows[layer.kernel], {
        input: state[layerSlot("basis_input", layer)] as tf.Tensor2D,
        output: state[layerSlot("basis_output", layer)] as tf.Tensor2D,
      });
      const decay = average.decay ?? 0.95;
      const newest = tf.mul(due, 1 - decay);
      move(layerSlot("moments", layer), moments, tf.sub(1, newest), newest);
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
}

function slotsOf(state: OptimizerState, prefix: string): OptimizerState {
  return Object.fromEntries(
    Object.entries(state)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, tensor]) => [name.slice(prefix.length), tensor]),
  );
}

/** Tells for the gradient and for each factor where all numbers are finite. */
function finiteFlags(
  gradients: Params,
  factors: readonly KroneckerFactors[],
): tf.Tensor1D {
  const sums = [
    ...factors.flatMap(({ input, output }) => [tf.sum(input), tf.sum(output)]),
    tf.addN(Object.values(gradients).map((it) => tf.sum(it))),
  ];
  return tf.cast(tf.isFinite(tf.stack(sums)), "float32") as tf.Tensor1D;
}

function orZero(isFine: tf.Tensor, tensor: tf.Tensor): tf.Tensor {
  return tf.where(isFine, tensor, tf.zerosLike(tensor));
}
