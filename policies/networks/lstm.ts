import * as tf from "@tensorflow/tfjs";
import {
  customGradient,
  hasOwnGradients,
  mapParams,
  type Params,
  tidy,
} from "@bellman/compute";
import type { RandomSource } from "@bellman/types";
import {
  dense,
  flattenRows,
  initialTensor,
  normalizeRows,
  sizeOf,
} from "./_layers.ts";
import { cnn, type CnnOptions } from "./feed_forward.ts";
import { constant, orthogonal, zeros } from "./initializers.ts";
import {
  addPrefix,
  type Initializer,
  type Network,
  type NetworkInputs,
  parameter,
  pickPrefix,
} from "./network.ts";

/** Result of {@link lstmSequence}. */
export interface LstmSequenceOutput {
  /** Hidden states of all steps `[numEnvs * numSteps, size]`. */
  readonly output: tf.Tensor2D;
  /** Recurrent state after the last step `[numEnvs, 2 size]`. */
  readonly state: tf.Tensor2D;
}

/**
 * Runs an LSTM over the steps of several environments (baselines/a2c/utils.py, `lstm`
 * and `lnlstm`): `z = x wx + h wh + b`, split in four: input gate, forget gate, output
 * gate, candidate; `c' = sigmoid(f) c + sigmoid(i) tanh(u)` and `h' = sigmoid(o)
 * tanh(c')`.
 *
 * If the parameters contain `gx`, layer normalization (Ba et al. 2016,
 * https://arxiv.org/abs/1607.06450) is applied to both products and to the new cell
 * state where the output gate reads it.
 *
 * @param params `wx [in, 4 size]`, `wh [size, 4 size]`, `b [4 size]`; with layer
 * normalization also gains and biases `gx`, `bx`, `gh`, `bh` `[4 size]` and `gc`, `bc`
 * `[size]`.
 * @param x Inputs `[numEnvs * numSteps, in]`, env-major.
 * @param options Recurrent state before the first step, and episode starts.
 * @returns Hidden states, env-major, and the last recurrent state.
 * @throws {RangeError} If the rows are no multiple of the environments.
 */
export function lstmSequence(
  params: Params,
  x: tf.Tensor2D,
  options: {
    /**
     * Recurrent state `[numEnvs, 2 size]`: cell state, then hidden state.
     *
     * @default zeros, with each row taken as an environment of its own
     */
    readonly state?: tf.Tensor2D;
    /**
     * Episode starts `[numEnvs * numSteps]`: 1 where the recurrent state is reset before
     * the step.
     *
     * @default zeros
     */
    readonly masks?: tf.Tensor1D;
  } = {},
): LstmSequenceOutput {
  return tidy(() => runAlike([[params, { x, ...options }]])[0]);
}

/** Parameters and inputs of one LSTM. */
type Applied = readonly [params: Params, inputs: NetworkInputs];

/**
 * Runs LSTMs of equal sizes over equally many steps. Those without layer normalization
 * run as one, on tensors with an additional first axis: few large operations are faster
 * than many small ones.
 */
function runAlike(each: readonly Applied[]): LstmSequenceOutput[] {
  const [[params, { x, state }]] = each, rows = x.shape[0];
  const size = parameter(params, "wh").shape[0];
  const numEnvs = state?.shape[0] ?? rows;
  const numSteps = rows / numEnvs;
  if (!Number.isInteger(numSteps)) {
    throw new RangeError(
      `Cannot run an LSTM over ${rows} rows of ${numEnvs} environments: the rows must be a multiple of the environments`,
    );
  }
  const isPlain = params.gx === undefined;
  const isWorth = isPlain && numSteps > 1 && hasOwnGradients();
  if (each.length > 1 && !isWorth) return each.flatMap((it) => runAlike([it]));
  const begun = stacked(each.map((it) => beginOf(it, { numEnvs, size })));
  const { h, c } = isPlain ? plainSteps(begun) : runSteps(params, begun);
  const parts = (it: tf.Tensor): tf.Tensor2D[] =>
    each.length > 1 ? tf.unstack(it) as tf.Tensor2D[] : [it as tf.Tensor2D];
  const cells = parts(c);
  return parts(h).map((h, i) => {
    const last = tf.slice(h, [rows - numEnvs, 0]);
    return {
      output: timeMajor(h, numSteps),
      state: tf.concat([cells[i], last], 1),
    };
  });
}

/** Stacks records of equal tensors along a new first axis, if there are several. */
function stacked<T extends Record<string, tf.Tensor>>(each: T[]): T {
  return each.length === 1 ? each[0] : mapParams(
    each[0],
    (_, name) => tf.stack(each.map((it) => it[name])),
  ) as T;
}

