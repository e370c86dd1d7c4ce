import { type Params, tidy, trace, type TypeTree } from "@bellman/compute";
import { closest } from "fastest-levenshtein";
import * as tf from "@tensorflow/tfjs";

/**
 * A layer `s = W' a + b` of a network, dense, convolutional or recurrent: its
 * block of the Fisher matrix is a Kronecker product. It is known by the path of
 * its kernel.
 */
export interface KfacLayer {
  /** Path of the kernel `[..., outputs]`, the second factor of a product. */
  readonly kernel: string;
  /**
   * Path of the bias `[outputs]`, the layer's weight for an input of 1.
   *
   * @default none
   */
  readonly bias?: string;
}

/** Inputs and output gradients of a layer for one batch. */
export interface LayerRows {
  /** Inputs `[rows, inputs]`, the last column 1 where there is a bias. */
  readonly inputs: tf.Tensor2D;
  /** Gradients of each example's log-likelihood by the outputs `[rows, outputs]`. */
  readonly gradients: tf.Tensor2D;
  /** Rows of one example that follow each other: places of a convolution. */
  readonly positions: number;
  /** Examples of the batch. */
  readonly examples: number;
}

/** {@link LayerRows} of every layer, by the paths of the kernels. */
export type FisherRows = Readonly<Record<string, LayerRows>>;

/** Loss of a batch, and the likelihood whose Fisher matrix is used. */
export interface KfacObjective {
  /** Loss that is minimized. */
  readonly loss: tf.Scalar;
  /**
   * Logarithm of each example's likelihood `[batch]`: of targets sampled from
   * the model (the Fisher matrix), or of the actual ones (the empirical one).
   */
  readonly logLikelihood: tf.Tensor;
  /**
   * Further results.
   *
   * @default {}
   */
  readonly aux?: Params;
}

/** Sizes of a layer's weight matrix. */
export interface LayerSizes {
  /** Rows: numbers of an input, and one more with a bias. */
  readonly inputs: number;
  /** Columns: numbers of an output. */
  readonly outputs: number;
}

/** Returns the sizes of a layer's weight matrix, bias included. */
export function layerSizes(layer: KfacLayer, params: Params): LayerSizes {
  const { shape, size } = params[layer.kernel];
  const outputs = shape[shape.length - 1];
  return {
    inputs: size / outputs + (layer.bias === undefined ? 0 : 1),
    outputs,
  };
}

/** Joins maps of a layer's kernel and bias to one matrix `[inputs, outputs]`. */
export function layerMatrix(layer: KfacLayer, values: Params): tf.Tensor2D {
  const kernel = values[layer.kernel];
  const outputs = kernel.shape[kernel.shape.length - 1];
  const weights = tf.reshape(kernel, [-1, outputs]) as tf.Tensor2D;
  if (layer.bias === undefined) return weights;
  const bias = tf.reshape(values[layer.bias], [1, outputs]) as tf.Tensor2D;
  return tf.concat([weights, bias], 0);
}

/** Cuts a layer's matrix into its kernel and its bias, by their paths. */
export function splitLayerMatrix(
  layer: KfacLayer,
  matrix: tf.Tensor2D,
  like: Params,
): Params {
  const { shape } = like[layer.kernel];
  if (layer.bias === undefined) {
    return { [layer.kernel]: tf.reshape(matrix, shape) };
  }
  const [rows, columns] = matrix.shape;
  const [kernel, bias] = tf.split(matrix, [rows - 1, 1], 0);
  return {
    [layer.kernel]: tf.reshape(kernel, shape),
    [layer.bias]: tf.reshape(bias, [columns]),
  };
}

/** Options of {@link findLayers}. */
export interface FindLayersOptions<Types extends TypeTree> {
  /** Parameters of the network. */
  readonly params: Params;
  /** Shapes and types of all else that the function takes. */
  readonly inputs: Types;
  /**
   * Parameters of no known layer, such as gains of a normalization: an error,
   * or the plain gradient for them.
   *
   * @default "error"
   */
  readonly others?: "error" | "gradient";
}

