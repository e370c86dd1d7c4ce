import { assert, assertEquals } from "@std/assert";
import type { Params } from "@bellman/compute";
import * as tf from "@tensorflow/tfjs";
import type { BoxSpace, Space } from "@bellman/types";
import { stateDependentLogStd } from "../distributions/state_dependent_exploration.ts";
import {
  stochasticPolicy,
  type StochasticPolicyOptions,
} from "./stochastic_policy.ts";
import {
  assertClose,
  assertGradientsFlow,
  assertNoLeaks,
} from "../testdata/assertions.ts";
import { testOnBackends as test, values } from "../testdata/backends.ts";
import { testCompiled } from "../testdata/compiled.ts";
import { noiseFor } from "../testdata/distribution_properties.ts";
import { seededRandom } from "../testdata/random.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";
import { BOX } from "../testdata/spaces.ts";

const ACTIONS: BoxSpace = { ...BOX, shape: [2], low: [-2, 0], high: 5 };
const LAYERS = { hiddenSizes: [6, 5] } as const;
const ROWS = 4;

const policy = (
  options: Partial<StochasticPolicyOptions> & { actionSpace?: BoxSpace } = {},
) =>
  stochasticPolicy({
    observationSpace: BOX,
    actionSpace: ACTIONS,
    networkOptions: LAYERS,
    ...options,
  });

const CASES: Record<string, Partial<StochasticPolicyOptions>> = {
  "a Gaussian": {},
  "a Gaussian of the original": {
    squashCorrection: "epsilon",
    initializer: "glorot",
  },
  "a mixture": { distribution: "mixture", components: 3 },
  "state-dependent exploration": { useSde: true },
  "actions of two axes": { actionSpace: { ...BOX, shape: [2, 2] } },
  "discrete actions": { actionSpace: { type: "discrete", n: 3, start: 2 } },
  "binary actions": { actionSpace: { type: "multiBinary", n: 3 } },
  "an image": {
    observationSpace: {
      type: "box",
      shape: [12, 12, 2],
      low: 0,
      high: 255,
      dtype: "uint8",
    },
    network: "cnn",
    networkOptions: { ...LAYERS, convLayers: [[4, 4, 2]] },
  },
};

for (const [name, options] of Object.entries(CASES)) {
  test(`a policy with ${name}`, () => {
    const m = stochasticPolicy({
      observationSpace: BOX,
      actionSpace: ACTIONS,
      networkOptions: LAYERS,
      ...options,
    });
    const params = m.init(seededRandom(3));
    const random = seededRandom(2);
    const numbers = Float32Array.from(
      { length: ROWS * m.observationSize },
      () => 255 * random.uniform(),
    );
    const x = m.observationTensor(m.observationArray(numbers), ROWS);
    assertEquals(values(m.encode(x)).length, x.size);
    const output = m.apply(params, x);
    assertEquals(output.policy.shape, [ROWS, m.distribution.parameterSize]);
    const noise = noiseFor(m, ROWS);
    const actions = m.sample(params, output, { noise });
    for (const tensor of [actions, m.mode(output)]) {
      assertEquals(tensor.shape, [ROWS, ...m.distribution.actionShape]);
      assertEquals(tensor.dtype, m.distribution.actionDtype);
    }
    if (m.squashesActions) {
      assert(values(actions).every((it) => Math.abs(it) <= 1));
    }
    assertGradientsFlow((p) => {
      const { policy } = m.apply(p, x);
      const logProb = m.distribution.logProb(policy, actions);
      return tf.sum(tf.mul(logProb, tf.range(1, ROWS + 1))) as tf.Scalar;
    }, params);
    assertNoLeaks(() => ({ ...m.apply(params, x) }));
    assertNoLeaks(() => ({ a: m.sample(params, output, { noise }) }));
    assertNoLeaks(() => ({ a: m.mode(output) }));
  });
}

test("paths and first values of the parameters", () => {
  const plain = policy().init(seededRandom(1));
  assertEquals(
    Object.entries(plain).map(([path, it]) => [path, it.shape]),
    [
      ["dense0/kernel", [3, 6]],
      ["dense0/bias", [6]],
      ["dense1/kernel", [6, 5]],
      ["dense1/bias", [5]],
      ["head/kernel", [5, 4]],
      ["head/bias", [4]],
    ],
  );
  const sde = policy({ useSde: true }).init(seededRandom(1));
  assertEquals(sde["head/kernel"].shape, [5, 2]);
  assertEquals(values(sde.logStd), new Array(10).fill(-3));
  const other = policy({ useSde: true, sdeInitialLogStd: -1 });
  const { logStd } = other.init(seededRandom(1));
  assertEquals(values(logStd), new Array(10).fill(-1));
});

