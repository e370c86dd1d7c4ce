import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import fc from "fast-check";
import type { Space } from "@bellman/types";
import { actorCritic, type ActorCriticOptions } from "./actor_critic.ts";
import { type NetworkName, networkNames } from "../networks/create_network.ts";
import { mlp } from "../networks/feed_forward.ts";
import type { Network } from "../networks/network.ts";
import {
  assertClose,
  assertGradientsFlow,
  assertNoLeaks,
} from "../testdata/assertions.ts";
import { testOnBackends, values } from "../testdata/backends.ts";
import { noiseFor } from "../testdata/distribution_properties.ts";
import { seededRandom } from "../testdata/random.ts";
import { BOX, IMAGE } from "../testdata/spaces.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

const ACTIONS: Space[] = [
  { type: "discrete", n: 3 },
  { type: "discrete", n: 3, start: 2 },
  { type: "multiDiscrete", nvec: [3, 2] },
  { type: "multiDiscrete", nvec: [4] },
  { type: "multiBinary", n: 2 },
  BOX,
  { ...BOX, shape: [2, 2] },
];
const NETWORK_OPTIONS = {
  hiddenSizes: [5, 4],
  lstmSize: 4,
  convLayers: [[6, 4, 2], [6, 2, 1]],
} as const;
const ENVS = 2;
const ROWS = 3 * ENVS;

function model(options: Partial<ActorCriticOptions>) {
  return actorCritic({
    observationSpace: BOX,
    actionSpace: { type: "discrete", n: 3 },
    network: "mlp",
    networkOptions: NETWORK_OPTIONS,
    ...options,
  });
}

/** Applies, samples and trains a model once, and checks each step. */
function checkModel(options: Partial<ActorCriticOptions>): void {
  const m = model(options);
  const random = seededRandom(3);
  const params = m.init(random);
  const image = options.observationSpace === IMAGE;
  const size = ROWS * m.observationSize;
  const observations = m.observationTensor(
    image
      ? Uint8Array.from({ length: size }, () => 255 * random.uniform())
      : Float32Array.from({ length: size }, () => random.normal()),
    ROWS,
  );
  const recurrence = m.stateSize === 0 ? undefined : {
    state: tf.fill([ENVS, m.stateSize], 0.3) as tf.Tensor2D,
    masks: tf.tensor1d([0, 0, 1, 0, 0, 0]),
  };
  const output = m.apply(params, observations, recurrence);
  assertEquals(output.policy.shape, [ROWS, m.distribution.parameterSize]);
  assertEquals(output.value.shape, [ROWS]);
  assertEquals(
    output.state?.shape,
    recurrence ? [ENVS, m.stateSize] : undefined,
  );
  const noise = noiseFor(m, ROWS);
  const actions = m.sample(params, output, { noise });
  for (const tensor of [actions, m.mode(output)]) {
    assertEquals(tensor.shape, [ROWS, ...m.distribution.actionShape]);
    assertEquals(tensor.dtype, m.distribution.actionDtype);
  }
  assertGradientsFlow((p) => {
    const { policy, value } = m.apply(p, observations, recurrence);
    const logProb = m.distribution.logProb(policy, actions);
    const scores = tf.mul(logProb, tf.range(1, ROWS + 1));
    return tf.add(tf.sum(scores), tf.sum(tf.square(tf.add(value, 1))));
  }, params);
  assertNoLeaks(() => ({ ...m.apply(params, observations, recurrence) }));
  assertNoLeaks(() => ({ a: m.sample(params, output, { noise }) }));
}

for (const actionSpace of ACTIONS) {
  testOnBackends(`a model for actions ${JSON.stringify(actionSpace)}`, () => {
    checkModel({ actionSpace });
    checkModel({ actionSpace, valueNetwork: "separate" });
  });
}

for (const network of networkNames) {
  if (network === "parts") continue; // These take dicts alone.
  testOnBackends(`a model over ${network}, shared and separate`, () => {
    const observationSpace = network.includes("c") ? IMAGE : BOX;
    checkModel({ network, observationSpace });
    checkModel({ network, observationSpace, valueNetwork: "separate" });
  });
}

