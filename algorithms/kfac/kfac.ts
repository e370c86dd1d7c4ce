import {
  addPrefix,
  mapParams,
  type OptimizerState,
  type Params,
  pickPrefix,
  ravel,
  sgd,
  tidy,
  unravel,
  valueAndGradients,
} from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { movedAverages, naturalVector, weightedFactors } from "./curvature.ts";
import { invertFactors } from "./inverses.ts";
import {
  checkLayers,
  type KfacLayer,
  type KfacObjective,
  layerPaths,
  layerSizes,
  layerSlot,
  slotShapes,
} from "./layers.ts";
import { checkOptions, type KfacOptions, type TrustRegion } from "./options.ts";
import { type FisherRows, fisherRows } from "./rows.ts";
import { kfacSchedule, scheduleFlags } from "./schedule.ts";

/** Loss, gradients and statistics of a batch. */
export interface KfacGradients {
  /** Loss. */
  readonly loss: tf.Scalar;
  /** Additional results of the objective. */
  readonly aux: Params;
  /** Gradients of the loss by path. */
  readonly gradients: Params;
  /** Inputs and output gradients of the layers. */
  readonly rows: FisherRows;
}

/** Optimizer state, learning rate and statistics of one step. */
export interface KfacStepOptions {
  /** Optimizer state after the previous step, or of {@link Kfac.init}. */
  readonly state: OptimizerState;
  /** Learning rate. */
  readonly learningRate: tf.Scalar;
  /**
   * Inputs and output gradients of the layers. They may be left out if
   * {@link Kfac.needsRows} is false: factors stay the same, and the step is natural.
   *
   * @default none
   */
  readonly rows?: FisherRows;
  /**
   * Learning rate of the cold optimizer.
   *
   * @default learningRate
   */
  readonly coldLearningRate?: tf.Scalar;
}

/** Result of one step, in new tensors. */
export interface KfacStep {
  /** Parameters after the step. */
  readonly params: Params;
  /** Optimizer state after the step. */
  readonly state: OptimizerState;
  /** Factor by which the trust region shortened the step. */
  readonly coefficient: tf.Scalar;
  /** Product `g'F^-1g` of the gradient and the natural gradient. */
  readonly quadratic: tf.Scalar;
  /** 1 for each finite statistic; the step is skipped unless all are. */
  readonly finite: tf.Tensor1D;
}

/** Optimizer state as arrays, as a compiled step reads and writes it. */
export type KfacArrays = Readonly<
  Record<string, { data: ArrayLike<number>; shape: readonly number[] }>
>;

