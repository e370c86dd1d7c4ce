import { expectedValue, quantileLosses } from "@bellman/policies";
import * as tf from "@tensorflow/tfjs";
import type { DqnConfig } from "./config.ts";

/** Options of {@link returnForm}: settings of DQN, with its defaults. */
export type ReturnFormOptions = Partial<
  Pick<DqnConfig, "values" | "atoms" | "valueRange" | "loss">
>;

/** Losses of a batch, one for each transition. */
export interface RowLosses {
  /** Loss of each transition `[batch]`. */
  readonly losses: tf.Tensor1D;
  /** New replay priorities `[batch]`: absolute TD errors, or losses. */
  readonly priorities: tf.Tensor1D;
}

/** Computes the Huber loss, `d^2 / 2` up to 1 and `|d| - 1/2` beyond, elementwise. */
function huber<T extends tf.Tensor>(errors: T): T {
  const size = tf.abs(errors), inside = tf.minimum(size, 1);
  return tf.mul(inside, tf.sub(size, tf.mul(inside, 0.5))) as T;
}

/**
 * Computes the TD loss of Q-values.
 *
 * Source: Mnih et al. 2015 (https://doi.org/10.1038/nature14236), where errors are
 * clipped to [-1, 1].
 *
 * @param values Q-values of the actions taken `[batch]` or `[batch, 1]`.
 * @param targets Target values of that shape; no gradient flows through them.
 * @param options Loss of a TD error `d`: `d^2 / 2` up to 1 and `|d| - 1/2` beyond
 * (`huber`), or `d^2` (`mse`).
 * @returns Losses, and absolute TD errors.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { tdLoss } from "@bellman/dqn";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const { losses, priorities } = tdLoss(tf.tensor1d([1, 5]), tf.tensor1d([0, 2]));
 * assertEquals(losses.arraySync(), [0.5, 2.5]);
 * assertEquals(priorities.arraySync(), [1, 3]);
 * ```
 */
export function tdLoss(
  values: tf.Tensor,
  targets: tf.Tensor,
  { loss = "huber" }: Pick<ReturnFormOptions, "loss"> = {},
): RowLosses {
  const errors: tf.Tensor1D = tf.reshape(tf.sub(values, targets), [-1]);
  return {
    losses: loss === "mse" ? tf.square(errors) : huber(errors),
    priorities: tf.abs(errors),
  };
}

/** Rewards and discounts of a batch, both `[batch]`. */
export interface Backup {
  /** Rewards; n-step replay: discounted sums. */
  readonly rewards: tf.Tensor1D;
  /** Discounts of the next values, 0 after a termination. */
  readonly discounts: tf.Tensor1D;
}

/** Computes `r + g z` for next returns `z`, `[batch, atoms]` or `[atoms]`. */
function backedUp(
  returns: tf.Tensor,
  { rewards, discounts }: Backup,
): tf.Tensor2D {
  const column = (it: tf.Tensor1D) => tf.reshape(it, [-1, 1]);
  return tf.add(column(rewards), tf.mul(column(discounts), returns));
}

/** Options of {@link projected}. */
export interface ProjectionOptions extends Backup {
  /** Lowest and highest atom; the others are evenly spaced between them. */
  readonly range: readonly [low: number, high: number];
}

/**
 * Projects the distributions of next returns on the atoms (C51): mass `p_i` at `r + g
 * z_i` goes to the two nearest atoms, `m_j = sum_i p_i clip(1 - |clip(r + g z_i) - z_j|
 * / dz, 0, 1)`.
 *
 * Source: Bellemare et al. 2017 (https://arxiv.org/abs/1707.06887), equation 7.
 *
 * @param probabilities Probabilities of the atoms of the next return `[batch, atoms]`.
 * @param options Rewards, discounts, range of the atoms.
 * @returns Target probabilities `[batch, atoms]`, and the fraction of all mass beyond
 * the range, which was clipped to it.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { projected } from "@bellman/dqn";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * // All of it at 0 goes to 0.5, between the atoms 0 and 1.
 * const { targets } = projected(tf.tensor2d([[0, 1, 0]]), {
 *   rewards: tf.tensor1d([0.5]),
 *   discounts: tf.tensor1d([1]),
 *   range: [-1, 1],
 * });
 * assertEquals(targets.arraySync(), [[0, 0.5, 0.5]]);
 * ```
 */
export function projected(
  probabilities: tf.Tensor2D,
  { range: [low, high], ...backup }: ProjectionOptions,
): { targets: tf.Tensor2D; clipped: tf.Scalar } {
  const [batch, atoms] = probabilities.shape;
  const width = (high - low) / (atoms - 1);
  // In units of the atoms' spacing, from the lowest atom.
  const support = tf.range(0, atoms, 1, "float32");
  const returns = tf.add(tf.mul(support, width), low);
  const moved = tf.div(tf.sub(backedUp(returns, backup), low), width);
  const inside = tf.clipByValue(moved, 0, atoms - 1);
  const distance = tf.abs(tf.sub(tf.expandDims(inside, 2), support));
  const shares = tf.relu(tf.sub(1, distance)) as tf.Tensor3D;
  const mass = tf.matMul(tf.expandDims<tf.Tensor3D>(probabilities, 1), shares);
  // Atoms at the ends are inside the range, up to rounding.
  const beyond = tf.greater(tf.abs(tf.sub(moved, inside)), 1e-4 * atoms);
  const lost = tf.mul(probabilities, tf.cast(beyond, "float32"));
  return {
    targets: tf.reshape(mass, [batch, atoms]),
    clipped: tf.div(tf.sum(lost), batch) as tf.Scalar,
  };
}

