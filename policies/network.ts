import type * as tf from "@tensorflow/tfjs";
import type { Params } from "@bellman/compute";
import type { RandomSource } from "@bellman/types";

/**
 * What a {@link Network} is applied to. The rows are env-major:
 * `row = env * numSteps + step`.
 */
export interface NetworkInputs {
  /** Inputs `[batch, ...inputShape]`, float32. */
  readonly x: tf.Tensor;
  /**
   * Recurrent state before the first step, `[numEnvs, stateSize]` with the
   * cells first and the hidden values after them.
   *
   * @default zeros, with each row taken as an environment of its own
   */
  readonly state?: tf.Tensor2D;
  /**
   * `[batch]`, 1 where an episode starts at this row, so that the state is
   * set to 0 before it; 0 elsewhere.
   *
   * @default zeros
   */
  readonly masks?: tf.Tensor1D;
}

/** What a {@link Network} gives back. */
export interface NetworkOutput {
  /** Features `[batch, outputSize]`. */
  readonly output: tf.Tensor2D;
  /** State after the last step `[numEnvs, stateSize]`; recurrent ones only. */
  readonly state?: tf.Tensor2D;
}

/**
 * A network as a pair of pure functions: one makes parameters, the other
 * applies them. Any object of this form can stand where a network's name can.
 */
export interface Network {
  /** Shape of one input, without the batch. */
  readonly inputShape: readonly number[];
  /** Number of features that come out for one input. */
  readonly outputSize: number;
  /** Numbers of recurrent state for one environment, 0 if there is none. */
  readonly stateSize: number;
  /** Makes new parameters; the paths are relative, as `dense0/kernel`. */
  init(random: RandomSource): Params;
  /** Computes features. The same inputs always give the same outputs. */
  apply(params: Params, inputs: NetworkInputs): NetworkOutput;
}