/**
 * Natural-gradient descent with Kronecker-factored curvature (K-FAC), for any network
 * of dense, convolutional and recurrent layers.
 *
 * It holds only settings: the optimizer state is a map of tensors that the pure
 * function `apply` updates, which can be compiled together with the loss. `refresh`
 * inverts factors outside of it, on a fixed schedule.
 *
 * Sources: Martens & Grosse 2015 (https://arxiv.org/abs/1503.05671); Grosse & Martens
 * 2016 (https://arxiv.org/abs/1602.01407) for convolutions; Wu et al. 2017
 * (https://arxiv.org/abs/1708.05144) for the trust region.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { gaussian, Kfac, sampledLogProb } from "@bellman/kfac";
 * import { type Params, paramsFromArrays, paramsToArrays } from "@bellman/compute";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const x = tf.tensor2d([[1, 0], [0, 100]]), y = tf.tensor2d([[3], [-200]]);
 * const noise = tf.tensor2d([[1], [-1]]);
 * const objective = ({ w }: Params) => {
 *   const head = gaussian(tf.matMul(x, w));
 *   return {
 *     loss: tf.neg(tf.mean(head.logProb(y))),
 *     logLikelihood: sampledLogProb(head, noise),
 *   };
 * };
 * const kfac = new Kfac([{ kernel: "w" }], {
 *   form: "eigenbasis", dampingKind: "plain", damping: 1e-6, momentum: 0,
 *   trustRegion: null, invertEvery: 1,
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
  /** Layers with natural gradients. */
  readonly layers: readonly KfacLayer[];
  readonly #options;
  readonly #hasCold;
  readonly #warned = new Set<string>();

  /**
   * Creates the optimizer.
   *
   * @param layers Layers, registered or of `findLayers`.
   * @param options Settings.
   * @throws {RangeError} If a setting lies outside its range.
   * @throws {TypeError} If settings exclude each other.
   */
  constructor(layers: readonly KfacLayer[], options: KfacOptions = {}) {
    this.layers = layers;
    const { form = "inverse" } = options;
    this.#options = {
      others: "error" as const,
      diagonal: {},
      damping: 0.01,
      dampingKind: form === "ekfac" ? "plain" as const : "factored" as const,
      momentum: 0.9,
      momentumKind: "regular" as const,
      coldOptimizer: sgd(),
      untilInverse: "cold" as const,
      inversionPrecision: "double" as const,
      trustRegion: { kind: "kl", limit: 0.001 } as TrustRegion | null,
      average: {},
      largestBasis: Infinity,
      // deno-lint-ignore no-console -- default target of warnings
      onWarning: (line: string) => console.warn(line),
      ...options,
      form,
      layers,
    };
    checkOptions(this.#options);
    const { coldUpdates = 0, untilInverse } = this.#options;
    this.#hasCold = coldUpdates > 0 || untilInverse === "cold";
  }

  /**
   * Makes the initial optimizer state.
   *
   * @param params Parameters to optimize.
   * @returns New tensors by slot and path.
   * @throws {RangeError} If a layer has parameters that do not exist or fit.
   * @throws {TypeError} If a parameter is in no layer and `others` is "error".
   */
  init(params: Params): OptimizerState {
    const { damping, momentum, coldOptimizer } = this.#options;
    checkLayers(this.layers, { ...this.#options, params });
    const state: OptimizerState = {
      step: tf.scalar(0),
      count: tf.scalar(0),
      damping: tf.scalar(damping),
    };
    for (const layer of this.layers) {
      const shapes = slotShapes(layerSizes(layer, params), this.#options);
      for (const name in shapes) {
        // Bases of 0 change nothing; divisors are not 0.
        const fill = name === "moments" ? tf.ones : tf.zeros;
        state[layerSlot(name, layer)] = fill(shapes[name]);
      }
    }
    const velocity = momentum > 0 ? mapParams(params, tf.zerosLike) : {};
    const cold = this.#hasCold ? coldOptimizer.init(params) : {};
    return {
      ...state,
      ...addPrefix(velocity, "velocity"),
      ...addPrefix(cold, "cold"),
    };
  }

  /**
   * Computes the loss, its gradients, and the rows of the factors.
   *
   * @param objective A pure function of the parameters.
   * @param params The parameters.
   * @returns New tensors.
   * @throws {TypeError} If the objective does not use a layer's kernel in a layer.
   * @throws {RangeError} If the likelihood has fewer than two examples.
   */
  gradients(
    objective: (params: Params) => KfacObjective,
    params: Params,
  ): KfacGradients {
    return tidy(() => ({
      ...valueAndGradients((params) => {
        const { logLikelihood: _, ...value } = objective(params);
        return value;
      }, params),
      rows: fisherRows(
        (params) => objective(params).logLikelihood,
        params,
        this.#options,
      ),
    }));
  }

  /**
   * Returns true if an update uses the statistics of its batch, or is cold. Others may
   * leave out `rows`, and are cheaper if they are compiled as a separate step.
   *
   * @param update Number of the update, from 0.
   */
  needsRows(update: number): boolean {
    const { cold, covariance } = kfacSchedule(update, this.#options);
    return cold || covariance;
  }

  /**
   * Multiplies a gradient by the inverse of the damped Fisher matrix.
   *
   * @param gradients Gradients by path.
   * @param state Optimizer state with the inverses.
   * @returns The natural gradient by path; the gradients of parameters in no layer and
   * not in `diagonal` stay the same.
   */
  naturalGradient(gradients: Params, state: OptimizerState): Params {
    return tidy(() => {
      const like = this.#inOrder(gradients);
      const curvature = { ...this.#options, like, state };
      const natural = naturalVector(vectorOf(gradients, like), curvature);
      return { ...gradients, ...unravel(natural, like) };
    });
  }

  /**
   * Takes one step.
   *
   * @param params Parameters before the step.
   * @param gradients Gradients of the loss, as they are or clipped.
   * @param options Optimizer state, learning rate and statistics.
   * @returns Parameters and optimizer state after the step, in new tensors.
   */
  apply(
    params: Params,
    gradients: Params,
    options: KfacStepOptions,
  ): KfacStep {
    const { state, learningRate, rows } = options;
    const { momentum, momentumKind } = this.#options;
    return tidy(() => {
      const like = this.#inOrder(params);
      const curvature = { ...this.#options, like, state };
      const gradient = vectorOf(gradients, like);
      const velocity = momentum > 0
        ? vectorOf(state, like, "velocity/")
        : tf.zerosLike(gradient);
      const isAdam = momentumKind === "adam";
      const direction = isAdam
        ? tf.add<tf.Tensor1D>(tf.mul(velocity, momentum), gradient)
        : gradient;
      const natural = naturalVector(direction, curvature);
      const quadratic = tf.sum(tf.mul(direction, natural)) as tf.Scalar;
      const coefficient = this.#coefficient(quadratic, learningRate);
      const factors = rows ? weightedFactors(rows, curvature) : {};
      const checked = [...Object.values(factors), gradient, quadratic]
        .map((it) => tf.sum(it));
      const finite = tf.isFinite(tf.stack(checked));
      const isFine = tf.all(finite);
      const { cold, covariance } = scheduleFlags(state.step, this.#options);
      const mayBeCold = rows !== undefined && this.#hasCold;
      const isWarm = mayBeCold
        ? tf.logicalAnd(isFine, tf.logicalNot(cold))
        : isFine;
      // Numbers that are not finite are masked at the inputs.
      const warm = (it: tf.Tensor | number, otherwise = 0): tf.Tensor =>
        tf.where(isWarm, it, otherwise);
      const step = tf.mul<tf.Tensor1D>(warm(natural), warm(coefficient));
      const moved = tf.add<tf.Tensor1D>(
        tf.mul(velocity, warm(momentum, 1)),
        isAdam ? warm(gradient) : step,
      );
      const rate = momentumKind === "averaged"
        ? tf.mul(learningRate, 1 - momentum)
        : learningRate;
      const change = tf.mul<tf.Tensor1D>(isAdam ? step : moved, warm(rate));
      let after = tf.sub<tf.Tensor1D>(vectorOf(params, like), change);
      const next: OptimizerState = {
        ...state,
        ...(momentum > 0 && unravel(moved, like, "velocity/")),
        step: tf.add(state.step, 1),
      };
      if (rows !== undefined) {
        const isDue = tf.logicalAnd(isFine, covariance);
        const settings = { ...curvature, factors, isDue };
        Object.assign(next, movedAverages(rows, settings));
      }
      if (mayBeCold) {
        const { coldOptimizer } = this.#options;
        const taken = coldOptimizer.apply(like, this.#inOrder(gradients), {
          state: pickPrefix(state, "cold"),
          learningRate: options.coldLearningRate ?? learningRate,
        });
        const isCold = tf.logicalAnd(isFine, cold);
        after = tf.where(isCold, vectorOf(taken.params, like), after);
        const slots = addPrefix(taken.state, "cold");
        for (const slot in slots) {
          next[slot] = tf.where(isCold, slots[slot], state[slot]);
        }
      }
      return {
        params: { ...params, ...unravel(after, like) },
        state: mapParams(next, (it) => it.clone()),
        coefficient,
        quadratic,
        finite: tf.cast(finite, "float32") as tf.Tensor1D,
      };
    });
  }

  /**
   * Inverts the factors, or computes their eigenvectors, if scheduled.
   *
   * @param update Number of the last update, from 0.
   * @param read Copies the optimizer state out; called only if an inversion is due.
   * @returns The whole new optimizer state, or `undefined` if it is unchanged. A layer
   * with factors that cannot be inverted keeps its inverse, or is not updated without
   * one.
   */
  refresh<Arrays extends KfacArrays>(
    update: number,
    read: () => Arrays,
  ): Arrays | undefined {
    if (!kfacSchedule(update, this.#options).inverse) return undefined;
    const state = read();
    const inverses = this.layers.map((layer) => this.#inverse(layer, state));
    return Object.assign({ ...state }, ...inverses);
  }

  /**
   * Describes the first statistic that was not finite.
   *
   * @param finite Numbers of `KfacStep.finite`.
   * @returns One line, or `undefined` if all are finite.
   */
  nonFinite(finite: ArrayLike<number>): string | undefined {
    const factors = this.layers.flatMap(({ kernel }) =>
      ["input", "output"].map((it) => `the ${it} factor of layer '${kernel}'`)
    );
    const names = [...factors, "the gradient", "the natural gradient"];
    // Without statistics only the last two exist.
    const first = names.length - finite.length;
    const name = names.find((_, i) => finite[i - first] === 0);
    return name && `Skipped a step of K-FAC: ${name} is not finite`;
  }

  /** Inverts a layer's factors; if that fails, warns once and returns undefined. */
  #inverse(layer: KfacLayer, state: KfacArrays): KfacArrays {
    const { form, dampingKind, largestBasis } = this.#options;
    const numbersOf = (slot: string) => state[slot]?.data as Float32Array;
    const { kernel } = layer;
    try {
      const slots = invertFactors({
        input: numbersOf(layerSlot("input", layer)),
        output: numbersOf(layerSlot("output", layer)),
      }, {
        form,
        // Plain damping is added at each step.
        damping: dampingKind === "plain" ? 0 : numbersOf("damping")[0],
        precision: this.#options.inversionPrecision,
        largestBasis,
        start: numbersOf(layerSlot("basis_input", layer)),
      });
      return Object.fromEntries(
        Object.entries(slots).map(([name, it]) => [layerSlot(name, layer), it]),
      );
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const line = `Layer '${kernel}' keeps its old inverse: ${error.message}`;
      if (!this.#warned.has(kernel)) this.#options.onWarning(line);
      this.#warned.add(kernel);
      return {};
    }
  }

  /** Sorts parameters so that each layer's are contiguous, as its matrix. */
  #inOrder(params: Params): Params {
    const paths = layerPaths(this.layers);
    const sorted = paths.map((path) => [path, params[path]]);
    return { ...Object.fromEntries(sorted), ...params };
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

/** Concatenates the tensors at the same paths to one vector. */
function vectorOf(values: Params, like: Params, prefix = ""): tf.Tensor1D {
  return ravel(values, Object.keys(like).map((path) => prefix + path));
}
