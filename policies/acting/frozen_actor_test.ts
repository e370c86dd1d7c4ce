import {
  paramsToArrays,
  paramTypes,
  RandomStream,
  selectBackend,
} from "@bellman/compute";
import { FrozenActor, PolicyActor, stochasticPolicy } from "@bellman/policies";
import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";

await selectBackend("cpu");

const box = { type: "box", low: -10, high: 10, dtype: "float32" } as const;
const actionSpace = { type: "discrete", n: 5 } as const;

function actorOf(seed: number, scaling?: object) {
  const policy = stochasticPolicy({
    observationSpace: {
      type: "dict",
      spaces: { near: { ...box, shape: [2] }, far: { ...box, shape: [1] } },
    },
    actionSpace,
    networkOptions: { hiddenSizes: [4] },
  });
  const params = policy.init(new RandomStream(seed));
  const options = {
    numEnvs: 2,
    actionSpace,
    compilation: { params: paramTypes(params) },
  };
  const arrays = paramsToArrays(params);
  const actor = new FrozenActor(policy, {
    ...options,
    params: arrays,
    ...scaling && { scaling: scaling as never },
  });
  return { policy, params, options, arrays, actor };
}

const SEEN = {
  near: Float32Array.of(1, 2, 3, 4),
  far: Float32Array.of(-5, 6),
};

Deno.test("a frozen actor keeps its parameters as they were", () => {
  const { actor, arrays, policy, options } = actorOf(1);
  const state = actor.save();
  const before = Array.from({ length: 20 }, () => [...actor.act(SEEN)]);
  for (const path in arrays) arrays[path].data.fill(7);
  actor.load(state);
  const after = Array.from({ length: 20 }, () => [...actor.act(SEEN)]);
  assertEquals(after, before);
  const params = () =>
    Object.fromEntries(
      Object.entries(arrays).map(([path, { data }]) => [path, data]),
    );
  const live = new PolicyActor(policy, { ...options, params });
  assertNotEquals(
    Array.from({ length: 20 }, () => [...live.act(SEEN)]),
    before,
  );
});

Deno.test("a frozen actor scales raw observations by its own copy of the numbers", () => {
  const mean = Float64Array.of(1, 2, 3), variance = Float64Array.of(4, 9, 16);
  const parts = ["near", "far"];
  const { actor, policy, params, options } = actorOf(2, {
    mean,
    variance,
    parts,
    clip: 2,
  });
  mean.fill(100);
  const plain = new PolicyActor(policy, {
    ...options,
    params: () => params as never,
  });
  const scaled = (x: number, i: number) =>
    Math.max(
      -2,
      Math.min(2, (x - [1, 2, 3][i]) / Math.sqrt([4, 9, 16][i] + 1e-8)),
    );
  const normalized = {
    near: SEEN.near.map((x, at) => scaled(x, at % 2)),
    far: SEEN.far.map((x) => scaled(x, 2)),
  };
  for (let i = 0; i < 20; i++) {
    assertEquals(actor.act(SEEN), plain.act(normalized));
  }
  assertEquals(SEEN.near, Float32Array.of(1, 2, 3, 4));
});

Deno.test("the state of a frozen actor makes another one equal", () => {
  const scaling = (by: number) => ({
    mean: [by, by, by],
    variance: [1, 1, 1],
    parts: ["near", "far"],
  });
  const { actor } = actorOf(3, scaling(0)),
    { actor: other } = actorOf(4, scaling(5));
  for (let i = 0; i < 3; i++) actor.act(SEEN);
  other.load(actor.save());
  for (let i = 0; i < 20; i++) assertEquals(other.act(SEEN), actor.act(SEEN));
});

Deno.test("another state is refused and changes nothing", () => {
  const { actor } = actorOf(5), before = actor.save() as Record<string, never>;
  for (
    const wrong of [
      null,
      {},
      { ...before, own: {} },
      { ...before, acting: {} },
      { own: { "pi/head/kernel": new Float32Array(1) }, acting: before.acting },
    ]
  ) {
    assertThrows(() => actor.load(wrong as never));
    assertEquals(actor.save(), before);
  }
});