/** Prepares the inputs of the steps of an LSTM. */
function beginOf(
  [params, { x, state, masks }]: Applied,
  { numEnvs, size }: { readonly numEnvs: number; readonly size: number },
): Begun {
  const keep = masks
    ? tf.reshape(tf.sub(1, masks), [-1, 1])
    : tf.ones([x.shape[0], 1]);
  const [c, h] = tf.split(state ?? tf.zeros([numEnvs, 2 * size]), 2, 1);
  return {
    wh: parameter(params, "wh"),
    z: timeMajor(projectInputs(params, flattenRows(x)), numEnvs),
    keep: timeMajor(keep as tf.Tensor2D, numEnvs),
    c: c as tf.Tensor2D,
    h: h as tf.Tensor2D,
  };
}

/** Computes the input part of `z`, for all steps at once. */
function projectInputs(params: Params, x: tf.Tensor2D): tf.Tensor2D {
  const wx = parameter<tf.Tensor2D>(params, "wx");
  const b = parameter<tf.Tensor1D>(params, "b");
  if (params.gx === undefined) return dense(x, wx, b);
  const shift = tf.add(parameter<tf.Tensor1D>(params, "bx"), b) as tf.Tensor1D;
  const projected = tf.matMul(x, wx) as tf.Tensor2D;
  return normalizeRows(projected, parameter(params, "gx"), shift);
}

/** Computes the hidden-state part of `z`. */
function projectHidden(params: Params, h: tf.Tensor2D): tf.Tensor2D {
  const wh = parameter<tf.Tensor2D>(params, "wh");
  const projected = tf.matMul(h, wh) as tf.Tensor2D;
  if (params.gh === undefined) return projected;
  return normalizeRows(
    projected,
    parameter(params, "gh"),
    parameter(params, "bh"),
  );
}

/**
 * Inputs of the steps of an LSTM; those of several stacked LSTMs have an additional
 * first axis.
 */
type Begun = {
  /** Weights of the hidden state `[size, 4 size]`. */
  readonly wh: tf.Tensor2D;
  /** Input part of `z`, time-major `[rows, 4 size]`. */
  readonly z: tf.Tensor2D;
  /** 0 where the recurrent state is reset before the step, else 1 `[rows, 1]`. */
  readonly keep: tf.Tensor2D;
  /** Cell state before the first step `[numEnvs, size]`. */
  readonly c: tf.Tensor2D;
  /** Hidden state before the first step. */
  readonly h: tf.Tensor2D;
};

/** Results of all steps, time-major `[numSteps * numEnvs, columns]`. */
interface Steps {
  /** Hidden states. */
  readonly h: tf.Tensor2D;
  /** Cell state after the last step `[numEnvs, size]`. */
  readonly c: tf.Tensor2D;
  /** Input, forget and output gates, side by side. */
  readonly gates: tf.Tensor2D;
  /** Candidates. */
  readonly u: tf.Tensor2D;
  /** Cells as the output gate sees them. */
  readonly shown: tf.Tensor2D;
  /** Cell and hidden states before each step. */
  readonly before: { readonly c: tf.Tensor2D; readonly h: tf.Tensor2D };
}

function runSteps(
  params: Params,
  { z, keep, ...start }: Omit<Begun, "wh">,
): Steps {
  const [numEnvs, size] = start.c.shape.slice(-2);
  const kept = splitSteps(keep, numEnvs);
  let { c, h } = start;
  const results = splitSteps(z, numEnvs).map((zx, t) => {
    [c, h] = [tf.mul(c, kept[t]), tf.mul(h, kept[t])];
    const before = { c, h };
    const sum = tf.add(zx, projectHidden(params, h));
    const [z3, zu] = splitColumns(sum, [3 * size, size]);
    const gates = tf.sigmoid(z3) as tf.Tensor2D, u = tf.tanh(zu) as tf.Tensor2D;
    const [i, f, o] = splitColumns(gates, 3);
    c = tf.add(tf.mul(f, c), tf.mul(i, u)) as tf.Tensor2D;
    const shown = tf.tanh(
      params.gc === undefined
        ? c
        : normalizeRows(c, parameter(params, "gc"), parameter(params, "bc")),
    ) as tf.Tensor2D;
    h = tf.mul(o, shown) as tf.Tensor2D;
    return { h, gates, u, shown, before };
  });
  return {
    h: joinSteps(results.map((it) => it.h)),
    c,
    gates: joinSteps(results.map((it) => it.gates)),
    u: joinSteps(results.map((it) => it.u)),
    shown: joinSteps(results.map((it) => it.shown)),
    before: {
      c: joinSteps(results.map((it) => it.before.c)),
      h: joinSteps(results.map((it) => it.before.h)),
    },
  };
}

