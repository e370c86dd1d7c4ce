import {
  compile,
  type Params,
  RandomStream,
  selectBackend,
} from "@bellman/compute";
import { actorCritic } from "@bellman/policies";
import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { batchFactors, findLayers, fisherRows, type KfacLayer } from "./mod.ts";

await selectBackend("cpu");

const noise = (shape: number[], seed: number) =>
  tf.randomNormal(shape, 0, 1, "float32", seed);

function assertClose(
  actual: tf.Tensor,
  expected: tf.Tensor,
  what = "it",
): void {
  assertEquals(actual.shape, expected.shape);
  const worst = tf.max(tf.abs(tf.sub(actual, expected))).arraySync() as number;
  const scale = tf.max(tf.abs(expected)).arraySync() as number;
  assert(worst <= 1e-4 * Math.max(1, scale), `${what} differs by ${worst}`);
}

/** Asserts that inputs times output gradients are the likelihood's gradient. */
function assertRowsMakeGradients(
  likelihood: (params: Params) => tf.Tensor,
  params: Params,
  layers: KfacLayer[],
): void {
  const rows = fisherRows(likelihood, params, { layers });
  const paths = Object.keys(params);
  const of = (list: tf.Tensor[]) =>
    Object.fromEntries(paths.map((path, i) => [path, list[i]]));
  const gradients = of(
    tf.grads((...list) => tf.sum(likelihood(of(list))))(
      paths.map((path) => params[path]),
    ),
  );
  for (const { kernel, bias } of layers) {
    const { inputs, gradients: outputs } = rows[kernel];
    const columns = outputs.shape[1];
    const wanted = [tf.reshape(gradients[kernel], [-1, columns])];
    if (bias) wanted.push(tf.reshape(gradients[bias], [1, columns]));
    assertClose(tf.matMul(inputs, outputs, true), tf.concat(wanted, 0), kernel);
  }
}

for (const network of ["mlp", "lstm"] as const) {
  Deno.test(`every parameter of the actor-critic '${network}' is of a layer, and its rows make its gradient`, () => {
    tf.tidy(() => {
      const model = actorCritic({
        observationSpace: {
          type: "box",
          shape: [3],
          low: -9,
          high: 9,
          dtype: "float32",
        },
        actionSpace: { type: "discrete", n: 3 },
        network,
        networkOptions: { hiddenSizes: [5, 4], lstmSize: 4 },
      });
      const params = model.init(new RandomStream(1));
      const x = noise([6, 3], 3);
      const recurrence = network === "lstm"
        ? {
          state: noise([2, 8], 4) as tf.Tensor2D,
          masks: tf.tensor1d([0, 0, 1, 0, 0, 0]),
        }
        : undefined;
      const layers = findLayers(
        (params, { x }) => model.apply(params, x, recurrence),
        { params, inputs: { x } },
      );
      const found = layers.flatMap(({ kernel, bias }) =>
        bias ? [kernel, bias] : [kernel]
      );
      assertEquals(found.sort(), Object.keys(params).sort());
      assertRowsMakeGradients(
        (params) => {
          const { policy, value } = model.apply(params, x, recurrence);
          return tf.add(tf.sum(tf.sin(policy), 1), tf.square(value));
        },
        params,
        layers,
      );
    });
  });
}

/** A convolution, a dense layer on its places, and a fused one. */
function mixed(params: Params, x: tf.Tensor): tf.Tensor {
  const [filter, kernel] = [params.filter, params.kernel] as [
    tf.Tensor4D,
    tf.Tensor2D,
  ];
  const made = tf.add(
    tf.conv2d(x as tf.Tensor4D, filter, 2, "same"),
    params.shift,
  );
  const places = tf.reshape(tf.relu(made), [-1, 3]) as tf.Tensor2D;
  const dense = tf.add(
    tf.matMul(places, kernel),
    tf.reshape(params.bias, [1, 2]),
  );
  const flat = tf.reshape(tf.tanh(dense), [x.shape[0], -1]) as tf.Tensor2D;
  return tf.fused.matMul({
    a: flat,
    b: params.last as tf.Tensor2D,
    bias: params.end,
  });
}

const mixedParams = (): Params => ({
  filter: noise([2, 3, 2, 3], 1),
  shift: noise([3], 2),
  kernel: noise([3, 2], 3),
  bias: noise([2], 4),
  last: noise([12, 1], 5),
  end: noise([1], 6),
});

const MIXED: KfacLayer[] = [
  { kernel: "filter", bias: "shift" },
  { kernel: "kernel", bias: "bias" },
  { kernel: "last", bias: "end" },
];

Deno.test("convolutions, layers on places and fused ones are found, and their rows make their gradients", () => {
  tf.tidy(() => {
    const params = mixedParams(), x = noise([5, 4, 5, 2], 7);
    const layers = findLayers((params, { x }) => mixed(params, x), {
      params,
      inputs: { x },
    });
    assertEquals(layers, MIXED);
    const likelihood = (params: Params) =>
      tf.sum(tf.square(mixed(params, x)), 1);
    assertRowsMakeGradients(likelihood, params, layers);
    const { filter, kernel, last } = fisherRows(likelihood, params, { layers });
    assertEquals([filter, kernel, last].map((it) => it.positions), [6, 6, 1]);
  });
});

