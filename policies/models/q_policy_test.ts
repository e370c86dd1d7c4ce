import { paramTypes, selectBackend, valueAndGradients } from "@bellman/compute";
import { assert, assertEquals, assertThrows } from "@std/assert";
import * as tf from "@tensorflow/tfjs";
import { qPolicy, type QPolicyOptions } from "./q_policy.ts";
import { PolicyActor } from "../acting/policy_actor.ts";
import { assertClose, assertNoLeaks } from "../testdata/assertions.ts";
import { testOnBackends, values } from "../testdata/backends.ts";
import { seededRandom } from "../testdata/random.ts";
import { BOX } from "../testdata/spaces.ts";

const n = 3;
const OPTIONS: QPolicyOptions = {
  observationSpace: BOX,
  actionSpace: { type: "discrete", n, start: 2 },
  networkOptions: { hiddenSizes: [5, 4] },
};
const x = () => tf.tensor2d([[1, -2, 0.5], [0.1, 0.2, -3]]);
const noiseOf = (size: number, rows: number) =>
  tf.randomNormal<tf.Rank.R2>([rows, size], 0, 1, "float32", 5);

testOnBackends("values are the mean of the atoms, masks forbid", () => {
  const policy = qPolicy({ ...OPTIONS, atoms: 4 });
  const params = policy.init(seededRandom(1));
  const outputs = policy.outputs(params, x());
  assertEquals(outputs.shape, [2, n, 4]);
  const all = policy.apply(params, x()).policy;
  assertClose(all, values(tf.mean(outputs, 2)));
  const best = values(tf.argMax(all, 1));
  assertEquals(values(policy.mode({ policy: all })), best.map((it) => it + 2));
  const masks = tf.sub(1, tf.oneHot(tf.argMax(all, 1), n));
  const other = policy.apply(params, x(), { actionMasks: masks });
  values(policy.mode(other)).forEach((it, i) => assert(it !== best[i] + 2));
});

testOnBackends("dueling streams are a value and advantages of mean 0", () => {
  const policy = qPolicy({ ...OPTIONS, dueling: true });
  const params = policy.init(seededRandom(1));
  assertEquals(Object.keys(params), [
    ...["dense0/kernel", "dense0/bias"],
    ...["value", "advantage"].flatMap((stream) =>
      ["dense0", "head"].flatMap((layer) =>
        ["kernel", "bias"].map((it) => `${stream}/${layer}/${it}`)
      )
    ),
  ]);
  const all = policy.apply(params, x()).policy;
  // Advantages that all grow leave the values as they are, the value moves them.
  const moved = (path: string) =>
    policy.apply({ ...params, [path]: tf.add(params[path], 1) }, x()).policy;
  assertClose(moved("advantage/head/bias"), values(all));
  assertClose(moved("value/head/bias"), values(tf.add(all, 1)));
});

testOnBackends("noise of one row is that of as many equal rows", () => {
  for (const dueling of [false, true]) {
    const policy = qPolicy({ ...OPTIONS, dueling, sigma0: 0.5 });
    const params = policy.init(seededRandom(1));
    const noise = noiseOf(policy.noise.size, 1);
    const each = tf.tile(noise, [2, 1]);
    const [one, all] = [noise, each].map((it) =>
      policy.outputs(params, x(), it)
    );
    assertClose(one, values(all));
    const still = policy.outputs(params, x());
    assert(values(tf.abs(tf.sub(one, still))).some((it) => it > 0.01));
    // Deviations of 0 leave the means.
    const sure = Object.fromEntries(
      Object.entries(params).map(([path, it]) => [
        path,
        path.endsWith("Sigma") ? tf.zerosLike(it) : it,
      ]),
    );
    assertClose(policy.outputs(sure, x(), noise), values(still));
    const { gradients } = valueAndGradients((params) => ({
      loss: tf.sum(tf.square(policy.outputs(params, x(), noise))),
    }), params);
    for (const [path, it] of Object.entries(gradients)) {
      assert(values(it).some((number) => number !== 0), path);
    }
  }
});

testOnBackends(
  "a sample has its row's noise and its masks, the mode neither",
  () => {
    const policy = qPolicy({ ...OPTIONS, dueling: true, sigma0: 0.5 });
    const params = policy.init(seededRandom(1));
    const noise = noiseOf(policy.noise.size, 2);
    const actionMasks = tf.tensor2d([[1, 1, 0], [0, 1, 1]], undefined, "int32");
    const output = policy.apply(params, x(), { actionMasks });
    const noisy = policy.outputs(params, x(), noise);
    assertEquals(
      values(policy.sample(params, output, { noise })),
      values(policy.mode({ policy: policy.values(noisy, actionMasks) })),
    );
    const still = policy.values(policy.outputs(params, x()), actionMasks);
    assertClose(output.policy, values(still));
  },
);

testOnBackends("neither outputs nor samples leave tensors behind", () => {
  const policy = qPolicy({ ...OPTIONS, dueling: true, sigma0: 0.5 });
  const params = policy.init(seededRandom(1)), observations = x();
  const noise = noiseOf(policy.noise.size, 2);
  assertNoLeaks(() => ({ it: policy.outputs(params, observations, noise) }));
  const output = policy.apply(params, observations);
  assertNoLeaks(() => ({ it: policy.sample(params, output, { noise }) }));
});

Deno.test("actors draw new noise at each step, deterministic ones none", async () => {
  await selectBackend("cpu");
  const policy = qPolicy({ ...OPTIONS, sigma0: 40 });
  const params = policy.init(seededRandom(1));
  const acting = (deterministic: boolean) => {
    const actor = new PolicyActor(policy, {
      numEnvs: 1,
      actionSpace: OPTIONS.actionSpace,
      params: () => params,
      compilation: { params: paramTypes(params) },
      deterministic,
    });
    return new Set(
      Array.from({ length: 30 }, () => actor.act([1, -2, 0.5])[0]),
    ).size;
  };
  assert(acting(false) > 1);
  assertEquals(acting(true), 1);
});

Deno.test("values of other actions are refused", () => {
  assertThrows(
    () => qPolicy({ ...OPTIONS, actionSpace: BOX }),
    TypeError,
    "Cannot learn values of box actions: expected discrete actions",
  );
});

testOnBackends("masks forbid, however small all values are", () => {
  const policy = qPolicy({ ...OPTIONS, actionSpace: { type: "discrete", n } });
  for (const value of [-1e6, -2e9, -1e20, -3.4e38]) {
    const outputs = tf.fill([1, n, 1], value) as tf.Tensor3D;
    for (let allowed = 0; allowed < n; allowed++) {
      const masks = tf.oneHot(tf.tensor1d([allowed], "int32"), n);
      const masked = policy.values(outputs, masks);
      assertEquals(values(policy.mode({ policy: masked })), [allowed]);
      assertEquals(values(tf.max(masked, 1)), [Math.fround(value)]);
    }
  }
});