/**
 * Runs an LSTM without layer normalization with a custom gradient: the backward pass
 * computes all that does not depend on the next step for all steps at once, since few
 * large operations are faster than many small ones.
 */
function plainSteps({ wh, z, keep, c, h }: Begun): Pick<Steps, "h" | "c"> {
  const [rows, numEnvs] = [z, c].map((it) => it.shape.at(-2)!);
  const run = customGradient<tf.Tensor2D>((...args) => {
    const [z, wh, c, h, keep] = args as tf.Tensor2D[];
    const save = args[5] as unknown as tf.GradSaveFunc;
    const results = runSteps({ wh }, { z, c, h, keep });
    const { gates, u, shown, before } = results;
    save([wh, keep, gates, u, shown, before.c, before.h]);
    return {
      value: joinSteps([results.h, results.c]),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) =>
        gradientsOf(dy as tf.Tensor2D, saved as tf.Tensor2D[]),
    };
  });
  const both = run(z, wh, c, h, keep);
  const [hidden, cells] = tf.split(both, [rows, numEnvs], both.rank - 2);
  return { h: hidden as tf.Tensor2D, c: cells as tf.Tensor2D };
}

/** Computes the gradients of `z`, `wh`, and the recurrent state before the first step. */
function gradientsOf(
  dy: tf.Tensor2D,
  [wh, keep, gates, u, shown, cBefore, hBefore]: tf.Tensor2D[],
): tf.Tensor[] {
  const numEnvs = dy.shape.at(-2)! - u.shape.at(-2)!;
  const [i, f, o] = splitColumns(gates, 3);
  const slope = (gate: tf.Tensor) => tf.mul(gate, tf.sub(1, gate));
  const tanhSlope = (it: tf.Tensor) => tf.sub(1, tf.square(it));
  // Derivatives of hidden by cell state, of cell state by the one before, and of z.
  const dcOfH = splitSteps(tf.mul(o, tanhSlope(shown)), numEnvs);
  const dcOfC = splitSteps(tf.mul(f, keep), numEnvs);
  const dzOf = splitSteps(
    joinColumns([
      tf.mul(u, slope(i)),
      tf.mul(cBefore, slope(f)),
      tf.mul(shown, slope(o)),
      tf.mul(i, tanhSlope(u)),
    ]),
    numEnvs,
  );
  const kept = splitSteps(keep, numEnvs), dhs = splitSteps(dy, numEnvs);
  let dc = dhs.pop()!, dh = dhs.at(-1)!;
  const dzs = new Array<tf.Tensor2D>(dhs.length);
  for (let t = dhs.length - 1; t >= 0; t--) {
    dc = tf.add(dc, tf.mul(dh, dcOfH[t]));
    dzs[t] = tf.mul(joinColumns([dc, dc, dh, dc]), dzOf[t]);
    dc = tf.mul(dc, dcOfC[t]);
    dh = tf.mul(tf.matMul(dzs[t], wh, false, true), kept[t]);
    if (t > 0) dh = tf.add(dh, dhs[t - 1]);
  }
  const dz = joinSteps(dzs);
  return [dz, tf.matMul(hBefore, dz, true), dc, dh, tf.zerosLike(keep)];
}

/** Turns `[outer * inner, columns]` into `[inner * outer, columns]`. */
function timeMajor(rows: tf.Tensor2D, outer: number): tf.Tensor2D {
  const [count, columns] = rows.shape;
  if (outer === 1 || outer === count) return rows;
  const cube = tf.reshape(rows, [outer, count / outer, columns]);
  return tf.reshape(tf.transpose(cube, [1, 0, 2]), [count, columns]);
}

/** Splits time-major rows into one tensor for each step. */
function splitSteps(rows: tf.Tensor, numEnvs: number): tf.Tensor2D[] {
  const axis = rows.rank - 2, count = rows.shape[axis] / numEnvs;
  return count === 1 ? [rows as tf.Tensor2D] : tf.split(rows, count, axis);
}

/** Joins the tensors of all steps. */
function joinSteps(steps: tf.Tensor2D[]): tf.Tensor2D {
  return steps.length === 1 ? steps[0] : tf.concat(steps, steps[0].rank - 2);
}

