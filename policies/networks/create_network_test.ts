import { assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import {
  createNetwork,
  type CreateNetworkOptions,
  networkFor,
  type NetworkName,
  networkNames,
  registeredNetworks,
  registerNetwork,
} from "./create_network.ts";
import { mlp } from "./feed_forward.ts";
import { glorotUniform } from "./initializers.ts";
import { assertGradientsFlow, assertNoLeaks } from "../testdata/assertions.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";
import { testOnBackends, values } from "../testdata/backends.ts";
import { seededRandom } from "../testdata/random.ts";

const OPTIONS = {
  inputShape: [12, 12, 2],
  inputParts: { whole: [12, 12, 2] },
  hiddenSizes: [5],
  lstmSize: 4,
  convLayers: [[6, 4, 2], [6, 2, 1]],
} as const;
const ENVS = 2;
const ROWS = ENVS * 3;

const OUTPUT_SIZES: Record<NetworkName, number> = {
  auto: 5,
  parts: 5,
  mlp: 5,
  cnn: 512,
  cnn_32: 512,
  cnn_2013: 256,
  cnn_small: 128,
  cnn_board: 256,
  conv_only: 6 * 6 * 6,
  lstm: 4,
  lnlstm: 4,
  cnn_lstm: 4,
  cnn_lnlstm: 4,
};

for (const name of networkNames) {
  testOnBackends(`${name}: shapes, gradients, tensors`, () => {
    const network = createNetwork(name, OPTIONS);
    const random = seededRandom(1);
    const params = network.init(random);
    const recurrent = name.endsWith("lstm");
    assertEquals(network.outputSize, OUTPUT_SIZES[name]);
    assertEquals(network.stateSize, recurrent ? 8 : 0);

    const data = glorotUniform()([ROWS, 12, 12, 2], random).map((x) => 10 * x);
    const x = tf.tensor4d(data, [ROWS, 12, 12, 2]);
    const state = tf.fill([ENVS, 8], 0.5) as tf.Tensor2D;
    const masks = tf.tensor1d([0, 1, 0, 0, 0, 0]);
    const apply = (p: typeof params) =>
      network.apply(p, recurrent ? { x, state, masks } : { x });

    const output = apply(params);
    assertEquals(output.output.shape, [ROWS, network.outputSize]);
    assertEquals(output.state?.shape, recurrent ? [ENVS, 8] : undefined);
    assertEquals(values(apply(params).output), values(output.output));
    assertGradientsFlow(
      (p) => tf.sum(tf.square(tf.add(apply(p).output, 0.5))),
      params,
    );
    assertNoLeaks(() => ({ ...apply(params) }));
  });
}

testOnBackends("each part of an input has its network, and all an mlp", () => {
  const parts = { camera: [12, 12, 2], goal: [2], joints: [3] };
  const inputShape = [12 * 12 * 2 + 2 + 3];
  const options = { ...OPTIONS, inputShape, inputParts: parts };
  const network = createNetwork("parts", {
    ...options,
    partNetworks: { camera: "conv_only", joints: "mlp" },
  });
  const params = network.init(seededRandom(1));
  assertEquals(
    Object.entries(params).map(([path, { shape }]) => `${path} ${shape}`),
    [
      "parts/camera/conv0/kernel 4,4,2,6",
      "parts/camera/conv0/bias 6",
      "parts/camera/conv1/kernel 2,2,6,6",
      "parts/camera/conv1/bias 6",
      "parts/joints/dense0/kernel 3,5",
      "parts/joints/dense0/bias 5",
      `dense0/kernel ${6 * 6 * 6 + 2 + 5},5`,
      "dense0/bias 5",
    ],
  );
  const x = tf.randomUniform([ROWS, ...inputShape], 0, 1, "float32", 1);
  const { output } = network.apply(params, { x });
  assertEquals(output.shape, [ROWS, 5]);
  assertGradientsFlow(
    (p) => tf.sum(tf.square(tf.add(network.apply(p, { x }).output, 0.5))),
    params,
  );
  assertNoLeaks(() => ({ ...network.apply(params, { x }) }));
});

Deno.test("auto takes parts where one is an image or has a network", () => {
  const inputParts = { camera: [36, 36, 1], joints: [3] };
  assertEquals(networkFor([36 * 36 + 3], { inputParts }), "parts");
  const vectors = { goal: [2], joints: [3] };
  assertEquals(networkFor([5], { inputParts: vectors }), "mlp");
  const partNetworks = { goal: "mlp" } as const;
  assertEquals(networkFor([5], { inputParts: vectors, partNetworks }), "parts");
});

Deno.test("networks of parts that do not fit are refused", () => {
  const inputParts = { goal: [2], joints: [3] };
  const make = (options: Partial<CreateNetworkOptions>) => () =>
    createNetwork("parts", { inputShape: [5], inputParts, ...options });
  assertRefused({
    "RangeError: Cannot apply the network 'parts' to observations [5]: expected a dict space, or another network":
      make({ inputParts: undefined }),
    "RangeError: Unknown part 'joint' in partNetworks: did you mean 'joints'?":
      make({ partNetworks: { joint: "mlp" } }),
    "RangeError: Cannot use the recurrent network 'lstm' for the part 'goal'":
      make({ partNetworks: { goal: "lstm" } }),
    "RangeError: Unknown network 'mpl': did you mean 'mlp'?": make({
      partNetworks: { goal: "mpl" as "mlp" },
    }),
  });
});

Deno.test("cnn_32 has half of the filters in its last convolution", async () => {
  await tf.setBackend("cpu");
  const kernelInitializer = glorotUniform(); // orthogonal takes seconds here
  const inputShape = [84, 84, 4];
  const network = createNetwork("cnn_32", { inputShape, kernelInitializer });
  const params = network.init(seededRandom(1));
  assertEquals(params["conv2/kernel"].shape, [3, 3, 64, 32]);
  assertEquals(params["dense0/kernel"].shape, [7 * 7 * 32, 512]);
});

testOnBackends("the same seed gives the same parameters", () => {
  for (const name of networkNames) {
    const network = createNetwork(name, {
      ...OPTIONS,
      convLayers: [[2, 3, 3]],
    });
    const [a, b] = [1, 1].map((seed) => network.init(seededRandom(seed)));
    assertEquals(Object.keys(a), Object.keys(b));
    for (const path in a) assertEquals(values(a[path]), values(b[path]));
  }
});

Deno.test("auto is cnn for images of at least 36x36, mlp for everything else", () => {
  const shapes: [number[], "cnn" | "mlp"][] = [
    [[84, 84, 4], "cnn"],
    [[36, 36, 1], "cnn"],
    [[35, 84, 3], "mlp"],
    [[84, 35, 3], "mlp"],
    [[35, 84], "mlp"],
    [[48], "mlp"],
  ];
  for (const [inputShape, name] of shapes) {
    const options = { inputShape, kernelInitializer: glorotUniform() };
    const [auto, named] = ["auto", name].map((it) =>
      Object.entries(createNetwork(it, options).init(seededRandom(1)))
        .map(([path, { shape }]) => [path, shape])
    );
    assertEquals(auto, named);
  }
});

Deno.test("images whose channels come first, or that have none, are no vectors by accident", () => {
  for (const inputShape of [[3, 84, 84], [12, 40, 50], [84, 84]]) {
    const { message } = assertThrows(
      () => createNetwork("auto", { inputShape }),
      RangeError,
    );
    assertEquals(
      message,
      `Cannot convolve inputs of shape [${inputShape}]: images must be [height, width, channels], as ChannelsLast around the environment makes them; or network: mlp (flat for a part), where they are no images`,
    );
    assertEquals(createNetwork("mlp", { inputShape }).outputSize, 64);
  }
});

Deno.test("filters of boards are as large as four in a row, or as the board", () => {
  const kernelOf = (inputShape: readonly number[]) =>
    createNetwork("cnn_board", { inputShape })
      .init(seededRandom(0))["conv0/kernel"].shape;
  assertEquals(kernelOf([6, 7, 2]), [4, 4, 2, 64]);
  assertEquals(kernelOf([3, 3, 2]), [3, 3, 2, 64]);
  assertThrows(() => kernelOf([9]), RangeError, "Cannot convolve inputs");
});

Deno.test("an unknown name brings up the nearest one", () => {
  const cases = [
    ["mlpp", "mlp"],
    ["cnn_smal", "cnn_small"],
    ["lnlstn", "lnlstm"],
    ["toString", "conv_only"],
  ];
  for (const [wrong, nearest] of cases) {
    const message = assertThrows(
      () => createNetwork(wrong as NetworkName, OPTIONS),
      RangeError,
    ).message;
    if (wrong === "toString") continue; // any known name will do
    assertEquals(
      message,
      `Unknown network '${wrong}': did you mean '${nearest}'?`,
    );
  }
});

Deno.test("a network of one's own stands wherever a name does", () => {
  registerNetwork("narrow", (options) => mlp({ ...options, hiddenSizes: [3] }));
  assertEquals(registeredNetworks(), ["narrow"]);
  assertEquals(createNetwork("narrow", { inputShape: [4] }).outputSize, 3);
  for (const name of ["narrow", "mlp"]) {
    assertThrows(
      () => registerNetwork(name, mlp),
      TypeError,
      `Cannot register the network '${name}': there is one of that name`,
    );
  }
  assertThrows(
    () => createNetwork("narow", { inputShape: [4] }),
    RangeError,
    "Unknown network 'narow': did you mean 'narrow'?",
  );
});
