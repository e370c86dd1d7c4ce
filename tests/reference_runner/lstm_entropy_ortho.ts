import {
  addPrefix,
  categorical,
  catEntropy,
  catEntropySoftmax,
  createNetwork,
  orthogonal,
} from "@bellman/policies";
import {
  compile,
  type Engine,
  type Params,
  RandomStream,
} from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import { checkEach, type Comparison, type Expected } from "./comparison.ts";

interface LstmCase {
  name: string;
  inputs: {
    kind: "lstm" | "lnlstm";
    x: number[][][];
    masks: number[][];
    state: number[][];
    params: Record<string, number[] | number[][]>;
  };
  expected: { h: Expected; state: Expected };
}

function runLstm(
  it: LstmCase,
  comparison: Comparison,
  engine: Engine,
): void {
  const { kind, x, masks, state, params } = it.inputs;
  const network = createNetwork(kind, {
    inputShape: [x[0][0].length],
    lstmSize: state[0].length / 2,
  });
  const tensors: Params = {};
  for (const [name, values] of Object.entries(params)) {
    tensors[name] = tf.tensor(values, undefined, "float32");
  }
  const inputs = {
    params: addPrefix(tensors, "lstm"),
    x: tf.tensor2d(x.flat()),
    masks: tf.tensor1d(masks.flat(), "float32"),
    state: tf.tensor2d(state, undefined, "float32"),
  };
  const after = compile(({ params, ...given }: typeof inputs) => {
    const { output, state } = network.apply(params, given);
    return { h: output, state: state! };
  }, { inputs, engine }).run(inputs);
  comparison.named(after, it.expected);
}

function runEntropy(
  it: { inputs: { logits: number[][] }; expected: Record<string, Expected> },
  comparison: Comparison,
  engine: Engine,
): void {
  const inputs = {
    logits: tf.tensor2d(it.inputs.logits, undefined, "float32"),
  };
  const [rows, n] = inputs.logits.shape;
  const distribution = categorical(n);
  const results = compile(({ logits }: typeof inputs) => {
    const softmax = tf.softmax(logits) as tf.Tensor2D;
    const actions = Array.from(
      { length: n },
      (_, action) =>
        tf.neg(distribution.logProb(logits, tf.fill([rows], action, "int32"))),
    );
    return {
      softmax,
      cat_entropy: catEntropy(logits),
      cat_entropy_softmax_of_softmax: catEntropySoftmax(softmax),
      neglogp_all: tf.stack(actions, 1),
    };
  }, { inputs, engine }).run(inputs);
  comparison.named(results, it.expected);
}

function runOrtho(
  it: {
    shape: number[];
    scale: number;
    gram: "QtQ" | "QQt";
    gram_size: number;
    diag: number;
    frobenius_sq: number;
  },
  comparison: Comparison,
  engine: Engine,
): void {
  const columns = it.shape[it.shape.length - 1];
  const values = orthogonal(it.scale)(it.shape, new RandomStream(1));
  const shape: [number, number] = [values.length / columns, columns];
  const inputs = { q: tf.tensor2d(values.slice(), shape) };
  const transposed = it.gram === "QtQ";
  const { gram, squares } = compile(({ q }: typeof inputs) => ({
    gram: tf.matMul(q, q, transposed, !transposed),
    squares: tf.sum(tf.square(q)),
  }), { inputs, engine }).run(inputs);
  const size = it.gram_size;
  const expected = Array.from(
    { length: size * size },
    (_, i) => i % (size + 1) === 0 ? it.diag : 0,
  );
  comparison.numbers("gram matrix", gram, expected);
  comparison.numbers("squared norm", squares, [it.frobenius_sq]);
}

/** Recurrent cells, entropies and orthogonal initialisation of baselines. */
export const runner = checkEach({
  lstm: runLstm,
  entropy: runEntropy,
  ortho: runOrtho,
});