/**
 * Finds the layers of a network in the operations that use its parameters:
 * matrix products and two-dimensional convolutions, with the bias that is added
 * to what they make. The function is traced, not computed.
 *
 * @param apply The network, or the objective: a pure function of parameters and
 * inputs in TensorFlow.js operations.
 * @param options Parameters and inputs.
 * @returns The layers, in the order of the parameters.
 * @throws {TypeError} If a parameter is of no known layer; the message names it
 * and the operations that use it.
 *
 * @example
 * ```ts
 * import { findLayers } from "@bellman/kfac";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const layers = findLayers(
 *   ({ w, b, v }, { x }) => tf.matMul(tf.tanh(tf.add(tf.matMul(x, w), b)), v),
 *   {
 *     params: { w: tf.zeros([3, 4]), b: tf.zeros([4]), v: tf.zeros([4, 1]) },
 *     inputs: { x: { shape: [8, 3], dtype: "float32" } },
 *   },
 * );
 * assertEquals(layers, [{ kernel: "w", bias: "b" }, { kernel: "v" }]);
 * ```
 */
export function findLayers<const Types extends TypeTree>(
  // deno-lint-ignore no-explicit-any -- the inputs are as free as the function
  apply: (params: Params, inputs: any) => unknown,
  options: FindLayersOptions<Types>,
): KfacLayer[] {
  const { params, inputs, others = "error" } = options;
  const paths = Object.keys(params);
  let found: Observer | undefined;
  trace((given) => {
    const { params, inputs } = given as unknown as Record<string, Params>;
    const observer = found = new Observer(params);
    // Where gradients are taken, TensorFlow.js runs other operations.
    tf.engine().gradients(
      () => {
        observer.observe(() => apply(params, inputs));
        return tf.sum(params[paths[0]]);
      },
      [params[paths[0]]],
    );
    observer.release();
    return {};
  }, { params, inputs });
  const { uses, biases, elsewhere } = found!;
  const kernels = new Set(uses.map(({ kernel }) => kernel));
  const layers = paths.filter((it) => kernels.has(it)).map((kernel) => {
    const bias = biases.get(kernel);
    return bias === undefined ? { kernel } : { kernel, bias };
  });
  if (others === "error") {
    const known = new Set(layers.flatMap(({ kernel, bias }) => [kernel, bias]));
    for (const path of paths) {
      if (!known.has(path)) throw unknownLayer(path, elsewhere.get(path));
    }
  }
  return layers;
}

function unknownLayer(path: string, ops?: ReadonlySet<string>): TypeError {
  const use = ops === undefined
    ? "nothing uses it"
    : `${[...ops].join(", ")} uses it`;
  return new TypeError(
    `Cannot make factors for the parameter '${path}': ${use}, expected tf.matMul(x, w), tf.conv2d(x, w) or a bias added to their results; others: "gradient" takes the plain gradient`,
  );
}

/**
 * Checks layers that are registered by the paths of their parameters.
 *
 * @throws {RangeError} If a path is unknown or in two layers, or a bias has not
 * one number for each output.
 * @throws {TypeError} If a parameter is in no layer and `others` is "error".
 */
export function checkLayers(
  layers: readonly KfacLayer[],
  { params, others }: { params: Params; others: "error" | "gradient" },
): void {
  const paths = Object.keys(params);
  const known = new Set<string>();
  for (const layer of layers) {
    for (const path of [layer.kernel, layer.bias]) {
      if (path === undefined) continue;
      if (!Object.hasOwn(params, path)) {
        throw new RangeError(
          `Unknown parameter '${path}' of a layer: did you mean '${
            closest(path, paths)
          }'?`,
        );
      }
      if (known.has(path)) {
        throw new RangeError(
          `Cannot register the parameter '${path}' twice: expected it in one layer`,
        );
      }
      known.add(path);
    }
    const { kernel, bias } = layer;
    const { outputs } = layerSizes(layer, params);
    if (bias !== undefined && params[bias].size !== outputs) {
      throw new RangeError(
        `Cannot register the bias '${bias}' of ${
          params[bias].size
        } numbers with '${kernel}': expected ${outputs}`,
      );
    }
  }
  const missing = paths.find((path) => !known.has(path));
  if (missing === undefined || others === "gradient") return;
  throw new TypeError(
    `Cannot take natural gradients for '${missing}': it is in no layer; register it, or take its plain gradient with others: "gradient"`,
  );
}