/**
 * Computes the cross entropies of predicted and target distributions, `-sum_j m_j log
 * p_j`.
 *
 * Source: Bellemare et al. 2017 (https://arxiv.org/abs/1707.06887), algorithm 1.
 *
 * @param logits Logits of the atoms of the actions taken `[batch, atoms]`.
 * @param targets Target probabilities `[batch, atoms]`.
 * @returns Losses, which are also the priorities.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { categoricalLoss } from "@bellman/dqn";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const { losses } = categoricalLoss(tf.tensor2d([[3, 3]]), tf.tensor2d([[0, 1]]));
 * assertAlmostEquals(losses.arraySync()[0], Math.log(2), 1e-6);
 * ```
 */
export function categoricalLoss(
  logits: tf.Tensor2D,
  targets: tf.Tensor2D,
): RowLosses {
  const losses = tf.neg(tf.sum(tf.mul(targets, tf.logSoftmax(logits)), 1));
  return { losses: losses as tf.Tensor1D, priorities: losses as tf.Tensor1D };
}

/** Representation of an action's return by `atoms` numbers. */
export interface ReturnForm {
  /** Numbers for each return. */
  readonly atoms: number;
  /**
   * Computes Q-values.
   *
   * @param outputs Network outputs of all actions `[batch, n, atoms]`.
   * @returns Q-values `[batch, n]`.
   */
  valuesOf(outputs: tf.Tensor3D): tf.Tensor2D;
  /**
   * Computes target values.
   *
   * @param next Network outputs of the best next actions `[batch, atoms]`.
   * @param backup Rewards and discounts.
   * @returns Targets `[batch, atoms]`, their means `[batch]`, and the fraction of
   * clipped mass.
   */
  targetsOf(next: tf.Tensor2D, backup: Backup): {
    targets: tf.Tensor2D;
    values: tf.Tensor;
    clipped?: tf.Scalar;
  };
  /** Computes the losses of network outputs of the actions taken `[batch, atoms]`. */
  lossOf(outputs: tf.Tensor2D, targets: tf.Tensor2D): RowLosses;
}

/**
 * Makes the representation of returns: mean, categorical or quantiles.
 *
 * @param options Kind and size.
 * @returns The representation.
 * @throws {RangeError} If `categorical` has no range, or its ends are not in order.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { returnForm } from "@bellman/dqn";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const { atoms, valuesOf } = returnForm({
 *   values: "categorical",
 *   atoms: 3,
 *   valueRange: [-1, 1],
 * });
 * assertEquals(atoms, 3);
 * const outputs = tf.tensor3d([[[0, 0, 0], [0, 0, 99]]]); // of two actions
 * assertEquals(valuesOf(outputs).arraySync(), [[0, 1]]);
 * ```
 */
export function returnForm(options: ReturnFormOptions = {}): ReturnForm {
  switch (options.values) {
    case "categorical":
      return categoricalForm(options);
    case "quantile":
      return linearForm(options.atoms ?? 50, (quantiles, targets) => {
        const losses = quantileLosses(quantiles, targets);
        return { losses, priorities: losses };
      });
    default:
      return linearForm(1, (...rows) => tdLoss(...rows, options));
  }
}

/** Representation by numbers that are returns. */
function linearForm(atoms: number, lossOf: ReturnForm["lossOf"]): ReturnForm {
  return {
    atoms,
    lossOf,
    valuesOf: expectedValue,
    targetsOf(next, backup) {
      const targets = backedUp(next, backup);
      return { targets, values: expectedValue(targets) };
    },
  };
}

/** Representation by logits of a categorical distribution. */
function categoricalForm({ atoms, valueRange }: ReturnFormOptions): ReturnForm {
  const [low, high] = valueRange ?? [], count = atoms ?? 51;
  if (!(low < high)) {
    throw new RangeError(
      `Cannot learn categorical values with valueRange = ${
        JSON.stringify(valueRange ?? null)
      }: expected [low, high], the least and the largest return, as in valueRange=[0,100]`,
    );
  }
  const valuesOf = (probabilities: tf.Tensor) =>
    tf.sum(tf.mul(probabilities, tf.linspace(low, high, count)), -1);
  return {
    atoms: count,
    lossOf: categoricalLoss,
    valuesOf: (outputs) => valuesOf(tf.softmax(outputs)) as tf.Tensor2D,
    targetsOf(next, backup) {
      const range = [low, high] as const;
      const projection = projected(tf.softmax(next), { ...backup, range });
      return { ...projection, values: valuesOf(projection.targets) };
    },
  };
}