test("an object of state-dependent exploration says what it takes", () => {
  const m = policy({ useSde: true });
  assertEquals(m.noise, { kind: "normal", size: 5 * 2 });
  assertEquals(m.distribution.noise, { kind: "normal", size: 2 });
  assertEquals([m.usesStateDependentExploration, m.stateSize], [true, 0]);
  assertEquals(policy().usesStateDependentExploration, false);
});

test("samples by a noise matrix are from the distribution", () => {
  const rows = 4000;
  const m = policy({
    useSde: true,
    sdeInitialLogStd: 0.3,
    networkOptions: { hiddenSizes: [8], activation: "tanh" },
  });
  const params = m.init(seededRandom(2));
  const one = tf.tensor2d([[0.5, -1, 2]]);
  const output = m.apply(params, tf.tile(one, [rows, 1]));
  const actions = m.sample(params, output, { noise: noiseFor(m, rows) });
  const logProb = m.distribution.logProb(output.policy, actions);
  const [entropy] = values(m.distribution.entropy(output.policy));
  const { mean, variance } = tf.moments(tf.neg(logProb));
  const error = Math.sqrt(values(variance)[0] / rows);
  const [measured] = values(mean);
  assert(Math.abs(measured - entropy) < 5 * error, `${measured}, ${entropy}`);
});

test("means are clipped with state-dependent exploration", () => {
  const m = policy({ useSde: true, networkOptions: { hiddenSizes: [] } });
  const params: Params = {
    ...m.init(seededRandom(1)),
    "head/kernel": tf.tensor2d([[9, 1], [0, 0], [0, -1]]),
    "head/bias": tf.tensor1d([0, 0.5]),
  };
  const x = tf.tensor2d([[1, 0, 4]]);
  const { policy: row } = m.apply(params, x);
  const logStd = stateDependentLogStd(x, params.logStd as tf.Tensor2D);
  assertClose(row, [2, -2, ...values(logStd)]);
});

test("deviations train the features", () => {
  const m = policy({ useSde: true });
  const params = m.init(seededRandom(1));
  const deviation = (kernel: tf.Tensor) => {
    const { policy } = m.apply(
      { ...params, "dense0/kernel": kernel },
      tf.ones([1, 3]),
    );
    return tf.sum(tf.slice(policy, [0, 2], [-1, 2]));
  };
  const slope = values(tf.grad(deviation)(params["dense0/kernel"]));
  assert(slope.some((it) => it !== 0));
});

for (const name of ["a Gaussian", "a mixture", "state-dependent exploration"]) {
  const m = policy(CASES[name] as { useSde?: boolean });
  testCompiled(`a policy with ${name}`, () => ({
    x: noiseFor({ noise: { kind: "normal", size: 3 } }, ROWS),
    noise: noiseFor(m, ROWS),
    updateNoise: noiseFor(m.distribution, ROWS),
    ...m.init(seededRandom(1)),
  }), ({ x, noise, updateNoise, ...params }) => {
    const output = m.apply(params, x);
    const sample = m.distribution.sampleWithLogProb(
      output.policy,
      updateNoise as tf.Tensor2D,
    );
    return {
      actions: m.sample(params, output, { noise: noise as tf.Tensor2D }),
      mode: m.mode(output),
      ...sample,
    };
  });
}

Deno.test("what does not fit is refused", () => {
  const discrete: Space = { type: "discrete", n: 2 };
  const make = (options: Partial<StochasticPolicyOptions>) => () =>
    stochasticPolicy({
      observationSpace: BOX,
      actionSpace: ACTIONS,
      ...options,
    });
  assertRefused({
    "TypeError: Cannot use state-dependent exploration for discrete actions":
      make({ actionSpace: discrete, useSde: true }),
    "TypeError: Cannot use a mixture for discrete actions": make({
      actionSpace: discrete,
      distribution: "mixture",
    }),
    "TypeError: Cannot use state-dependent exploration with a mixture": make({
      distribution: "mixture",
      useSde: true,
    }),
    "RangeError: Unknown distribution 'beta'": make({
      distribution: "beta" as "mixture",
    }),
    "RangeError: Cannot squash actions to the bound -Infinity": make({
      actionSpace: { ...ACTIONS, low: [-2, -Infinity] },
    }),
    "TypeError: Cannot squash box actions of int32": make({
      actionSpace: { ...ACTIONS, dtype: "int32" },
    }),
    "RangeError: Cannot use a recurrent network": make({ network: "lstm" }),
  });
});
