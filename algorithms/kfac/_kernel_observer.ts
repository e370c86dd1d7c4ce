import type { Params } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";

/** Settings of {@link imagePatches}, as those of `tf.conv2d`. */
export interface Windows {
  /** Height and width of the filter. */
  readonly filterSize: readonly [number, number];
  /** Steps between two places. */
  readonly strides: number | [number, number];
  /** Padding. */
  readonly pad: "valid" | "same" | number;
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

/** One use of a kernel. */
export interface KernelUse {
  readonly kernel: string;
  readonly input: tf.Tensor;
  /** Result, and the same numbers in other shapes. */
  readonly outputs: tf.Tensor[];
  /** Settings of a convolution; undefined for a product. */
  readonly windows?: Windows;
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
export class KernelObserver {
  readonly uses: KernelUse[] = [];
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

  /** Frees the inputs that it kept. */
  release(): void {
    for (const { input } of this.uses) input.dispose();
  }

  #note(call: KernelCall): void {
    const { op, inputs, made: [result] } = call;
    const given = Object.values(inputs).filter((it) => it?.id !== undefined);
    const parameter = given.find(({ id }) => this.#parameters.has(id));
    const output = given.find(({ id }) => this.#outputs.has(id));
    if (output && this.#follow(call, output, parameter)) return;
    if (parameter === undefined) return;
    if (SAME_NUMBERS.has(op) && lastAxis(result) === lastAxis(parameter)) {
      this.#parameters.set(result.id, this.#parameters.get(parameter.id)!);
      return;
    }
    if (this.#use(call)) return;
    for (const { id } of given) {
      const path = this.#parameters.get(id);
      if (path === undefined) continue;
      this.elsewhere.set(path, (this.elsewhere.get(path) ?? new Set()).add(op));
    }
  }

  /** Follows outputs of layers; true where an operation adds the bias. */
  #follow(
    { op, made }: KernelCall,
    output: tf.Tensor,
    parameter?: tf.Tensor,
  ): boolean {
    const kernel = this.#outputs.get(output.id)!;
    if (SAME_NUMBERS.has(op)) {
      // A fused operation is one to the gradients, with what it makes reshaped.
      const use = this.uses.find((it) => it.outputs.includes(output));
      use?.outputs.push(made[0]);
    }
    const isSum = op === "Add" && made[0].size === output.size;
    if (!SAME_NUMBERS.has(op) && !PARTS.has(op) && !isSum) return false;
    if (parameter !== undefined) {
      const path = this.#parameters.get(parameter.id)!;
      const fits = parameter.size === lastAxis(output) &&
        parameter.size === lastAxis(parameter);
      const known = this.biases.get(kernel);
      const taken = [...this.biases.values()].includes(path);
      if (!fits || (known === undefined ? taken : known !== path)) return false;
      this.biases.set(kernel, path);
    }
    for (const { id } of made) this.#outputs.set(id, kernel);
    return parameter !== undefined;
  }

  /** Remembers the use of a kernel, if that is what an operation is. */
  #use({ op, inputs, attributes, made: [output] }: KernelCall): boolean {
    const isProduct = op === "BatchMatMul" || op === "_FusedMatMul";
    if (!isProduct && op !== "Conv2D" && op !== "FusedConv2D") return false;
    const weights = isProduct ? inputs.b : inputs.filter;
    const input = isProduct ? inputs.a : inputs.x;
    const kernel = this.#parameters.get(weights.id);
    if (kernel === undefined || this.#parameters.has(input.id)) return false;
    if (isProduct) {
      const { transposeA, transposeB } = attributes;
      const isMatrix = weights.shape.slice(0, -2).every((it) => it === 1);
      if (transposeA || transposeB || !isMatrix) return false;
    } else if ((attributes.dataFormat ?? "NHWC") !== "NHWC") return false;
    if ((attributes.activation ?? "linear") !== "linear") return false;
    const path = inputs.bias && this.#parameters.get(inputs.bias.id);
    if (path !== undefined) this.biases.set(kernel, path);
    const windows = isProduct ? undefined : {
      filterSize: weights.shape.slice(0, 2) as [number, number],
      ...attributes as unknown as Omit<Windows, "filterSize">,
    };
    const copy = tf.keep(input.clone());
    this.uses.push({ kernel, input: copy, outputs: [output], windows });
    this.#outputs.set(output.id, kernel);
    return true;
  }
}

function lastAxis({ shape }: tf.Tensor): number {
  return shape[shape.length - 1];
}
