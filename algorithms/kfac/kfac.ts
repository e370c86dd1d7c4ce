import {
  type ArrayWithShape,
  flattenParams,
  mapParams,
  type OptimizerState,
  type Params,
  sgd,
  tidy,
  unflattenParams,
  valueAndGradients,
} from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { adaptedDamping, predictedChange } from "./damping.ts";
import { averageWeights, batchFactors, eigenbasisMoments } from "./factors.ts";
import { invertFactors, slotShapes } from "./inverses.ts";
import { InversionWorker, type PendingFactors } from "./inversion_worker.ts";
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
import { precondition } from "./precondition.ts";
import { type FisherRows, fisherRows } from "./rows.ts";
import { kfacSchedule, scheduleFlags } from "./schedule.ts";

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
  /** 1 for each statistic that is finite; where one is not the step is skipped. */
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
  /** Layers whose gradients are made natural. */
  readonly layers: readonly KfacLayer[];
  readonly #options;
  readonly #warned = new Set<string>();
  readonly #worker?: InversionWorker;

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
    const { form = "inverse" } = options;
    this.#options = {
      others: "error" as const,
      diagonal: {},
      damping: 0.01,
      dampingKind: form === "ekfac" ? "plain" as const : "factored" as const,
      exampleEvery: 1,
      momentum: 0.9,
      momentumKind: "regular" as const,
      coldOptimizer: sgd(),
      untilInverse: "cold" as const,
      inversionDelay: 0,
      trustRegion: { kind: "kl", limit: 0.001 } as TrustRegion | null,
      average: {},
      // deno-lint-ignore no-console -- warnings go there by default
      onWarning: (line: string) => console.warn(line),
      ...options,
      form,
    };
    checkOptions(this.#options);
    if (options.invertIn === "worker") {
      this.#worker = new InversionWorker(this.#options.onWarning);
    }
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
    const { form, damping, momentum, coldOptimizer } = this.#options;
    const isDelayed = this.#options.inversionDelay > 0;
    checkLayers(this.layers, { ...this.#options, params });
    const state: OptimizerState = {
      step: tf.scalar(0),
      count: tf.scalar(0),
      inverted: tf.scalar(0),
      damping: tf.scalar(damping),
    };
    for (const layer of this.layers) {
      const shapes = slotShapes(layerSizes(layer, params), form);
      for (const name in shapes) {
        state[layerSlot(name, layer)] = tf.zeros(shapes[name]);
      }
      for (const name of isDelayed ? PENDING : []) {
        state[pendingSlot(name, layer)] = tf.zeros(shapes[name] ?? []);
      }
    }
    for (const path in params) {
      if (momentum > 0) state[`velocity/${path}`] = tf.zerosLike(params[path]);
    }
    if (this.#hasCold) {
      Object.assign(state, withPrefix(coldOptimizer.init(params), "cold/"));
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
   * @throws {RangeError} If the likelihood is of fewer than two examples.
   */
  gradients(
    objective: (params: Params) => KfacObjective,
    params: Params,
  ): KfacGradients {
    return tidy(() => ({
      ...valueAndGradients(objective, params),
      rows: fisherRows((it) => objective(it).logLikelihood, params, {
        layers: this.layers,
        every: this.#options.exampleEvery,
      }),
    }));
  }

  /**
   * Multiplies a gradient with the inverse of the damped Fisher matrix.
   *
   * @param gradients Gradients by path.
   * @param state State, whose inverses are used.
   * @returns The natural gradient by path; parameters in no layer and not of
   * `diagonal` keep theirs.
   */
  naturalGradient(gradients: Params, state: OptimizerState): Params {
    const { diagonal } = this.#options;
    return tidy(() => {
      const natural = { ...gradients };
      for (const path in diagonal) {
        const damped = tf.add(state.damping, diagonal[path]);
        natural[path] = tf.div(gradients[path], damped);
      }
      for (const layer of this.layers) {
        const gradient = layerMatrix(layer, gradients);
        const options = { ...this.#options, state };
        const matrix = precondition(layer, gradient, options);
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
    const { layers } = this;
    const { adaptDamping, coldOptimizer, untilInverse, diagonal } =
      this.#options;
    return tidy(() => {
      const factors: Params = {};
      for (const layer of layers) {
        const { input, output } = batchFactors(rows[layer.kernel]);
        factors[layerSlot("input", layer)] = input;
        factors[layerSlot("output", layer)] = output;
      }
      const { change, velocity, ...lengths } = this.#move(gradients, options);
      const gradient = vectorOf(gradients, gradients);
      const checked = [...Object.values(factors), gradient, change];
      const finite = tf.isFinite(tf.stack(checked.map((it) => tf.sum(it))));
      const isFine = tf.all(finite);
      const { cold, covariance } = scheduleFlags(state.step, this.#options);
      const isDue = tf.logicalAnd(isFine, covariance);
      const next: OptimizerState = {
        ...state,
        ...this.#averages(factors, isDue, options),
        step: tf.add(state.step, 1),
      };
      let moved = tf.sub<tf.Tensor1D>(vectorOf(params, params), change);
      let isWarm = isFine;
      if (this.#hasCold) {
        const isCold = untilInverse === "cold"
          ? tf.logicalOr(cold, tf.equal(state.inverted, 0))
          : cold;
        const step = coldOptimizer.apply(params, gradients, {
          state: slotsOf(state, "cold/"),
          learningRate: options.coldLearningRate ?? learningRate,
        });
        moved = tf.where(isCold, vectorOf(step.params, params), moved);
        const slots = withPrefix(step.state, "cold/");
        const takesCold = tf.logicalAnd(isCold, isFine);
        Object.assign(next, choose(takesCold, slots, state));
        isWarm = tf.logicalAnd(isFine, tf.logicalNot(isCold));
      }
      Object.assign(next, choose(isWarm, velocity, state));
      const stepped = choose(isFine, unflattenParams(moved, params), params);
      if (adaptDamping !== undefined) {
        if (objective === undefined) {
          throw new TypeError(
            "Cannot adapt the damping without the objective: expected apply(..., { objective: { loss, at } })",
          );
        }
        const steps = unflattenParams(change, params);
        const model = { layers, diagonal, state: next };
        const predicted = predictedChange(gradients, steps, model);
        const actual = tf.sub(objective.at(stepped), objective.loss);
        const ratio = tf.div(actual, predicted);
        const isTime = tf.equal(tf.mod(next.step, adaptDamping.every ?? 5), 0);
        const adapted = adaptedDamping(state.damping, ratio, adaptDamping);
        const adapts = tf.logicalAnd(isTime, isWarm);
        next.damping = tf.where(adapts, adapted, state.damping);
      }
      return {
        params: stepped,
        state: mapParams(next, (it) => it.clone()),
        ...lengths,
        finite: tf.cast(finite, "float32") as tf.Tensor1D,
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
    const { form, inversionDelay, onWarning } = this.#options;
    const begun = this.#dueLayers(update), isDelayed = inversionDelay > 0;
    const ended = isDelayed ? this.#dueLayers(update - inversionDelay) : begun;
    if (begun.length + ended.length === 0) return undefined;
    const state = read();
    const next: Record<string, ArrayWithShape> = {};
    let failed = ended.length === 0;
    for (const layer of ended) {
      const factors = pendingFactors(state, layer, isDelayed);
      try {
        const [damping] = factors.damping;
        const made = this.#worker?.take(layer.kernel, factors) ??
          invertFactors(factors, { form, damping });
        for (const name in made) next[layerSlot(name, layer)] = made[name];
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        failed = true;
        if (this.#warned.has(layer.kernel)) continue;
        this.#warned.add(layer.kernel);
        const line = `Layer '${layer.kernel}' keeps its old inverse`;
        onWarning(`${line}: ${error.message}`);
      }
    }
    for (const layer of isDelayed ? begun : []) {
      const factors = pendingFactors(state, layer, false);
      for (const name of PENDING) {
        const { shape } = state[pendingSlot(name, layer)];
        next[pendingSlot(name, layer)] = {
          data: factors[name],
          shape: [...shape],
        };
      }
      this.#worker?.start(layer.kernel, factors, form);
    }
    if (!failed) next.inverted = { data: Float32Array.of(1), shape: [] };
    return { ...state, ...next };
  }

  /** Ends the worker; the optimizer can be used on. */
  close(): void {
    this.#worker?.close();
  }

  /**
   * Names the first statistic that was not finite.
   *
   * @param finite Numbers of `KfacStep.finite`.
   * @returns One line, or `undefined` where all are finite.
   */
  nonFinite(finite: ArrayLike<number>): string | undefined {
    const names = [
      ...this.layers.flatMap(({ kernel }) => [
        `the input factor of layer '${kernel}'`,
        `the output factor of layer '${kernel}'`,
      ]),
      "the gradient",
      "the natural gradient",
    ];
    const name = names.find((_, i) => finite[i] === 0);
    return name && `Skipped a step of K-FAC: ${name} is not finite`;
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

  /** Moves the averages of factors and moments, where that is due. */
  #averages(
    factors: Params,
    isDue: tf.Tensor,
    { state, rows }: KfacStepOptions,
  ): OptimizerState {
    const { average, form } = this.#options;
    const move = (batch: Params, keep: tf.Tensor, add: tf.Tensor): Params => {
      const old = vectorOf(state, batch), newest = vectorOf(batch, batch);
      const moved = tf.add<tf.Tensor1D>(
        tf.mul(old, keep),
        tf.mul(newest, add),
      );
      return unflattenParams(tf.where(isDue, moved, old), batch);
    };
    const { keep, add } = averageWeights(state.count as tf.Scalar, average);
    const count = tf.where(isDue, tf.add(state.count, 1), state.count);
    const next = { ...move(factors, keep, add), count };
    if (form !== "ekfac") return next;
    const moments: Params = {};
    for (const layer of this.layers) {
      const of = (name: string) => state[layerSlot(name, layer)] as tf.Tensor2D;
      moments[layerSlot("moments", layer)] = eigenbasisMoments(
        rows[layer.kernel],
        { input: of("basis_input"), output: of("basis_output") },
      );
    }
    const { decay = 0.95 } = average;
    const weights = [decay, 1 - decay].map((it) => tf.scalar(it));
    return { ...next, ...move(moments, weights[0], weights[1]) };
  }

  /** Computes the natural step as a vector, its length and the velocity. */
  #move(gradients: Params, { state, learningRate }: KfacStepOptions) {
    const { momentum, momentumKind } = this.#options;
    const slots = withPrefix(gradients, "velocity/");
    const accumulate = (values: tf.Tensor1D): tf.Tensor1D =>
      tf.add(tf.mul(vectorOf(state, slots), momentum), values);
    const gradient = vectorOf(gradients, gradients);
    const isAdam = momentum > 0 && momentumKind === "adam";
    const direction = isAdam ? accumulate(gradient) : gradient;
    const natural = vectorOf(
      this.naturalGradient(unflattenParams(direction, gradients), state),
      gradients,
    );
    const quadratic = tf.sum(tf.mul(direction, natural)) as tf.Scalar;
    const coefficient = this.#coefficient(quadratic, learningRate);
    const step = tf.mul<tf.Tensor1D>(natural, coefficient);
    const isRegular = momentum > 0 && !isAdam;
    const velocity = isRegular ? accumulate(step) : direction;
    const rate = momentumKind === "averaged"
      ? tf.mul(learningRate, 1 - momentum)
      : learningRate;
    return {
      change: tf.mul<tf.Tensor1D>(isRegular ? velocity : step, rate),
      velocity: momentum > 0 ? unflattenParams(velocity, slots) : {},
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

/** Parts of the state that a delayed inversion starts from. */
const PENDING = ["input", "output", "damping"] as const;

/** Names the copy of such a part that waits in the state. */
function pendingSlot(name: string, layer: KfacLayer): string {
  return layerSlot(`pending_${name}`, layer);
}

/** Reads the factors that wait in the state, or the present ones. */
function pendingFactors(
  state: KfacArrays,
  layer: KfacLayer,
  isPending: boolean,
): PendingFactors {
  const [input, output, damping] = PENDING.map((name) => {
    const present = name === "damping" ? name : layerSlot(name, layer);
    return state[isPending ? pendingSlot(name, layer) : present].data;
  }) as Float32Array[];
  return { input, output, damping };
}

/** Joins the tensors at the paths of others to one vector. */
function vectorOf(values: Params, like: Params): tf.Tensor1D {
  return flattenParams(values, Object.keys(like));
}

/** Chooses all of some values, or all of those at the same paths of others. */
function choose(isFirst: tf.Tensor, values: Params, others: Params): Params {
  if (Object.keys(values).length === 0) return {};
  const [first, second] = [values, others].map((it) => vectorOf(it, values));
  return unflattenParams(tf.where(isFirst, first, second), values);
}

function withPrefix(values: Params, prefix: string): Params {
  return Object.fromEntries(
    Object.entries(values).map(([path, it]) => [prefix + path, it]),
  );
}

function slotsOf(state: OptimizerState, prefix: string): OptimizerState {
  return Object.fromEntries(
    Object.entries(state)
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, tensor]) => [name.slice(prefix.length), tensor]),
  );
}
