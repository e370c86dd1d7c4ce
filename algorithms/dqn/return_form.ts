import * as tf from "@tensorflow/tfjs";
import {
  categoricalLoss,
  projected,
  quantileLoss,
  type RowLosses,
  tdLoss,
  type TdLossOptions,
} from "./loss.ts";

/** Rewards of transitions, and discounts of what follows, 0 after a termination, both `[batch]`. */
export interface Backup {
  /** Rewards, of n-step replay their discounted sums. */
  readonly rewards: tf.Tensor1D;
  /** Discounts. */
  readonly discounts: tf.Tensor1D;
}

/** Form in which a Q function describes the return of an action, by `atoms` numbers. */
export interface ReturnForm {
  /** Numbers of one return. */
  readonly atoms: number;
  /**
   * Computes values.
   *
   * @param outputs Outputs of all actions `[batch, n, atoms]`.
   * @returns Values `[batch, n]`.
   */
  valuesOf(outputs: tf.Tensor3D): tf.Tensor2D;
  /**
   * Computes targets.
   *
   * @param next Outputs of the best actions after the steps `[batch, atoms]`.
   * @param backup Rewards and discounts.
   * @returns Targets `[batch, atoms]`, their values `[batch]`, and statistics.
   */
  targetsOf(next: tf.Tensor2D, backup: Backup): {
    targets: tf.Tensor2D;
    values: tf.Tensor;
    stats?: Record<string, tf.Scalar>;
  };
  /** Computes losses of outputs of the actions taken `[batch, atoms]`. */
  lossOf(outputs: tf.Tensor2D, targets: tf.Tensor2D): RowLosses;
}

/** Options of {@link returnForm}. */
export interface ReturnFormOptions extends TdLossOptions {
  /**
   * Means, a distribution on atoms, or quantiles.
   *
   * @default "mean"
   */
  readonly values?: "mean" | "categorical" | "quantile";
  /**
   * Atoms or quantiles.
   *
   * @default 51 or 50
   */
  readonly atoms?: number | null;
  /**
   * Range of the atoms, which `categorical` needs.
   *
   * @default none
   */
  readonly valueRange?: readonly number[] | null;
}

/**
 * Makes the form of the returns that a Q function learns.
 *
 * @param options Form and size.
 * @returns The form.
 * @throws {RangeError} If `categorical` has no range, or its low end is not below the
 * high one.
 *
 * @example
 * ```ts
 * import { returnForm } from "@bellman/dqn";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
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
      return linearForm(options.atoms ?? 50, quantileLoss);
    default:
      return linearForm(
        1,
        (outputs, targets) => tdLoss(flat(outputs), flat(targets), options),
      );
  }
}

const flat = (it: tf.Tensor): tf.Tensor1D => tf.reshape(it, [-1]);

/** Takes the last axis' mean, of one number the number itself. */
const meanOf = (it: tf.Tensor): tf.Tensor =>
  it.shape.at(-1) === 1
    ? tf.reshape(it, it.shape.slice(0, -1))
    : tf.mean(it, -1);

/** Form whose numbers are returns. */
function linearForm(atoms: number, lossOf: ReturnForm["lossOf"]): ReturnForm {
  return {
    atoms,
    lossOf,
    valuesOf: (outputs) => meanOf(outputs) as tf.Tensor2D,
    targetsOf(next, { rewards, discounts }) {
      const column = (it: tf.Tensor1D) => tf.reshape(it, [-1, 1]);
      const targets: tf.Tensor2D = tf.add(
        column(rewards),
        tf.mul(column(discounts), next),
      );
      return { targets, values: meanOf(targets) };
    },
  };
}

/** Form whose numbers are logits of returns. */
function categoricalForm({ atoms, valueRange }: ReturnFormOptions): ReturnForm {
  const [low, high] = valueRange ?? [], count = atoms ?? 51;
  if (!(low < high)) {
    throw new RangeError(
      `Cannot learn categorical values with valueRange = ${
        JSON.stringify(valueRange ?? null)
      }: expected [low, high], the least and the largest return, as in valueRange=[0,100]`,
    );
  }
  const valuesOf = (probabilities: tf.Tensor) => {
    const returns = tf.linspace(low, high, count);
    return tf.sum(tf.mul(probabilities, returns), -1);
  };
  return {
    atoms: count,
    lossOf: categoricalLoss,
    valuesOf: (outputs) => valuesOf(tf.softmax(outputs)) as tf.Tensor2D,
    targetsOf(next, backup) {
      const { targets, clipped } = projected(tf.softmax(next), {
        ...backup,
        range: [low, high],
      });
      const values = valuesOf(targets);
      return { targets, values, stats: { clipped_mass: clipped } };
    },
  };
}
