import { type A2CBatch, a2cUpdate, initA2CState } from "@bellman/a2c";
import { mapParams, type Params, RandomStream, sgd } from "@bellman/compute";
import { type ActorCritic, actorCritic, pickPrefix } from "@bellman/policies";
import type { Space } from "@bellman/types";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { type AcktrConfig, defaultAcktrConfig } from "./config.ts";
import { acktrUpdate, actorCriticLayers } from "./update.ts";

await tf.setBackend("cpu");

const COUNT = 6;
const OBSERVATION: Space = {
  type: "box",
  shape: [3],
  low: -1,
  high: 1,
  dtype: "float32",
};
const random = new RandomStream(3);
const normal = (...shape: number[]) =>
  tf.tensor(
    random.fillNormal(new Float32Array(shape.reduce((a, b) => a * b))),
    shape,
  );

function modelOf(
  actionSpace: Space = { type: "discrete", n: 3 },
  valueNetwork: "shared" | "separate" = "shared",
  useSde = false,
): { model: ActorCritic; params: Params } {
  const model = actorCritic({
    observationSpace: OBSERVATION,
    actionSpace,
    network: "mlp",
    networkOptions: { hiddenSizes: [4] },
    valueNetwork,
    useSde,
  });
  return { model, params: model.init(new RandomStream(1)) };
}

const BATCH: A2CBatch = {
  observations: normal(COUNT, 3),
  actions: tf.tensor1d([0, 1, 2, 0, 1, 2], "int32"),
  advantages: normal(COUNT) as tf.Tensor1D,
  returns: normal(COUNT) as tf.Tensor1D,
};
const INPUTS = {
  actionNoise: tf.tensor2d(
    Array.from({ length: 3 * COUNT }, (_, i) => ((7 * i) % 19 + 0.5) / 19),
    [COUNT, 3],
  ),
  valueNoise: normal(COUNT, 1) as tf.Tensor2D,
  learningRate: tf.scalar(0.1),
  valueLearningRate: tf.scalar(0.2),
  coldRatio: tf.scalar(1),
  entropyCoefficient: tf.scalar(0.01),
};

/** Takes one update of a new model. */
function updateOnce(
  config: Partial<AcktrConfig> = {},
  { model, params } = modelOf(),
  batch: A2CBatch = BATCH,
) {
  const layers = actorCriticLayers(model, params);
  const settings = { ...defaultAcktrConfig, coldUpdates: 0, ...config };
  const update = acktrUpdate(model, layers, settings);
  return update.apply(update.init(params), batch, INPUTS);
}

function assertClose(found: tf.Tensor, wanted: tf.Tensor): void {
  const numbers = wanted.dataSync();
  found.dataSync().forEach((it, i) => assertAlmostEquals(it, numbers[i], 1e-6));
}

Deno.test("the layers are those of trunks and heads, and no deviation is in one", () => {
  const { model, params } = modelOf(OBSERVATION, "separate");
  const layers = actorCriticLayers(model, params);
  const known = layers.flatMap(({ kernel, bias }) => [kernel, bias]);
  assertEquals(
    Object.keys(params).filter((path) => !known.includes(path)),
    ["pi/logStd"],
  );
  assert(layers.every(({ bias }) => bias !== undefined));
});

for (const valueNetwork of ["shared", "separate"] as const) {
  Deno.test(`a cold update is A2C's with gradient descent, ${valueNetwork} network`, () => {
    const given = modelOf(undefined, valueNetwork);
    const objective = valueNetwork;
    const found = updateOnce({ coldUpdates: 9, objective, momentum: 0 }, given);
    const optimizer = sgd();
    const optimizers = objective === "shared"
      ? { optimizer }
      : { optimizer, valueOptimizer: sgd() };
    const update = a2cUpdate(given.model, optimizers);
    const state = initA2CState(given.params, optimizers);
    const wanted = update(state, BATCH, INPUTS);
    for (const path in wanted.state.policy) {
      assertClose(found.state.policy[path], wanted.state.policy[path]);
    }
    for (const name in wanted.stats) {
      const key = name as keyof typeof wanted.stats;
      assertClose(found.stats[key], wanted.stats[key]);
    }
  });
}

