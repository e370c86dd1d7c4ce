import * as tf from "@tensorflow/tfjs";
import { type Attributes, sizeOf } from "../graph/graph.ts";
import type { ModelBuilder } from "../onnx/model_builder.ts";
import {
  type HloTensor,
  type ProgramBuilder,
  SMALL,
} from "../stablehlo/program_builder.ts";
import {
  type CompositeKernel,
  type HloLowering,
  type Kernels,
  type Lowering,
  type PrimitiveKernel,
  run,
} from "./kernel.ts";

type MatMulAttributes = {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
};

const gemmFlags = ({ transposeA, transposeB }: MatMulAttributes) => ({
  transA: Number(transposeA),
  transB: Number(transposeB),
});

/** Returns the lengths of the last two axes, after transposing. */
function matrix(shape: readonly number[], transposed: boolean) {
  const [rows, columns] = shape.slice(-2);
  return transposed ? [columns, rows] : [rows, columns];
}

function lowerMatMul(lowering: Lowering<MatMulAttributes>): string {
  const { model, node } = lowering;
  const { transposeA, transposeB } = node.attributes;
  const [a, b] = node.inputs;
  const matrices = a.shape.length === 2 && b.shape.length === 2;
  // ONNX Runtime has no Gemm of whole numbers.
  if (matrices && a.dtype === "float32") {
    return model.op("Gemm", lowering.inputs, gemmFlags(node.attributes));
  }
  const [x, y] = [transposeA, transposeB].map((transposed, i) => {
    const { shape, dtype } = node.inputs[i];
    const name = lowering.inputs[i];
    const numbers = dtype === "bool" ? model.cast(name, "int32") : name;
    return transposed ? transposeLast(model, numbers, shape.length) : numbers;
  });
  const product = model.op("MatMul", [x, y]);
  return a.dtype === "bool" ? model.cast(product, "bool") : product;
}

/** Swaps the last two axes. */
function transposeLast(model: ModelBuilder, x: string, rank: number): string {
  const perm = Array.from({ length: rank }, (_, axis) => axis);
  [perm[rank - 2], perm[rank - 1]] = [rank - 1, rank - 2];
  return model.transpose(x, perm);
}

/** Multiplies matrices, of which those before the last two axes are repeated. */
function productHlo(
  { program, inputs, node }: HloLowering<MatMulAttributes>,
): HloTensor {
  const { transposeA, transposeB } = node.attributes;
  const [{ shape, dtype }] = node.outputs;
  const outer = shape.slice(0, -2);
  const [a, b] = inputs.map((it) => {
    const numbers = it.dtype === "bool" ? program.cast(it, "int32") : it;
    return program.broadcast(numbers, [...outer, ...it.shape.slice(-2)]);
  });
  if (program.isForCpu && outer.length === 0 && transposeA && !transposeB) {
    return program.cast(sumOfOuterProducts(program, a, b), dtype);
  }
  const axes = outer.map((_, axis) => axis);
  const [rows, columns] = [outer.length, outer.length + 1];
  const product = program.dot(a, b, {
    batch: [axes, axes],
    contract: [[transposeA ? rows : columns], [transposeB ? columns : rows]],
  });
  return program.cast(product, dtype);
}

/** Rows of a transposed matrix that XLA's own way is as fast for. */
const FEW_ROWS = 8;
/** Numbers of a matrix from which on XLA's own way is as fast. */
const MANY_NUMBERS = 1 << 18;

/**
 * Multiplies `aT b`, as the gradient of a layer's kernel is. On a CPU, XLA has
 * no fast way for it: of 352 rows by 64 and 2 columns it takes four times as
 * long as a product of the same size without a transpose. So the smaller matrix
 * is transposed before, behind a barrier, as XLA would put it back.
 */
function sumOfOuterProducts(
  program: ProgramBuilder,
  a: HloTensor,
  b: HloTensor,
): HloTensor {
  const [rows, columns] = [a.shape[1], b.shape[1]];
  const isFirst = rows <= columns;
  const [smaller, other] = isFirst ? [a, b] : [b, a];
  if (rows <= FEW_ROWS || sizeOf(smaller.shape) >= MANY_NUMBERS) {
    return program.dot(a, b, { contract: [[0], [0]] });
  }
  const turned = transposedBefore(program, smaller);
  const product = program.dot(turned, other, { contract: [[1], [0]] });
  if (isFirst) return product;
  return program.transpose(barrier(program, product), [1, 0]);
}

/** Transposes a matrix in a separate step. */
function transposedBefore(program: ProgramBuilder, x: HloTensor): HloTensor {
  const turned = program.transpose(x, [1, 0]);
  // XLA leaves a matrix in its order and copies it later. A vector has but one
  // order: one step, but a slow one for what does not fit into a cache.
  if (sizeOf(x.shape) > SMALL) return barrier(program, turned);
  return program.reshape(
    barrier(program, program.flatten(turned)),
    turned.shape,
  );
}

function barrier(program: ProgramBuilder, x: HloTensor): HloTensor {
  return program.map("optimization_barrier", x);
}

const BATCH_MAT_MUL: PrimitiveKernel<MatMulAttributes> = {
  inputs: ["a", "b"],
  infer: ([a, b], { transposeA, transposeB }) => {
    if (a.shape.length < 2 || b.shape.length < 2) {
      throw new RangeError(
        `Cannot multiply matrices [${a.shape}] and [${b.shape}]: each needs at least two axes`,
      );
    }
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
  lowerHlo: productHlo,
};

/** A product with a bias added to each row, in one ONNX operation. */
const GEMM: PrimitiveKernel<MatMulAttributes> = {
  inputs: ["a", "b", "bias"],
  infer: BATCH_MAT_MUL.infer,
  lower: ({ model, inputs, node }) =>
    model.op("Gemm", inputs, gemmFlags(node.attributes)),
  lowerHlo: (lowering) => {
    const { program, inputs: [a, b, bias] } = lowering;
    const product = productHlo({ ...lowering, inputs: [a, b] });
    return program.map(
      "add",
      product,
      program.broadcast(bias, product.shape),
    );
  },
};

/** Settings of a fused kernel, in addition to those of the kernel before it. */
type FusedAttributes = Attributes & {
  readonly activation?: tf.backend_util.Activation;
  readonly leakyreluAlpha?: number;
};

/** Makes a kernel of two inputs with a bias and an activation behind it. */
export function fused(
  op: string,
  [first, second]: readonly [string, string],
): CompositeKernel<FusedAttributes> {
  return {
    inputs: [first, second, "bias", "preluActivationWeights"],
    compose: ([x, y, bias, slopes], all) => {
      const { activation = "linear", leakyreluAlpha, ...attributes } = all;
      const made = run(op, { [first]: x, [second]: y }, attributes);
      const shifted = bias ? tf.add(made, bias) : made;
      return tf.backend_util
        .applyActivation(shifted, activation, slopes, leakyreluAlpha);
    },
  };
}

/** Kernels that multiply matrices. */
export const MAT_MUL: Kernels = {
  BatchMatMul: BATCH_MAT_MUL,
  Gemm: GEMM,
  _FusedMatMul: fused("BatchMatMul", ["a", "b"]),
};