/**
 * Computes the inputs of all layers and the gradients of the log-likelihood by
 * their outputs, in the same operations as the likelihood itself.
 *
 * @param logLikelihood Function of the parameters that gives one number for
 * each example.
 * @param params The parameters.
 * @param options The layers.
 * @returns New tensors by the paths of the kernels.
 * @throws {TypeError} If a layer's kernel is not used as one.
 *
 * @example
 * ```ts
 * import { fisherRows } from "@bellman/kfac";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const x = tf.tensor2d([[1, 2], [3, 4]]);
 * const rows = fisherRows(
 *   ({ w }) => tf.mul(tf.matMul(x, w), tf.tensor2d([[5], [7]])),
 *   { w: tf.zeros([2, 1]) },
 *   { layers: [{ kernel: "w" }] },
 * );
 * assertEquals(rows.w.inputs.arraySync(), [[1, 2], [3, 4]]);
 * assertEquals(rows.w.gradients.arraySync(), [[5], [7]]);
 * ```
 */
export function fisherRows(
  logLikelihood: (params: Params) => tf.Tensor,
  params: Params,
  { layers }: { layers: readonly KfacLayer[] },
): FisherRows {
  return tidy(() => {
    const observer = new Observer(params);
    let examples = 0;
    // The outputs are known once the function has run: the list is read then.
    const outputs: tf.Tensor[] = [tf.scalar(0)];
    const { grads } = tf.engine().gradients(
      () => {
        const likelihood = observer.observe(() => logLikelihood(params));
        examples = likelihood.size;
        outputs.push(...observer.uses.map(({ output }) => output));
        return tf.sum(likelihood) as tf.Tensor;
      },
      outputs,
      undefined,
      true,
    );
    const rows: Record<string, LayerRows> = {};
    for (const layer of layers) {
      const { kernel } = layer;
      const uses = observer.uses
        .map((use, i) => ({ use, gradient: grads[i + 1] }))
        .filter(({ use }) => use.kernel === kernel);
      if (uses.length === 0) {
        throw unknownLayer(kernel, observer.elsewhere.get(kernel));
      }
      const inputs = uses.map(({ use }) => inputRows(use));
      const gradients = uses.map(({ use, gradient }) =>
        tf.reshape(
          gradient ?? tf.zeros(use.output.shape),
          [-1, layerSizes(layer, params).outputs],
        ) as tf.Tensor2D
      );
      rows[kernel] = rowsOf(layer, { inputs, gradients, examples });
    }
    observer.release();
    return rows;
  });
}

/** Joins the uses of a layer, and puts a 1 behind its inputs for the bias. */
function rowsOf(
  layer: KfacLayer,
  { inputs, gradients, examples }: {
    inputs: tf.Tensor2D[];
    gradients: tf.Tensor2D[];
    examples: number;
  },
): LayerRows {
  const all = inputs.length === 1 ? inputs[0] : tf.concat(inputs, 0);
  const [count] = all.shape;
  const positions = count / examples;
  return {
    inputs: layer.bias === undefined
      ? all
      : tf.concat([all, tf.ones<tf.Rank.R2>([count, 1])], 1),
    gradients: gradients.length === 1 ? gradients[0] : tf.concat(gradients, 0),
    // Steps of a recurrent layer are taken for examples of their own.
    positions: inputs.length === 1 && Number.isInteger(positions)
      ? positions
      : 1,
    examples,
  };
}

/** One use of a kernel. */
interface Use {
  readonly kernel: string;
  readonly input: tf.Tensor;
  readonly output: tf.Tensor;
  /** Settings of a convolution; undefined for a product. */
  readonly windows?: Windows;
}

/** Returns what a use multiplies its kernel with, a row for each output row. */
function inputRows({ input, windows }: Use): tf.Tensor2D {
  const rows = windows === undefined
    ? input
    : imagePatches(input as tf.Tensor4D, windows);
  return tf.reshape(rows, [-1, rows.shape[rows.shape.length - 1]]);
}

/** Settings of {@link imagePatches}, as those of `tf.conv2d`. */
export interface Windows {
  /** Height and width of the filter. */
  readonly filterSize: readonly [number, number];
  /** Steps between two places. */
  readonly strides: number | [number, number];
  /** Padding. */
  readonly pad: "valid" | "same" | number | tf.backend_util.ExplicitPadding;
  /**
   * Distance between the numbers that a filter takes.
   *
   * @default 1
   */
  readonly dilations?: number | [number, number];
  /**
   * Rounding of sizes, where the padding is a number.
   *
   * @default none
   */
  readonly dimRoundingMode?: "floor" | "round" | "ceil";
}

