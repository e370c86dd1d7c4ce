import { layerTags, type Params, trace, type TypeTree } from "@bellman/compute";
import { hintAt } from "@bellman/files/options";
import * as tf from "@tensorflow/tfjs";

/**
 * Layer `s = W' a + b` of a network, dense, convolutional or recurrent, whose block of
 * the Fisher matrix is a Kronecker product. The path of its kernel identifies it.
 */
export interface KfacLayer {
  /** Path of the kernel `[..., outputs]`, the second factor of a product. */
  readonly kernel: string;
  /**
   * Path of the bias `[outputs]`.
   *
   * @default none
   */
  readonly bias?: string;
}

/** Loss of a batch, and the likelihood that defines the Fisher matrix. */
export interface KfacObjective {
  /** Minimized loss, a scalar. */
  readonly loss: tf.Tensor;
  /**
   * Log-likelihood of each example `[batch]`: of targets sampled from the model (the
   * Fisher matrix), or of the actual ones (the empirical Fisher matrix).
   */
  readonly logLikelihood: tf.Tensor;
  /**
   * Additional results.
   *
   * @default {}
   */
  readonly aux?: Params;
}

/** Values for the inputs and the output gradients of a layer. */
export interface FactorPair<T> {
  /** Value for the inputs. */
  readonly input: T;
  /** Value for the output gradients. */
  readonly output: T;
}

/** Returns the sizes of a layer's weight matrix `[input, output]`, bias included. */
export function layerSizes(
  { kernel, bias }: KfacLayer,
  params: Params,
): FactorPair<number> {
  const { shape, size } = params[kernel];
  const output = shape[shape.length - 1], rows = size / output;
  return { input: bias === undefined ? rows : rows + 1, output };
}

/**
 * Form in which the Fisher matrix is inverted:
 * - `inverse`: the inverses of the damped factors;
 * - `eigenbasis`: their eigenvectors and eigenvalues, damped at each step;
 * - `ekfac`: their eigenvectors, with second moments measured in that basis.
 */
export type KfacForm = "inverse" | "eigenbasis" | "ekfac";

/** Returns the shapes of the slots that hold a layer's factors and inverse. */
export function slotShapes(
  sizes: FactorPair<number>,
  { form, largestBasis = Infinity }: { form: KfacForm; largestBasis?: number },
): Record<string, number[]> {
  const input = [sizes.input, sizes.input];
  const output = [sizes.output, sizes.output];
  if (form === "inverse") {
    return { input, output, inverse_input: input, inverse_output: output };
  }
  const isWhole = sizes.input <= largestBasis;
  const basis = isWhole ? input : [sizes.input, largestBasis];
  const moments = [isWhole ? sizes.input : largestBasis + 1, sizes.output];
  return { input, output, basis_input: basis, basis_output: output, moments };
}

/** Names a slot of the optimizer state for a layer. */
export function layerSlot(name: string, { kernel }: KfacLayer): string {
  return `${name}/${kernel}`;
}

/** Makes a reader of a layer's slots in the optimizer state. */
export function layerTensors(
  state: Params,
  layer: KfacLayer,
): (name: string) => tf.Tensor2D {
  return (name) => state[layerSlot(name, layer)] as tf.Tensor2D;
}

/** Lists the parameters of layers. */
export function layerPaths(layers: readonly KfacLayer[]): string[] {
  return layers.flatMap(({ kernel, bias }) =>
    bias === undefined ? [kernel] : [kernel, bias]
  );
}

/** Options of {@link findLayers}. */
export interface FindLayersOptions<Types extends TypeTree> {
  /** Parameters of the network. */
  readonly params: Params;
  /** Shapes and types of the function's other inputs. */
  readonly inputs: Types;
}

/**
 * Finds the layers of a network from the operations that use its parameters: matrix
 * products and two-dimensional convolutions, with the bias added to their outputs. The
 * function is traced, not computed.
 *
 * @param apply Network or objective: a pure function of parameters and inputs in
 * TensorFlow.js operations.
 * @param options Parameters and inputs.
 * @returns The layers, in the order of the parameters; other parameters, such as gains
 * of a normalization, belong to none.
 *
 * @example
 * ```ts
 * import * as tf from "@bellman/compute/tf";
 * import { findLayers } from "@bellman/kfac";
 * import { assertEquals } from "@std/assert";
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
  // deno-lint-ignore no-explicit-any -- the function takes any inputs
  apply: (params: Params, inputs: any) => unknown,
  options: FindLayersOptions<Types>,
): KfacLayer[] {
  const { params, inputs } = options;
  let tags: ReturnType<typeof layerTags> | undefined;
  trace((traced) => {
    const { params, inputs } = traced as Record<string, Params>;
    tags = layerTags((params) => {
      apply(params, inputs);
      return tf.scalar(0);
    }, params);
    return {};
  }, { params, inputs });
  const { uses, biases } = tags!;
  const kernels = new Set(uses.map(({ weight }) => weight));
  return Object.keys(params).filter((it) => kernels.has(it)).map((kernel) => {
    const bias = biases.get(kernel);
    return bias === undefined ? { kernel } : { kernel, bias };
  });
}

/**
 * Checks layers, and parameters of known Fisher information, by their paths.
 *
 * @throws {RangeError} If a path is unknown or registered twice, or a bias has
 * not one number for each output.
 * @throws {TypeError} If a parameter is in no layer and `others` is "error".
 */
export function checkLayers(
  layers: readonly KfacLayer[],
  { params, others, diagonal = {} }: {
    params: Params;
    others: "error" | "gradient";
    diagonal?: Readonly<Record<string, number>>;
  },
): void {
  const registered = [...Object.keys(diagonal), ...layerPaths(layers)];
  const unknown = registered.find((path) => !Object.hasOwn(params, path));
  if (unknown !== undefined) {
    const where = Object.hasOwn(diagonal, unknown) ? "diagonal" : "a layer";
    const hint = hintAt(unknown, Object.keys(params));
    throw new RangeError(
      `Unknown parameter '${unknown}' of ${where}: ${hint}`,
    );
  }
  const twice = registered.find((path, i) => registered.indexOf(path) < i);
  if (twice !== undefined) {
    throw new RangeError(
      `Cannot register the parameter '${twice}' twice: expected it in one layer`,
    );
  }
  for (const layer of layers) {
    const { kernel, bias } = layer, { output } = layerSizes(layer, params);
    const size = bias === undefined ? output : params[bias].size;
    if (size === output) continue;
    throw new RangeError(
      `Cannot register the bias '${bias}' of ${size} numbers with '${kernel}': expected ${output}`,
    );
  }
  const missing = Object.keys(params).find((it) => !registered.includes(it));
  if (missing === undefined || others === "gradient") return;
  throw new TypeError(
    `Cannot take natural gradients for '${missing}': it is in no layer; register it, or take its plain gradient with others: "gradient"`,
  );
}