testOnBackends("state-dependent exploration", () => {
  for (const network of ["mlp", "lstm"] as const) {
    const options = { network, actionSpace: BOX, useSde: true };
    checkModel(options);
    checkModel({ ...options, valueNetwork: "separate" });
    checkModel({ ...options, actionSpace: BOX, actions: "squashed" });
  }
});

testOnBackends("squashed actions", () => {
  checkModel({ actionSpace: BOX, actions: "squashed" });
  const m = model({ actionSpace: BOX, actions: "squashed" });
  const output = m.apply(m.init(seededRandom(1)), tf.zeros([1, 3]));
  const noise = tf.fill([1, 3], 3) as tf.Tensor2D;
  const actions = values(m.sample({}, output, { noise }));
  assertClose(actions, [3, 3, 3].map(Math.tanh));
  assert(m.squashesActions);
  // Of no effect on others.
  assert(!model({ actions: "squashed" }).squashesActions);
});

testOnBackends("paths and first values of the parameters", () => {
  const box = model({ actionSpace: BOX, initialLogStd: -0.5 });
  const params = box.init(seededRandom(1));
  assertEquals(Object.keys(params), [
    "shared/dense0/kernel",
    "shared/dense0/bias",
    "shared/dense1/kernel",
    "shared/dense1/bias",
    "pi/head/kernel",
    "pi/head/bias",
    "vf/head/kernel",
    "vf/head/bias",
    "pi/logStd",
  ]);
  assertEquals(values(params["pi/logStd"]), [-0.5, -0.5, -0.5]);
  const norm = (path: string) => values(tf.norm(params[path]))[0];
  assertClose([norm("pi/head/kernel")], [0.01 * Math.sqrt(3)]);
  assertClose([norm("vf/head/kernel")], [1]);
  assertClose([norm("shared/dense1/kernel")], [Math.sqrt(2 * 4)]);

  const separate = model({ valueNetwork: "separate" }).init(seededRandom(1));
  assertEquals(
    Object.keys(separate).filter((path) => path.endsWith("dense0/kernel")),
    ["pi/dense0/kernel", "vf/dense0/kernel"],
  );
  const [pi, vf] = [separate["pi/dense0/kernel"], separate["vf/dense0/kernel"]];
  assert(values(pi).some((value, i) => value !== values(vf)[i]));

  const glorot = model({ orthogonalInit: false }).init(seededRandom(1));
  const limit = Math.sqrt(6 / (4 + 3));
  const head = values(glorot["pi/head/kernel"]).map(Math.abs);
  assert(Math.max(...head) <= limit && Math.max(...head) > 0.1);
});

testOnBackends("the distribution is what samples come from", () => {
  const rows = 3000;
  const m = model({ actionSpace: BOX, useSde: true, initialLogStd: -1 });
  const params = m.init(seededRandom(2));
  const one = new Float32Array([0.5, -1, 2]);
  const x = tf.tile(m.observationTensor(one, 1), [rows, 1]);
  const output = m.apply(params, x);
  const actions = m.sample(params, output, { noise: noiseFor(m, rows) });
  const logProb = m.distribution.logProb(output.policy, actions);
  const [entropy] = values(m.distribution.entropy(output.policy));
  // The deviation of a Gaussian's -log p is sqrt(3 / 2) for 3 numbers.
  const error = Math.sqrt(1.5 / rows);
  const mean = values(tf.mean(tf.neg(logProb)))[0];
  assert(Math.abs(mean - entropy) < 5 * error, `${mean}, ${entropy}`);
});

testOnBackends("with two trunks each has a state of its own", () => {
  const m = model({ network: "lstm", valueNetwork: "separate" });
  assertEquals(m.stateSize, 16);
  const params = m.init(seededRandom(5));
  const x = tf.tensor2d([[1, 2, 3]]);
  const masks = tf.tensor1d([0]);
  const run = (start: number[]) =>
    m.apply(params, x, { state: tf.tensor2d([start]), masks });
  const zeros = new Array(16).fill(0);
  const base = run(zeros);
  const policyStarted = run(zeros.map((_, i) => i < 8 ? 1 : 0));
  assertEquals(values(policyStarted.value), values(base.value));
  assert(values(policyStarted.policy)[0] !== values(base.policy)[0]);
  assertEquals(
    values(policyStarted.state!).slice(8),
    values(base.state!).slice(8),
  );
});

