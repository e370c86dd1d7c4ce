import { type Params, tidy } from "@bellman/compute";
import { cnn, type CnnOptions } from "./cnn.ts";
import {
  constant,
  type Initializer,
  orthogonal,
  zeros,
} from "./initializers.ts";
import { flattenRows, initialTensor, sizeOf } from "./_layers.ts";
import { lstmSequence } from "./lstm_cell.ts";
import type { Network, NetworkInputs } from "./network.ts";
import { nest, scope } from "./parameters.ts";
import type { RandomSource } from "@bellman/types";

/** Options of {@link lstm} and {@link lnlstm}. */
export interface LstmOptions {
  /** Shape of one input; inputs of more than one axis are flattened. */
  readonly inputShape: readonly number[];
  /**
   * Units, and so features that come out.
   *
   * @default 128
   */
  readonly lstmSize?: number;
  /**
   * First values of `wx` and `wh`; biases start at 0.
   *
   * @default orthogonal(1)
   */
  readonly recurrentInitializer?: Initializer;
}

/** Options of {@link cnnLstm} and {@link cnnLnlstm}. */
export interface CnnLstmOptions extends CnnOptions {
  /**
   * Units, and so features that come out.
   *
   * @default 128
   */
  readonly lstmSize?: number;
  /**
   * First values of `wx` and `wh`; biases start at 0.
   *
   * @default orthogonal(1)
   */
  readonly recurrentInitializer?: Initializer;
}

/**
 * Long short-term memory on the flat inputs (baselines, common/models.py,
 * `lstm`). The state is `[c, h]`. Parameters: `lstm/wx`, `lstm/wh`, `lstm/b`,
 * as {@link lstmCell} takes them.
 *
 * @param options Sizes.
 * @returns The network.
 *
 * @example
 * ```ts
 * import { lstm } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const network = lstm({ inputShape: [4], lstmSize: 32 });
 * assertEquals(network.outputSize, 32);
 * assertEquals(network.stateSize, 64);
 * ```
 */
export function lstm(options: LstmOptions): Network {
  return recurrent(options, false);
}

/**
 * {@link lstm} with layer normalisation (baselines, common/models.py,
 * `lnlstm`). Parameters: those of `lstm`, and `lstm/gx`, `bx`, `gh`, `bh`, `gc`
 * and `bc`.
 *
 * @param options Sizes.
 * @returns The network.
 *
 * @example
 * ```ts
 * import { lnlstm } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const network = lnlstm({ inputShape: [4] });
 * assertEquals(network.outputSize, 128);
 * ```
 */
export function lnlstm(options: LstmOptions): Network {
  return recurrent(options, true);
}

/**
 * {@link cnn}, then {@link lstm} on its features (baselines, common/models.py,
 * `cnn_lstm`). Parameters: those of both.
 *
 * @param options Shape of the images and sizes.
 * @returns The network.
 * @throws {RangeError} If the inputs are not images, or too small for the
 * layers.
 *
 * @example
 * ```ts
 * import { cnnLstm } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const network = cnnLstm({ inputShape: [84, 84, 4] });
 * assertEquals(network.stateSize, 256);
 * ```
 */
export function cnnLstm(options: CnnLstmOptions): Network {
  const features = cnn(options);
  return afterwards(features, lstm(recurrentOptions(features, options)));
}

/**
 * {@link cnn}, then {@link lnlstm} on its features (baselines,
 * common/models.py, `cnn_lnlstm`). Parameters: those of both.
 *
 * @param options Shape of the images and sizes.
 * @returns The network.
 * @throws {RangeError} If the inputs are not images, or too small for the
 * layers.
 *
 * @example
 * ```ts
 * import { cnnLnlstm } from "@bellman/policies";
 * import { assertEquals } from "@std/assert";
 *
 * const network = cnnLnlstm({ inputShape: [84, 84, 4], lstmSize: 64 });
 * assertEquals(network.outputSize, 64);
 * ```
 */
export function cnnLnlstm(options: CnnLstmOptions): Network {
  const features = cnn(options);
  return afterwards(features, lnlstm(recurrentOptions(features, options)));
}

function recurrentOptions(
  features: Network,
  options: CnnLstmOptions,
): LstmOptions {
  const { lstmSize, recurrentInitializer } = options;
  const inputShape = [features.outputSize];
  return { inputShape, lstmSize, recurrentInitializer };
}

function recurrent(options: LstmOptions, layerNorm: boolean): Network {
  const {
    inputShape,
    lstmSize = 128,
    recurrentInitializer = orthogonal(1),
  } = options;
  const inputSize = sizeOf(inputShape);
  const gates = 4 * lstmSize;

  function init(random: RandomSource): Params {
    const shapes: Record<string, [number[], Initializer]> = {
      wx: [[inputSize, gates], recurrentInitializer],
      wh: [[lstmSize, gates], recurrentInitializer],
      b: [[gates], zeros()],
    };
    if (layerNorm) {
      for (
        const [name, size] of [["x", gates], ["h", gates], ["c", lstmSize]]
      ) {
        shapes[`g${name}`] = [[size as number], constant(1)];
        shapes[`b${name}`] = [[size as number], zeros()];
      }
    }
    const params: Params = {};
    for (const [name, [shape, initializer]] of Object.entries(shapes)) {
      params[name] = initialTensor(shape, initializer, random);
    }
    return nest(params, "lstm");
  }

  return {
    inputShape,
    outputSize: lstmSize,
    stateSize: 2 * lstmSize,
    init,
    apply: (params, { x, state, masks }: NetworkInputs) =>
      tidy(() =>
        lstmSequence(scope(params, "lstm"), flattenRows(x), { state, masks })
      ),
  };
}

/** One network on the features of another that has no state. */
function afterwards(first: Network, second: Network): Network {
  return {
    inputShape: first.inputShape,
    outputSize: second.outputSize,
    stateSize: second.stateSize,
    init: (random) => ({ ...first.init(random), ...second.init(random) }),
    apply: (params, inputs) =>
      tidy(() => {
        const { output } = first.apply(params, { x: inputs.x });
        return second.apply(params, { ...inputs, x: output });
      }),
  };
}
