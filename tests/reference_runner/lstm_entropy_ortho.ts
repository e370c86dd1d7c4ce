import {
  categorical,
  catEntropy,
  catEntropySoftmax,
  createNetwork,
  nest,
  orthogonal,
} from "@bellman/policies";
import { type Params, RandomStream } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import type { Comparison, Expected, FixtureRunner } from "./comparison.ts";

const TOLERANCE = 1e-5;

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

function runLstm(it: LstmCase, comparison: Comparison): void {
  const { kind, x, masks, state, params } = it.inputs;
  const network = createNetwork(kind, {
    inputShape: [x[0][0].length],
    lstmSize: state[0].length / 2,
  });
  const tensors: Params = {};
  for (const [name, values] of Object.entries(params)) {
    tensors[name] = tf.tensor(values, undefined, "float32");
  }
  const after = network.apply(nest(tensors, "lstm"), {
    x: tf.tensor2d(x.flat()),
    masks: tf.tensor1d(masks.flat(), "float32"),
    state: tf.tensor2d(state, undefined, "float32"),
  });
  comparison.numbers("h", after.output.dataSync(), {
    expected: it.expected.h,
    tolerance: TOLERANCE,
  });
  comparison.numbers("state", after.state!.dataSync(), {
    expected: it.expected.state,
    tolerance: TOLERANCE,
  });
}

function runEntropy(
  it: { inputs: { logits: number[][] }; expected: Record<string, Expected> },
  comparison: Comparison,
): void {
  const logits = tf.tensor2d(it.inputs.logits, undefined, "float32");
  const [rows, n] = logits.shape;
  const distribution = categorical(n);
  const compare = (name: string, values: ArrayLike<number>) =>
    comparison.numbers(name, values, {
      expected: it.expected[name],
      tolerance: TOLERANCE,
    });
  const softmax = tf.softmax(logits) as tf.Tensor2D;
  compare("softmax", softmax.dataSync());
  compare("cat_entropy", catEntropy(logits).dataSync());
  compare(
    "cat_entropy_softmax_of_softmax",
    catEntropySoftmax(softmax).dataSync(),
  );
  const negLogProb = new Float32Array(rows * n);
  for (let action = 0; action < n; action++) {
    const actions = tf.fill([rows], action, "int32");
    distribution.logProb(logits, actions).dataSync()
      .forEach((value, row) => negLogProb[row * n + action] = -value);
  }
  compare("neglogp_all", negLogProb);
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
): void {
  const columns = it.shape[it.shape.length - 1];
  const values = orthogonal(it.scale)(it.shape, new RandomStream(1));
  const q = tf.tensor2d(values.slice(), [values.length / columns, columns]);
  const transposed = it.gram === "QtQ";
  const gram = tf.matMul(q, q, transposed, !transposed);
  const size = it.gram_size;
  const expected = Array.from(
    { length: size * size },
    (_, i) => i % (size + 1) === 0 ? it.diag : 0,
  );
  const tolerance = TOLERANCE;
  comparison.numbers("gram matrix", gram.dataSync(), { expected, tolerance });
  comparison.numbers("squared norm", tf.sum(tf.square(q)).dataSync(), {
    expected: [it.frobenius_sq],
    tolerance,
  });
}

/** Recurrent cells, entropies and orthogonal initialisation of baselines. */
export const lstmEntropyOrthoRunner: FixtureRunner = async (
  fixture,
  comparison,
) => {
  for (const it of fixture.lstm ?? []) {
    await comparison.check(it.name, () => runLstm(it, comparison));
  }
  for (const [i, it] of (fixture.entropy ?? []).entries()) {
    await comparison.check(`entropy ${i}`, () => runEntropy(it, comparison));
  }
  for (const it of fixture.ortho ?? []) {
    await comparison.check(
      `orthogonal [${it.shape}] times ${it.scale}`,
      () => runOrtho(it, comparison),
    );
  }
};
