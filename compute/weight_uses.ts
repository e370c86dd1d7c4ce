import * as tf from "@tensorflow/tfjs";
import type { ConvolutionWindows } from "./image_patches.ts";
import { withOpenGradients } from "./own_gradient.ts";
import type { Params } from "./params.ts";
import { tidy } from "./tidy.ts";

/** One matrix product or convolution whose weights are a parameter. */
export interface WeightUse {
  /** Path of the parameter. */
  readonly weight: string;
  /** Factor of the weights in the product. */
  readonly input: tf.Tensor;
  /** Shape of the result. */
  readonly shape: readonly number[];
  /**
   * Gradient by the result, of the sum of the function's numbers.
   *
   * @default none, where the function does not depend on the result
   */
  readonly gradient?: tf.Tensor;
  /**
   * Settings of a convolution.
   *
   * @default none, for a product
   */
  readonly windows?: ConvolutionWindows;
}

/** Uses of parameters in a function, and its value. */
export interface WeightUses {
  /** Value of the function. */
  readonly value: tf.Tensor;
  /** Products and convolutions, in the order in which they ran. */
  readonly uses: readonly WeightUse[];
  /** Parameters that are added to the results of weights, by those. */
  readonly biases: ReadonlyMap<string, string>;
}

/**
 * Finds the layers in a function: the matrix products and two-dimensional
 * convolutions that have parameters for their weights, and the biases that are
 * added to their results. What goes into each of them, and the gradient by what
 * comes out, are taken from the one run, eager or traced.
 *
 * @param fn A pure function of the parameters in TensorFlow.js operations.
 * @param params The parameters.
 * @returns The uses, and the function's value, in new tensors.
 *
 * @example
 * ```ts
 * import { layerTags } from "@bellman/compute";
 * import * as tf from "@bellman/compute/tf";
 * import { assertEquals } from "@std/assert";
 *
 * await tf.setBackend("cpu");
 * const x = tf.tensor2d([[1, 2], [3, 4]]);
 * const { uses, biases } = layerTags(
 *   ({ w, b }) => tf.square(tf.add(tf.matMul(x, w), b)),
 *   { w: tf.ones([2, 1]), b: tf.zeros([1]) },
 * );
 * assertEquals(uses[0].weight, "w");
 * assertEquals(uses[0].input.arraySync(), [[1, 2], [3, 4]]);
 * assertEquals(uses[0].gradient!.arraySync(), [[6], [14]]);
 * assertEquals(biases.get("w"), "b");
 * ```
 */
export function layerTags(
  fn: (params: Params) => tf.Tensor,
  params: Params,
): WeightUses {
  const observer = new KernelObserver(params);
  const { uses, biases } = observer;
  // The results are known once the function has run: the list is read then.
  const results: tf.Tensor[] = [];
  const forward = (): tf.Tensor => {
    const value = observer.observe(() => withOpenGradients(() => fn(params)));
    results.push(...uses.flatMap((use) => use.results));
    return value;
  };
  try {
    return tidy(() => {
      results.push(tf.scalar(0));
      const engine = tf.engine();
      const { value, grads } = engine.gradients(
        forward,
        results,
        undefined,
        true,
      );
      const found = uses.map(({ results: own, input, ...use }) => ({
        ...use,
        input: input.clone(),
        shape: own[0].shape,
        gradient: grads.find((it, i) => it && own.includes(results[i])),
      }));
      return { value, uses: found, biases };
    });
  } finally {
    for (const { input } of uses) input.dispose();
  }
}

/** A use while the function runs. */
interface ObservedUse extends Omit<WeightUse, "shape" | "gradient"> {
  /** Result, and the same numbers in other shapes. */
  readonly results: tf.Tensor[];
}

/** One call of a kernel, by TensorFlow.js's names. */
interface KernelCall {
  readonly op: string;
  readonly inputs: tf.NamedTensorMap;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly made: readonly tf.Tensor[];
}

/** Kernels that only show a tensor in another form. */
const SAME_NUMBERS = new Set(["Identity", "Reshape", "Cast"]);
/** Kernels that give parts of the rows. */
const PARTS = new Set(["Slice", "StridedSlice", "SplitV", "Split", "Unpack"]);

/**
 * Watches the kernels that run, and remembers where parameters are used.
 * TensorFlow.js's engine runs each operation by one method, eagerly as well as
 * when a function is traced: it stands before that method for a while.
 */
