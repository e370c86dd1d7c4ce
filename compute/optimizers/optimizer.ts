import * as tf from "@tensorflow/tfjs";
import { flattenParams, type Params, unflattenParams } from "../params.ts";

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
export interface SlotStep {
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
export function slotOptimizer(rule: SlotRule): Optimizer {
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
        const gradient = flattenParams(gradients, paths);
        const slots: Slots = {};
        for (const name of names) {
          const own = paths.map((path) => `${name}/${path}`);
          slots[name] = flattenParams(state, own);
        }
        const step = rule.countsSteps
          ? tf.add(state[STEP], 1) as tf.Scalar
          : tf.scalar(0);
        const moved = rule.step(gradient, slots, { learningRate, step });
        const flat = tf.sub(flattenParams(params, paths), moved.change);
        const newState: OptimizerState = {};
        for (const name of names) {
          const slot = moved.slots[name] as tf.Tensor1D;
          Object.assign(newState, unflattenParams(slot, params, `${name}/`));
        }
        if (rule.countsSteps) newState[STEP] = step;
        return {
          params: unflattenParams(flat as tf.Tensor1D, params),
          state: newState,
        };
      }),
  };
}

/** Checks that a setting lies in its range. */
export function checkSetting(
  name: string,
  value: number,
  { minimum, below = Infinity }: { minimum: number; below?: number },
): void {
  if (value >= minimum && value < below) return;
  const wanted = below === Infinity
    ? `at least ${minimum}`
    : `at least ${minimum} and below ${below}`;
  throw new RangeError(
    `Cannot make an optimizer with ${name} = ${value}: expected a number ${wanted}`,
  );
}