for (const valueNetwork of ["shared", "separate"] as const) {
  testOnBackends(`masks reset a ${valueNetwork} state exactly`, () => {
    const m = model({ network: "lnlstm", valueNetwork });
    const params = m.init(seededRandom(5));
    const x = tf.tensor2d([[1, 2, 3], [0, -1, 1]]);
    const masks = tf.tensor1d([1, 0]);
    const [fresh, used] = [0, 0.9].map((start) =>
      m.apply(params, x, {
        state: tf.fill([1, m.stateSize], start) as tf.Tensor2D,
        masks,
      })
    );
    for (const key of ["policy", "value", "state", "features"] as const) {
      assertEquals(values(used[key]!), values(fresh[key]!));
    }
  });
}

testOnBackends("the environments of a recurrent batch do not mix", () => {
  const m = model({ network: "lstm", valueNetwork: "separate" });
  const params = m.init(seededRandom(5));
  const number = fc.integer({ min: -20, max: 20 }).map((n) => n / 4);
  const observation = fc.array(number, { minLength: 3, maxLength: 3 });
  const episode = fc.array(observation, { minLength: 3, maxLength: 3 });
  const run = (...episodes: number[][][]) =>
    tf.tidy(() => {
      const rows = episodes.flat();
      const { policy, value } = m.apply(params, tf.tensor2d(rows), {
        state: tf.zeros([episodes.length, m.stateSize]),
        masks: tf.zeros([rows.length]),
      });
      return [values(policy), values(value)];
    });
  fc.assert(
    fc.property(episode, episode, episode, (a, b, c) => {
      const [policy, value] = run(a, b);
      const [otherPolicy, otherValue] = run(a, c);
      assertEquals(policy.slice(0, 9), otherPolicy.slice(0, 9));
      assertEquals(value.slice(0, 3), otherValue.slice(0, 3));
    }),
    { numRuns: 20, seed: 1 },
  );
});

testOnBackends("a network of one's own stands where a name can", () => {
  const inner = mlp({ inputShape: [3], hiddenSizes: [4] });
  const own: Network = {
    ...inner,
    outputSize: 8,
    apply(params, inputs) {
      const { output } = inner.apply(params, inputs);
      return { output: tf.concat([output, tf.neg(output)], 1) };
    },
  };
  checkModel({ network: own });
  checkModel({ network: own, valueNetwork: "separate", actionSpace: BOX });
});

testOnBackends("discrete observations go in one-hot", () => {
  const m = model({ observationSpace: { type: "discrete", n: 4 } });
  assertEquals(m.observationShape, [4]);
  assertEquals(m.observationSize, 1);
  const params = m.init(seededRandom(1));
  const x = m.observationTensor(new Int32Array([0, 3, 0]), 3);
  const [a, b, c] = values(m.apply(params, x).value);
  assertEquals(a, c);
  assert(a !== b);
});

Deno.test("models that cannot be are refused", () => {
  const make = (options: Partial<ActorCriticOptions>) => () => model(options);
  assertRefused({
    "TypeError: wrap the environment in FlattenObservation": make({
      observationSpace: { type: "tuple", spaces: [BOX] },
    }),
    "TypeError: Cannot choose a distribution for tuple actions": make({
      actionSpace: { type: "tuple", spaces: [BOX] },
    }),
    "TypeError: Cannot use state-dependent exploration for discrete actions":
      make({ useSde: true }),
    "RangeError: Unknown network 'mpl': did you mean 'mlp'?": make({
      network: "mpl" as NetworkName,
    }),
    "RangeError: Cannot apply a network for inputs [4] to observations [3]":
      make({ network: mlp({ inputShape: [4] }) }),
    "RangeError: Cannot use the value network 'copy'": make({
      valueNetwork: "copy" as "shared",
    }),
  });
});

testOnBackends("a network must not take the paths of the heads", () => {
  const inner = mlp({ inputShape: [3], hiddenSizes: [4] });
  const own: Network = {
    ...inner,
    init: () => ({ "head/kernel": tf.zeros([1]) }),
  };
  assertThrows(
    () =>
      model({ network: own, valueNetwork: "separate" }).init(seededRandom(1)),
    RangeError,
    "Cannot name a parameter of the network 'pi/head/kernel'",
  );
});