/** The factors of a layer after one update. */
function factorsOf(
  kernel: string,
  ...given: Parameters<typeof updateOnce>
): number[][] {
  const { state } = updateOnce(...given);
  return ["input", "output"].map((name) =>
    Array.from(state.optimizer[`all/${name}/${kernel}`].dataSync())
  );
}

Deno.test("values count in the Fisher matrix by the square of their weight", () => {
  const noise = Array.from(INPUTS.valueNoise.dataSync());
  const square = noise.reduce((sum, it) => sum + it ** 2, 0) / COUNT;
  for (const valueFisherCoefficient of [0.5, 1, 2]) {
    const [, [found]] = factorsOf("vf/head/kernel", { valueFisherCoefficient });
    const wanted = 4 * valueFisherCoefficient ** 2 * square;
    assertAlmostEquals(found, wanted, 1e-4 * wanted);
  }
});

Deno.test("advantages and returns have no part in the factors", () => {
  const other = {
    ...BATCH,
    advantages: normal(COUNT) as tf.Tensor1D,
    returns: normal(COUNT) as tf.Tensor1D,
  };
  for (const kernel of ["pi/head/kernel", "vf/head/kernel"]) {
    assertEquals(
      factorsOf(kernel, {}, undefined, other),
      factorsOf(kernel),
    );
  }
});

Deno.test("the policy's factor is of drawn actions, or of those that were taken", () => {
  const { model, params } = modelOf();
  const { policy } = model.apply(params, BATCH.observations);
  const drawn = model.distribution.sample(policy, INPUTS.actionNoise);
  const cases = { sampled: drawn, taken: BATCH.actions } as const;
  for (const [name, actions] of Object.entries(cases)) {
    const fisherActions = name as keyof typeof cases;
    const [, found] = factorsOf("pi/head/kernel", { fisherActions });
    const scores = tf.sub(
      tf.oneHot(actions as tf.Tensor1D, 3),
      tf.softmax(policy),
    );
    const wanted = tf.div(tf.matMul(scores, scores, true), COUNT).dataSync();
    found.forEach((it, i) => assertAlmostEquals(it, wanted[i], 1e-6));
  }
});

Deno.test("with two objectives the policy's step does not see the values", () => {
  const given = modelOf(undefined, "separate");
  const config = { objective: "separate" } as const;
  const other = { ...BATCH, returns: normal(COUNT) as tf.Tensor1D };
  const [first, second] = [BATCH, other].map((batch) =>
    mapParams(
      updateOnce(config, given, batch).state.policy,
      (it) => tf.tensor(it.dataSync().slice(), it.shape),
    )
  );
  for (const path in first) {
    const [a, b] = [first, second].map((it) => [...it[path].dataSync()]);
    if (path.startsWith("pi/")) assertEquals(a, b);
    else assert(String(a) !== String(b), path);
  }
});

Deno.test("deviations take natural steps: they share an information of 2 for each action", () => {
  for (const objective of ["shared", "separate"] as const) {
    for (const useSde of [false, true]) {
      const { model, params } = modelOf(OBSERVATION, "separate", useSde);
      const layers = actorCriticLayers(model, params);
      const config = { ...defaultAcktrConfig, objective, damping: 0.25 };
      const update = acktrUpdate(model, layers, config);
      const [{ name, kfac }] = update.steps;
      const state = pickPrefix(update.init(params).optimizer, name);
      const gradients = mapParams(params, (it) => tf.onesLike(it));
      const found = kfac.naturalGradient(gradients, state)["pi/logStd"];
      const information = useSde ? 2 / 4 : 2; // of four features
      found.dataSync().forEach((it) =>
        assertAlmostEquals(it, 1 / (information + 0.25), 1e-6)
      );
    }
  }
});