/** Splits columns into a number of equal parts, or parts of these sizes. */
function splitColumns(it: tf.Tensor, sizes: number | number[]): tf.Tensor2D[] {
  return tf.split(it, sizes, it.rank - 1) as tf.Tensor2D[];
}

/** Joins columns. */
function joinColumns(parts: tf.Tensor[]): tf.Tensor2D {
  return tf.concat(parts, parts[0].rank - 1) as tf.Tensor2D;
}

/** Options of {@link lstm} and {@link lnlstm}. */
export interface LstmOptions {
  /** Shape of one input; inputs with several axes are flattened. */
  readonly inputShape: readonly number[];
  /**
   * Number of units, and of features.
   *
   * @default 128
   */
  readonly lstmSize?: number;
}

/** Options of {@link cnnLstm} and {@link cnnLnlstm}. */
export interface CnnLstmOptions extends CnnOptions, LstmOptions {}

/**
 * Makes an LSTM on flattened inputs (baselines, common/models.py, `lstm`). The
 * recurrent state is `[c, h]`. Parameters: `lstm/wx`, `lstm/wh`, `lstm/b`, as in
 * {@link lstmSequence}.
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
 * Makes an {@link lstm} with layer normalization (baselines, common/models.py,
 * `lnlstm`). Parameters: those of `lstm`, and `lstm/gx`, `bx`, `gh`, `bh`, `gc` and
 * `bc`.
 *
 * @param options Sizes.
 * @returns The network.
 */
export function lnlstm(options: LstmOptions): Network {
  return recurrent(options, true);
}

/**
 * Makes a {@link cnn} followed by an {@link lstm} (baselines, common/models.py,
 * `cnn_lstm`). Parameters: those of both.
 *
 * @param options Shape of the images and sizes.
 * @returns The network.
 * @throws {RangeError} If the inputs are not images, or too small for the
 * layers.
 */
export function cnnLstm(options: CnnLstmOptions): Network {
  return recurrentOnImages(options, false);
}

/**
 * Makes a {@link cnn} followed by an {@link lnlstm} (baselines, common/models.py,
 * `cnn_lnlstm`). Parameters: those of both.
 *
 * @param options Shape of the images and sizes.
 * @returns The network.
 * @throws {RangeError} If the inputs are not images, or too small for the
 * layers.
 */
export function cnnLnlstm(options: CnnLstmOptions): Network {
  return recurrentOnImages(options, true);
}

/** Makes convolutions, then the LSTM. */
function recurrentOnImages(
  options: CnnLstmOptions,
  layerNorm: boolean,
): Network {
  const first = cnn(options);
  const inputShape = [first.outputSize];
  const second = recurrent({ ...options, inputShape }, layerNorm);
  const applyAll = (each: readonly Applied[]) =>
    second.applyAll!(each.map(([params, inputs]) => {
      const { output } = first.apply(params, { x: inputs.x });
      return [params, { ...inputs, x: output }];
    }));
  return {
    inputShape: first.inputShape,
    outputSize: second.outputSize,
    stateSize: second.stateSize,
    init: (random) => ({ ...first.init(random), ...second.init(random) }),
    apply: (...applied) => tidy(() => applyAll([applied])[0]),
    applyAll,
  };
}

function recurrent(options: LstmOptions, layerNorm: boolean): Network {
  const { inputShape, lstmSize = 128 } = options;
  const inputSize = sizeOf(inputShape);
  const gates = 4 * lstmSize;

  function init(random: RandomSource): Params {
    const shapes: Record<string, [number[], Initializer]> = {
      wx: [[inputSize, gates], orthogonal()],
      wh: [[lstmSize, gates], orthogonal()],
      b: [[gates], zeros()],
    };
    if (layerNorm) {
      const sizes = { x: gates, h: gates, c: lstmSize };
      for (const [name, size] of Object.entries(sizes)) {
        shapes[`g${name}`] = [[size], constant(1)];
        shapes[`b${name}`] = [[size], zeros()];
      }
    }
    const params: Params = {};
    for (const [name, [shape, initializer]] of Object.entries(shapes)) {
      params[name] = initialTensor(shape, initializer, random);
    }
    return addPrefix(params, "lstm");
  }

  const applyAll = (each: readonly Applied[]) =>
    runAlike(
      each.map(([params, inputs]) => [pickPrefix(params, "lstm"), inputs]),
    );

  return {
    inputShape,
    outputSize: lstmSize,
    stateSize: 2 * lstmSize,
    init,
    apply: (...applied) => tidy(() => applyAll([applied])[0]),
    applyAll,
  };
}