/**
 * Computes what a convolution multiplies its filters with at each place, in the
 * filters' order: height, width, channel.
 *
 * @param images Images `[batch, height, width, channels]`.
 * @param windows Settings of the convolution.
 * @returns Patches `[batch, outHeight, outWidth, filterHeight * filterWidth *
 * channels]`.
 *
 * @example
 * ```ts
 * import { imagePatches } from "@bellman/kfac";
 * import { assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const images = tf.tensor4d([1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 3, 3, 1]);
 * const patches = imagePatches(images, {
 *   filterSize: [2, 2],
 *   strides: 1,
 *   pad: "valid",
 * });
 * assertEquals(patches.shape, [1, 2, 2, 4]);
 * assertEquals([...patches.dataSync()].slice(0, 4), [1, 2, 4, 5]);
 * ```
 */
export function imagePatches(
  images: tf.Tensor4D,
  windows: Windows,
): tf.Tensor4D {
  const { filterSize: [height, width], strides, pad, dilations } = windows;
  const channels = images.shape[3];
  const info = tf.backend_util.computeConv2DInfo(
    images.shape,
    [height, width, channels, 1],
    strides,
    dilations ?? 1,
    pad,
    windows.dimRoundingMode,
  );
  const { strideHeight: down, strideWidth: across, padInfo } = info;
  const { top, left } = padInfo;
  // Padding behind is what the last place needs, as sizes may be rounded.
  const [bottom, right] = [
    (info.outHeight - 1) * down + info.effectiveFilterHeight - images.shape[1] -
    top,
    (info.outWidth - 1) * across + info.effectiveFilterWidth -
    images.shape[2] - left,
  ].map((it) => Math.max(0, it));
  return tidy(() => {
    const padded = top + bottom + left + right === 0
      ? images
      : tf.pad(images, [[0, 0], [top, bottom], [left, right], [0, 0]]);
    const parts: tf.Tensor4D[] = [];
    for (let i = 0; i < height; i++) {
      for (let j = 0; j < width; j++) {
        const y = i * info.dilationHeight, x = j * info.dilationWidth;
        parts.push(tf.stridedSlice(
          padded,
          [0, y, x, 0],
          [
            images.shape[0],
            y + (info.outHeight - 1) * down + 1,
            x + (info.outWidth - 1) * across + 1,
            channels,
          ],
          [1, down, across, 1],
        ) as tf.Tensor4D);
      }
    }
    return tf.concat(parts, 3);
  });
}

/** Settings of kernels, by TensorFlow.js's names. */
type Attributes = Readonly<Record<string, unknown>>;

/** Kernels that only show a tensor in another form. */
const SAME_NUMBERS = new Set(["Identity", "Reshape", "Cast"]);
/** Kernels that give parts of the rows. */
const PARTS = new Set(["Slice", "StridedSlice", "SplitV", "Split", "Unpack"]);

/**
 * Watches the kernels that run, and remembers where parameters are used.
 * TensorFlow.js's engine runs each operation by one method, eagerly as well as
 * when a function is traced: it stands before that method for a while.
 */
class Observer {
  readonly uses: Use[] = [];
  /** Bias of each kernel. */
  readonly biases = new Map<string, string>();
  /** Operations that use parameters in another way. */
  readonly elsewhere = new Map<string, Set<string>>();
  /** Paths of parameters by the ids of tensors, of other shapes included. */
  readonly #parameters = new Map<number, string>();
  /** Kernels by the ids of tensors that have the gradient of their outputs. */
  readonly #outputs = new Map<number, string>();
  #inside = false;

  constructor(params: Params) {
    for (const path in params) this.#parameters.set(params[path].id, path);
  }

  /** Runs a function and watches the operations that it calls. */
  observe<T>(run: () => T): T {
    const engine = tf.engine();
    const own = Object.getOwnPropertyDescriptor(engine, "runKernel");
    const runKernel = engine.runKernel;
    const watched = (
      op: string,
      inputs: tf.NamedTensorMap,
      attributes?: tf.NamedAttrMap,
    ): tf.Tensor | tf.Tensor[] => {
      // Kernels may be made of others, which are no layers of their own.
      const outermost = !this.#inside;
      this.#inside = true;
      try {
        const made = runKernel.call(engine, op, inputs, attributes) as
          | tf.Tensor
          | tf.Tensor[];
        if (outermost) this.#note(op, inputs, attributes ?? {}, [made].flat());
        return made;
      } finally {
        if (outermost) this.#inside = false;
      }
    };
    engine.runKernel = watched as typeof runKernel;
    try {
      return run();
    } finally {
      if (own === undefined) Reflect.deleteProperty(engine, "runKernel");
      else engine.runKernel = runKernel;
    }
  }

