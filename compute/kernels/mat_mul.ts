import * as tf from "@tensorflow/tfjs";
import { sameShape, type Value } from "../graph/graph.ts";
import type { ModelBuilder } from "../onnx/model_builder.ts";
import {
  cast,
  type CompositeKernel,
  type Kernels,
  type Lowering,
  only,
  type PrimitiveKernel,
  type Record,
} from "./kernel.ts";

interface MatMulAttributes {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

/** Lengths of the last two axes, after transposing. */
function matrix(shape: readonly number[], transposed: boolean) {
  const [rows, columns] = shape.slice(-2);
  return transposed ? [columns, rows] : [rows, columns];
}

function lowerMatMul(lowering: Lowering): string {
  const { model, node } = lowering;
  const { transposeA, transposeB } = node
    .attributes as unknown as MatMulAttributes;
  const [a, b] = node.inputs;
  const matrices = a.shape.length === 2 && b.shape.length === 2;
  if (matrices && a.dtype === "float32" && a.shape[transposeA ? 0 : 1] === 1) {
    return outerProduct(lowering);
  }
  // ONNX Runtime has no Gemm of whole numbers.
  if (matrices && a.dtype === "float32") {
    const flags = { transA: Number(transposeA), transB: Number(transposeB) };
    return model.op("Gemm", lowering.inputs, flags);
  }
  const [x, y] = [transposeA, transposeB].map((transposed, i) => {
    const { shape, dtype } = node.inputs[i];
    const name = lowering.inputs[i];
    const numbers = dtype === "bool" ? cast(model, name, "int32") : name;
    return transposed ? transposeLast(model, numbers, shape.length) : numbers;
  });
  const product = model.op("MatMul", [x, y]);
  return a.dtype === "bool" ? cast(model, product, "bool") : product;
}

/** A column times a row, which broadcasting does faster than a product. */
function outerProduct({ model, inputs: [a, b], node }: Lowering): string {
  const [{ shape: [rows, columns] }] = node.outputs;
  const shaped = (name: string, shape: number[], i: number) =>
    sameShape(node.inputs[i].shape, shape)
      ? name
      : model.op("Reshape", [name, model.ints(shape)]);
  return model.op("Mul", [shaped(a, [rows, 1], 0), shaped(b, [1, columns], 1)]);
}

/** A tensor with its last two axes swapped. */
function transposeLast(model: ModelBuilder, x: string, rank: number): string {
  const perm = Array.from({ length: rank }, (_, axis) => axis);
  [perm[rank - 2], perm[rank - 1]] = [rank - 1, rank - 2];
  return model.op("Transpose", [x], { perm });
}

const BATCH_MAT_MUL: PrimitiveKernel = {
  inputs: ["a", "b"],
  infer: ([a, b], attributes) => {
    const { transposeA, transposeB } =
      attributes as unknown as MatMulAttributes;
    const outer = tf.broadcast_util.assertAndGetBroadcastShape(
      a.shape.slice(0, -2),
      b.shape.slice(0, -2),
    );
    const [rows, inner] = matrix(a.shape, transposeA);
    const [shared, columns] = matrix(b.shape, transposeB);
    if (inner !== shared) {
      throw new RangeError(
        `Cannot multiply matrices [${a.shape}] and [${b.shape}]: the inner lengths are ${inner} and ${shared}`,
      );
    }
    return { shape: [...outer, rows, columns], dtype: a.dtype };
  },
  lower: lowerMatMul,
};

/** A product with a bias added to each row, in one ONNX operation. */
const GEMM: PrimitiveKernel = {
  inputs: ["a", "b", "bias"],
  infer: ([a, b], attributes) => BATCH_MAT_MUL.infer([a, b], attributes),
  lower: ({ model, inputs, node }) => {
    const { transposeA, transposeB } = node
      .attributes as unknown as MatMulAttributes;
    return model.op("Gemm", inputs, {
      transA: transposeA ? 1 : 0,
      transB: transposeB ? 1 : 0,
    });
  },
};

/** The kernel that an activation of a fused kernel is. */
const ACTIVATIONS: Readonly<globalThis.Record<string, string>> = {
  relu: "Relu",
  relu6: "Relu6",
  elu: "Elu",
  sigmoid: "Sigmoid",
  prelu: "Prelu",
  leakyrelu: "LeakyRelu",
};

/** Records the bias and the activation that a fused kernel ends with. */
export function finishFused(
  record: Record,
  [bias, slopes]: readonly (Value | undefined)[],
  { of, attributes }: {
    of: Value;
    attributes: Readonly<globalThis.Record<string, unknown>>;
  },
): Value {
  const shifted = bias === undefined ? of : only(record("Add", [of, bias]));
  const { activation, leakyreluAlpha } = attributes as {
    activation?: string;
    leakyreluAlpha?: number;
  };
  if (activation === undefined || activation === "linear") return shifted;
  const kernel = ACTIVATIONS[activation];
  if (kernel === undefined) {
    throw new TypeError(`Cannot trace the fused activation '${activation}'`);
  }
  const inputs = kernel === "Prelu" ? [shifted, slopes!] : [shifted];
  return only(record(kernel, inputs, { alpha: leakyreluAlpha }));
}

const FUSED_MAT_MUL: CompositeKernel = {
  inputs: ["a", "b", "bias", "preluActivationWeights"],
  expand: (record, [a, b, bias, slopes], attributes) => {
    const { transposeA, transposeB } = attributes;
    const product = record("BatchMatMul", [a!, b!], { transposeA, transposeB });
    return finishFused(record, [bias, slopes], {
      of: only(product),
      attributes,
    });
  },
};

/** Lengths of an equation's letters, by letter. */
function lengthsOf(
  terms: readonly string[],
  inputs: readonly Value[],
): Map<string, number> {
  const lengths = new Map<string, number>();
  terms.forEach((term, i) =>
    [...term].forEach((letter, axis) =>
      lengths.set(letter, inputs[i].shape[axis])
    )
  );
  return lengths;
}

const EINSUM: PrimitiveKernel = {
  inputs: "list",
  infer: (inputs, attributes) => {
    const equation = (attributes.equation as string).replaceAll(" ", "");
    const [left, right] = equation.split("->");
    const lengths = lengthsOf(left.split(","), inputs);
    return {
      shape: [...right].map((letter) => lengths.get(letter)!),
      dtype: inputs[0].dtype,
    };
  },
  lower: ({ model, inputs, node }) =>
    model.op("Einsum", inputs, {
      equation: node.attributes.equation as string,
    }),
};

/** Kernels that multiply matrices. */
export const MAT_MUL: Kernels = {
  BatchMatMul: BATCH_MAT_MUL,
  Gemm: GEMM,
  _FusedMatMul: FUSED_MAT_MUL,
  Einsum: EINSUM,
};