class KernelObserver {
  readonly uses: ObservedUse[] = [];
  /** Bias of each weight. */
  readonly biases = new Map<string, string>();
  /** Paths of parameters by the ids of tensors, of other shapes included. */
  readonly #parameters = new Map<number, string>();
  /** Weights by the ids of tensors that have the gradient of their results. */
  readonly #results = new Map<number, string>();
  #inside = false;

  constructor(params: Params) {
    for (const path in params) this.#parameters.set(params[path].id, path);
  }

  /** Runs a function and watches the operations that it calls. */
  observe<T>(run: () => T): T {
    const engine = tf.engine();
    const own = Object.getOwnPropertyDescriptor(engine, "runKernel");
    const runKernel = engine.runKernel;
    const watched = (...given: Parameters<typeof runKernel>) => {
      // Kernels may be made of others, which are no layers of their own.
      const outermost = !this.#inside;
      this.#inside = true;
      try {
        const made = runKernel.apply(engine, given);
        const [op, inputs, attributes = {}] = given;
        const call = { op, inputs, attributes, made: [made].flat() };
        if (outermost) this.#note(call);
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

  #note(call: KernelCall): void {
    const { op, inputs, made: [result] } = call;
    const given = Object.values(inputs).filter((it) => it?.id !== undefined);
    const parameter = given.find(({ id }) => this.#parameters.has(id));
    const known = given.find(({ id }) => this.#results.has(id));
    if (known && this.#follow(call, known, parameter)) return;
    if (parameter === undefined) return;
    if (SAME_NUMBERS.has(op) && lastAxis(result) === lastAxis(parameter)) {
      this.#parameters.set(result.id, this.#parameters.get(parameter.id)!);
      return;
    }
    this.#use(call);
  }

  /** Follows results of weights; true where an operation adds the bias. */
  #follow(
    { op, made }: KernelCall,
    before: tf.Tensor,
    parameter?: tf.Tensor,
  ): boolean {
    const weight = this.#results.get(before.id)!;
    if (SAME_NUMBERS.has(op)) {
      // A fused operation is one to the gradients, with what it makes reshaped.
      const use = this.uses.find((it) => it.results.includes(before));
      use?.results.push(made[0]);
    }
    const isSum = op === "Add" && made[0].size === before.size;
    if (!SAME_NUMBERS.has(op) && !PARTS.has(op) && !isSum) return false;
    if (parameter !== undefined) {
      const path = this.#parameters.get(parameter.id)!;
      const fits = parameter.size === lastAxis(before) &&
        parameter.size === lastAxis(parameter);
      const known = this.biases.get(weight);
      const taken = [...this.biases.values()].includes(path);
      if (!fits || (known === undefined ? taken : known !== path)) return false;
      this.biases.set(weight, path);
    }
    for (const { id } of made) this.#results.set(id, weight);
    return parameter !== undefined;
  }

  /** Remembers a use of weights, if that is what an operation is. */
  #use({ op, inputs, attributes, made: [result] }: KernelCall): void {
    const isProduct = op === "BatchMatMul" || op === "_FusedMatMul";
    if (!isProduct && op !== "Conv2D" && op !== "FusedConv2D") return;
    const weights = isProduct ? inputs.b : inputs.filter;
    const input = isProduct ? inputs.a : inputs.x;
    const weight = this.#parameters.get(weights.id);
    if (weight === undefined || this.#parameters.has(input.id)) return;
    if (isProduct) {
      const { transposeA, transposeB } = attributes;
      const isMatrix = weights.shape.slice(0, -2).every((it) => it === 1);
      if (transposeA || transposeB || !isMatrix) return;
    } else if ((attributes.dataFormat ?? "NHWC") !== "NHWC") return;
    if ((attributes.activation ?? "linear") !== "linear") return;
    const path = inputs.bias && this.#parameters.get(inputs.bias.id);
    if (path !== undefined) this.biases.set(weight, path);
    const windows = isProduct ? undefined : {
      filterSize: weights.shape.slice(0, 2) as [number, number],
      ...attributes as unknown as Omit<ConvolutionWindows, "filterSize">,
    };
    const copy = tf.keep(input.clone());
    this.uses.push({ weight, input: copy, results: [result], windows });
    this.#results.set(result.id, weight);
  }
}

function lastAxis({ shape }: tf.Tensor): number {
  return shape[shape.length - 1];
}