  /** Frees the inputs that it kept. */
  release(): void {
    for (const { input } of this.uses) input.dispose();
  }

  #note(
    op: string,
    inputs: tf.NamedTensorMap,
    attributes: Attributes,
    made: readonly tf.Tensor[],
  ): void {
    const given = Object.values(inputs).filter((it) => it?.id !== undefined);
    const parameter = given.find(({ id }) => this.#parameters.has(id));
    const output = given.find(({ id }) => this.#outputs.has(id));
    if (output !== undefined) this.#follow(op, { output, parameter, made });
    if (parameter === undefined) return;
    const path = this.#parameters.get(parameter.id)!;
    const [result] = made;
    if (this.#isBiasOf(result, path)) return;
    if (SAME_NUMBERS.has(op) && lastAxis(result) === lastAxis(parameter)) {
      this.#parameters.set(result.id, path);
      return;
    }
    if (this.#use(op, inputs, attributes, result)) return;
    for (const { id } of given) {
      const path = this.#parameters.get(id);
      if (path === undefined) continue;
      this.elsewhere.set(path, (this.elsewhere.get(path) ?? new Set()).add(op));
    }
  }

  #isBiasOf(made: tf.Tensor, path: string): boolean {
    const kernel = this.#outputs.get(made.id);
    return kernel !== undefined && this.biases.get(kernel) === path;
  }

  /** Follows outputs of layers to the operation that adds the bias. */
  #follow(
    op: string,
    { output, parameter, made }: {
      output: tf.Tensor;
      parameter?: tf.Tensor;
      made: readonly tf.Tensor[];
    },
  ): void {
    const kernel = this.#outputs.get(output.id)!;
    if (SAME_NUMBERS.has(op) || PARTS.has(op)) {
      for (const { id } of made) this.#outputs.set(id, kernel);
      return;
    }
    if (op !== "Add" || made[0].size !== output.size) return;
    if (parameter !== undefined) {
      const path = this.#parameters.get(parameter.id)!;
      const fits = parameter.size === lastAxis(output) &&
        parameter.size === lastAxis(parameter);
      const known = this.biases.get(kernel);
      const taken = [...this.biases.values()].includes(path);
      if (!fits || (known === undefined ? taken : known !== path)) return;
      this.biases.set(kernel, path);
    }
    this.#outputs.set(made[0].id, kernel);
  }

  /** Remembers the use of a kernel, if that is what an operation is. */
  #use(
    op: string,
    inputs: tf.NamedTensorMap,
    attributes: Attributes,
    output: tf.Tensor,
  ): boolean {
    const isProduct = op === "BatchMatMul" || op === "_FusedMatMul";
    if (!isProduct && op !== "Conv2D" && op !== "FusedConv2D") return false;
    const { bias } = inputs;
    const weights = isProduct ? inputs.b : inputs.filter;
    const input = isProduct ? inputs.a : inputs.x;
    const kernel = this.#parameters.get(weights.id);
    if (kernel === undefined || this.#parameters.has(input.id)) return false;
    if (isProduct) {
      const { transposeA, transposeB } = attributes;
      if (transposeA || transposeB || weights.rank !== 2) return false;
    } else if ((attributes.dataFormat ?? "NHWC") !== "NHWC") return false;
    if ((attributes.activation ?? "linear") !== "linear") return false;
    const path = bias && this.#parameters.get(bias.id);
    if (path !== undefined) this.biases.set(kernel, path);
    const windows = isProduct ? undefined : {
      filterSize: weights.shape.slice(0, 2) as [number, number],
      ...attributes as unknown as Omit<Windows, "filterSize">,
    };
    this.uses.push({ kernel, input: tf.keep(input.clone()), output, windows });
    this.#outputs.set(output.id, kernel);
    return true;
  }
}

function lastAxis({ shape }: tf.Tensor): number {
  return shape[shape.length - 1];
}