Deno.test("every third example of a convolution has its own rows", () => {
  tf.tidy(() => {
    const params = mixedParams(), x = noise([7, 4, 5, 2], 7);
    const likelihood = (params: Params) =>
      tf.sum(tf.square(mixed(params, x)), 1);
    const third = fisherRows(likelihood, params, {
      layers: MIXED,
      convolutionExamples: 3,
    });
    const all = fisherRows(likelihood, params, { layers: MIXED });
    assertEquals(third.filter.examples, 3);
    assertEquals(third.filter.positions, 6);
    for (const part of ["inputs", "gradients"] as const) {
      const rows = tf.reshape(all.filter[part], [7, 6, -1]);
      const wanted = tf.gather(rows, [0, 3, 6]);
      assertClose(tf.reshape(third.filter[part], wanted.shape), wanted);
    }
  });
});

Deno.test("examples of a recurrent layer and of one on places have the same scale", () => {
  // All inputs are ones: A is the rows of an example, and G is its square.
  const w = tf.ones([1, 1]), ones = (rows: number) => tf.ones([rows, 1]);
  const [environments, steps, places] = [2, 12, 5];
  const recurrent = ({ w }: Params) =>
    tf.concat(Array.from({ length: steps }, () => {
      const product = tf.matMul(ones(environments), w as tf.Tensor2D);
      return tf.mul(3, tf.reshape(product, [-1]));
    }));
  const onPlaces = ({ w }: Params) => {
    const product = tf.matMul(ones(environments * steps * places), w);
    return tf.mul(3, tf.sum(tf.reshape(product, [-1, places]), 1));
  };
  for (const [likelihood, rowsOfOne] of [[recurrent, 1], [onPlaces, places]]) {
    const rows = fisherRows(likelihood as typeof recurrent, { w }, {
      layers: [{ kernel: "w" }],
    });
    assertEquals(rows.w.examples, 24);
    const { input, output } = batchFactors(rows.w);
    assertClose(input, tf.tensor2d([[rowsOfOne as number]]));
    assertClose(output, tf.tensor2d([[9]]));
  }
});

Deno.test("convolutions are of at most some examples, dense layers of all", () => {
  tf.tidy(() => {
    const params = mixedParams(), x = noise([7, 4, 5, 2], 7);
    const rows = fisherRows(
      (params) => tf.sum(tf.square(mixed(params, x)), 1),
      params,
      { layers: MIXED, convolutionExamples: 3 },
    );
    assertEquals([rows.filter.examples, rows.filter.positions], [3, 6]);
    assertEquals([rows.last.examples, rows.last.positions], [7, 1]);
  });
});

Deno.test("rows are the same compiled", () => {
  const params = mixedParams(), x = noise([5, 4, 5, 2], 7);
  const rowsOf = ({ params, x }: { params: Params; x: tf.Tensor }) => {
    const rows = fisherRows(
      (it) => tf.sum(tf.square(mixed(it, x)), 1),
      params,
      {
        layers: MIXED,
      },
    );
    return Object.fromEntries(
      Object.entries(rows).map((
        [path, { inputs, gradients }],
      ) => [path, { inputs, gradients }]),
    );
  };
  const compiled = compile(rowsOf, { inputs: { params, x }, engine: "onnx" })
    .run({ params, x });
  const eager = rowsOf({ params, x });
  for (const path in eager) {
    for (const part of ["inputs", "gradients"] as const) {
      const { shape } = eager[path][part];
      assertClose(tf.tensor(compiled[path][part], shape), eager[path][part]);
    }
  }
});

Deno.test("rows and searches leave nothing behind", () => {
  const params = mixedParams(), x = noise([5, 4, 5, 2], 7);
  const before = tf.memory().numTensors;
  const rows = fisherRows((it) => tf.sum(mixed(it, x), 1), params, {
    layers: MIXED,
  });
  assertEquals(tf.memory().numTensors, before + 6);
  tf.dispose(
    Object.values(rows).map(({ inputs, gradients }) => [inputs, gradients]),
  );
  findLayers((params, { x }) => mixed(params, x), { params, inputs: { x } });
  assertThrows(
    () =>
      fisherRows(
        () => {
          throw new Error("own");
        },
        params,
        { layers: MIXED },
      ),
    Error,
    "own",
  );
  assertEquals(tf.memory().numTensors, before);
});

Deno.test("a layer that the likelihood does not depend on is named", () => {
  const params = { w: tf.ones([3, 1]), v: tf.ones([3, 1]) };
  const x = noise([4, 3], 1) as tf.Tensor2D;
  assertThrows(
    () =>
      fisherRows(
        ({ w, v }) => {
          tf.matMul(x, v as tf.Tensor2D);
          return tf.matMul(x, w as tf.Tensor2D);
        },
        params,
        { layers: [{ kernel: "w" }, { kernel: "v" }] },
      ),
    TypeError,
    "Cannot make factors for the layer 'v': the log-likelihood does not depend on it",
  );
});

Deno.test("a likelihood of one number, or of too few examples, is one line", () => {
  const params = { w: tf.zeros([2, 1]) };
  const layers = [{ kernel: "w" }];
  const outputs = (rows: number) => ({ w }: Params) =>
    tf.matMul(tf.ones([rows, 2]), w);
  const mean = (params: Params) => tf.mean(outputs(8)(params));
  for (const logLikelihood of [outputs(1), mean]) {
    assertThrows(
      () => fisherRows(logLikelihood, params, { layers }),
      RangeError,
      "Cannot make factors of 1 example: expected a log-likelihood of one number for each of at least 2 examples",
    );
  }
});
