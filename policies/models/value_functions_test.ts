import { assert, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import type { BoxSpace, Space } from "@bellman/types";
import type { FunctionOptions } from "./_body.ts";
import {
  discreteQFunction,
  qFunction,
  valueFunction,
  valuesOfActions,
} from "./value_functions.ts";
import { mlp } from "../networks/feed_forward.ts";
import { observationEncoder } from "../networks/observations.ts";
import {
  assertClose,
  assertGradientsFlow,
  assertNoLeaks,
} from "../testdata/assertions.ts";
import { testOnBackends, values } from "../testdata/backends.ts";
import { testCompiled } from "../testdata/compiled.ts";
import { seededRandom } from "../testdata/random.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";
import { BOX, IMAGE } from "../testdata/spaces.ts";

const ACTIONS: BoxSpace = { ...BOX, shape: [2] };
const ROWS = 5;
const LAYERS = {
  hiddenSizes: [7, 6],
  convLayers: [[6, 4, 2], [6, 2, 1]],
} as const;

const CASES: Record<string, FunctionOptions> = {
  "a box": { observationSpace: BOX },
  "a box of two axes": { observationSpace: { ...BOX, shape: [2, 2] } },
  "a discrete observation": { observationSpace: { type: "discrete", n: 4 } },
  "several discrete ones": {
    observationSpace: { type: "multiDiscrete", nvec: [2, 3] },
  },
  "an image": { observationSpace: IMAGE, network: "cnn" },
  "an image, flattened": { observationSpace: IMAGE },
  "a network as an object": {
    observationSpace: BOX,
    network: mlp({ inputShape: [3], hiddenSizes: [4] }),
  },
};

/** Encoded observations of a space, in no pattern. */
function observationsOf(space: Space): tf.Tensor {
  const { observationShape: shape } = observationEncoder(space);
  const random = seededRandom(4);
  const size = shape.reduce((a, b) => a * b, ROWS);
  const numbers = Float32Array.from({ length: size }, () => random.normal());
  return tf.tensor(numbers, [ROWS, ...shape]);
}

function actionsOf(): tf.Tensor2D {
  const random = seededRandom(5);
  const numbers = Float32Array.from(
    { length: ROWS * 2 },
    () => 2 * random.uniform() - 1,
  );
  return tf.tensor2d(numbers, [ROWS, 2]);
}

for (const [name, it] of Object.entries(CASES)) {
  testOnBackends(`functions of ${name}`, () => {
    const options = { ...it, networkOptions: LAYERS };
    const q = qFunction({ ...options, actionSpace: ACTIONS });
    const discrete = discreteQFunction({
      ...options,
      actionSpace: { type: "discrete", n: 4 },
    });
    const v = valueFunction(options);
    const x = observationsOf(it.observationSpace);
    const actions = actionsOf();
    const params = [q, discrete, v].map((f) => f.init(seededRandom(1)));
    assertEquals(q.apply(params[0], x, actions).shape, [ROWS]);
    assertEquals(discrete.apply(params[1], x).shape, [ROWS, 4]);
    assertEquals(v.apply(params[2], x).shape, [ROWS]);
    const loss = (y: tf.Tensor) => tf.sum(tf.square(tf.sub(y, 1)));
    assertGradientsFlow(
      (p) => loss(q.apply(p, x, actions)) as tf.Scalar,
      params[0],
    );
    assertGradientsFlow(
      (p) => loss(discrete.apply(p, x)) as tf.Scalar,
      params[1],
    );
    assertGradientsFlow((p) => loss(v.apply(p, x)) as tf.Scalar, params[2]);
    const slope = tf.grad((a) => q.apply(params[0], x, a))(actions);
    assert(values(slope).some((it) => it !== 0));
    assertNoLeaks(() => ({ y: q.apply(params[0], x, actions) }));
    assertNoLeaks(() => ({ y: discrete.apply(params[1], x) }));
    assertNoLeaks(() => ({ y: v.apply(params[2], x) }));
  });
}

testOnBackends("observations and actions go into the first layer", () => {
  const q = qFunction({
    observationSpace: BOX,
    actionSpace: ACTIONS,
    networkOptions: { hiddenSizes: [1] },
  });
  const params = {
    "dense0/kernel": tf.tensor2d([[1], [2], [3], [4], [5]]),
    "dense0/bias": tf.tensor1d([-10]),
    "head/kernel": tf.tensor2d([[2]]),
    "head/bias": tf.tensor1d([0.5]),
  };
  const x = tf.tensor2d([[1, 1, 1], [0, 0, 0]]);
  const actions = tf.tensor2d([[1, 0.5], [1, 1]]);
  // relu(6 + 4 + 2.5 - 10) and relu(9 - 10)
  assertClose(q.apply(params, x, actions), [5.5, 0.5], 1e-6);
});

testOnBackends("actions of more than one axis are flattened", () => {
  const options = { observationSpace: BOX, networkOptions: LAYERS };
  const [flat, square, number] = [[4], [2, 2], []].map((shape) =>
    qFunction({ ...options, actionSpace: { ...BOX, shape } })
  );
  const params = flat.init(seededRandom(1));
  const x = observationsOf(BOX);
  const actions = tf.linspace(-1, 1, ROWS * 4);
  assertEquals(
    values(square.apply(params, x, actions.reshape([ROWS, 2, 2]))),
    values(flat.apply(params, x, actions.reshape([ROWS, 4]))),
  );
  const one = number.apply(number.init(seededRandom(1)), x, tf.zeros([ROWS]));
  assertEquals(one.shape, [ROWS]);
});

testOnBackends("paths and first values of the parameters", () => {
  const options = { observationSpace: IMAGE, network: "cnn" } as const;
  const paths = Object.keys(
    qFunction({
      ...options,
      actionSpace: ACTIONS,
      networkOptions: LAYERS,
    }).init(seededRandom(1)),
  );
  assertEquals(paths.filter((it) => it.endsWith("kernel")), [
    "features/conv0/kernel",
    "features/conv1/kernel",
    "features/dense0/kernel",
    "dense0/kernel",
    "dense1/kernel",
    "head/kernel",
  ]);
  const largest = (tensor: tf.Tensor) =>
    Math.max(...values(tensor).map(Math.abs));
  const torch = valueFunction({ observationSpace: BOX }).init(seededRandom(1));
  assertEquals(torch["dense1/kernel"].shape, [256, 256]);
  for (const layer of ["dense1", "head"]) {
    for (const kind of ["kernel", "bias"]) {
      const size = largest(torch[`${layer}/${kind}`]);
      assert(size > 0 && size <= 1 / 16, `${layer}/${kind} up to ${size}`);
    }
  }
  const glorot = valueFunction({ observationSpace: BOX, initializer: "glorot" })
    .init(seededRandom(1));
  const limit = Math.sqrt(6 / 512);
  const size = largest(glorot["dense1/kernel"]);
  assert(size > 1 / 16 && size <= limit);
  assertEquals(largest(glorot["head/bias"]), 0);
});

testCompiled("functions of an image", () => {
  const q = imageQ();
  return {
    x: observationsOf(IMAGE),
    actions: actionsOf(),
    ...q.init(seededRandom(1)),
  };
}, ({ x, actions, ...params }) => {
  const q = imageQ();
  const [value, slope] = [
    q.apply(params, x, actions),
    tf.grad((a) => q.apply(params, x, a))(actions),
  ];
  return { value, slope };
});

const imageQ = () =>
  qFunction({
    observationSpace: IMAGE,
    actionSpace: ACTIONS,
    network: "cnn",
    networkOptions: LAYERS,
  });

Deno.test("a Q function tells several discrete actions apart", () => {
  const q = qFunction({
    observationSpace: BOX,
    actionSpace: { type: "multiDiscrete", nvec: [2, 3] },
    networkOptions: LAYERS,
  });
  const flags = qFunction({
    observationSpace: BOX,
    actionSpace: { type: "multiBinary", n: 2 },
    networkOptions: LAYERS,
  });
  const params = q.init(seededRandom(1));
  assertEquals(params["dense0/kernel"].shape, [3 + 2 + 3, 7]);
  const six = tf.tensor2d(
    [0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2],
    [6, 2],
    "int32",
  );
  assertEquals(new Set(values(q.apply(params, tf.ones([6, 3]), six))).size, 6);
  const own = flags.init(seededRandom(1));
  assertEquals(own["dense0/kernel"].shape, [3 + 2, 7]);
  const four = tf.tensor2d([0, 0, 0, 1, 1, 0, 1, 1], [4, 2], "int32");
  const found = values(flags.apply(own, tf.ones([4, 3]), four));
  assertEquals(new Set(found).size, 4);
});

Deno.test("what does not fit is refused", () => {
  assertRefused({
    "RangeError: Cannot use a recurrent network with a state of 256 numbers":
      () => valueFunction({ observationSpace: BOX, network: "lstm" }),
    "TypeError: Cannot use dict observations without parts": () =>
      valueFunction({ observationSpace: { type: "dict", spaces: {} } }),
    "RangeError: Unknown initializer 'he'": () =>
      valueFunction({ observationSpace: BOX, initializer: "he" as "torch" }),
    "RangeError: Cannot apply a network for inputs [4] to observations [3]":
      () =>
        valueFunction({
          observationSpace: BOX,
          network: mlp({ inputShape: [4] }),
        }),
  });
});

Deno.test("the value of an action has a gradient for that action alone", () => {
  const actions = tf.tensor1d([2, 0], "int32");
  const gradient = tf.grad((q) => valuesOfActions(q as tf.Tensor2D, actions))(
    tf.tensor2d([[1, 2, 3], [4, 5, 6]]),
  );
  assertEquals(gradient.arraySync(), [[0, 0, 1], [1, 0, 0]]);
});

Deno.test("the atoms of an action are picked whole, from its smallest number on", () => {
  const outputs = tf.tensor3d([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]);
  const actions = tf.tensor1d([11, 10], "int32");
  const taken = valuesOfActions(outputs, actions, { start: 10 });
  assertEquals(taken.arraySync(), [[3, 4], [5, 6]]);
});

Deno.test("of one action alone the value is picked", () => {
  const actions = tf.tensor1d([7, 7], "int32");
  const pick = (q: tf.Tensor2D) => valuesOfActions(q, actions, { start: 7 });
  const q = tf.tensor2d([[1], [2]]);
  assertEquals(pick(q).arraySync(), [1, 2]);
  assertEquals(tf.grad(pick as () => tf.Tensor)(q).arraySync(), [[1], [1]]);
  const atoms = tf.tensor3d([[[1, 2]], [[3, 4]]]);
  assertEquals(valuesOfActions(atoms, actions, { start: 7 }).arraySync(), [
    [1, 2],
    [3, 4],
  ]);
});
