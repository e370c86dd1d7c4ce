import type { Batch, BoxArray, SpaceValue } from "@bellman/types";
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import {
  box,
  contains,
  dict,
  discrete,
  make,
  makeVec,
  readRow,
} from "../mod.ts";
import { deriveSeed, SeededRandom } from "../random.ts";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { chainOf } from "../testdata/chain_of.ts";
import { playEnv, playVec, randomActions } from "../testdata/play.ts";
import { testSnapshot, testVecWrapper } from "../testdata/wrapper_contract.ts";
import { ChainEnv } from "../toy/environments.ts";
import { FrameStack } from "./frame_stack.ts";
import {
  NormalizeObservation,
  NormalizeReward,
  ObservationNormalizer,
} from "./normalize.ts";
import { RunningMeanStd } from "./running_mean_std.ts";
import { TimeLimit } from "./time_limit.ts";
import { TransformObservation } from "./transforms.ts";
import { assertRefused } from "../../tests/testdata/refused.ts";

const cartPole = () => new NormalizeObservation(make("CartPole-v1"));

Deno.test("scaled observations have mean 0 and deviation 1 in the long run", () => {
  const env = cartPole();
  env.reset({ seed: 0 });
  playEnv(env, 3000, 0);
  const { mean, variance } = env.normalizer.statistics;
  env.normalizer.training = false;
  const raw = make("CartPole-v1");
  const first = raw.reset({ seed: 7 }) as Float32Array;
  const scaled = env.reset({ seed: 7 }) as Float32Array;
  scaled.forEach((it, i) =>
    assertAlmostEquals(it, (first[i] - mean[i]) / Math.sqrt(variance[i]), 1e-5)
  );
});

Deno.test("frozen statistics do not change, shared ones are the same", () => {
  const training = cartPole();
  training.reset({ seed: 0 });
  playEnv(training, 100, 0);
  const evaluation = new NormalizeObservation(make("CartPole-v1"), {
    statistics: training.normalizer.statistics,
    training: false,
  });
  const before = training.normalizer.statistics.save();
  evaluation.reset({ seed: 1 });
  playEnv(evaluation, 100, 0);
  assertEquals(training.normalizer.statistics.save(), before);
});

Deno.test("scaled observations are clipped", () => {
  const env = new NormalizeObservation(make("CartPole-v1"), { clip: 0.01 });
  const first = env.reset({ seed: 0 }) as Float32Array;
  assert(first.every((it) => Math.abs(it) <= Math.fround(0.01)));
});

Deno.test("other observations than boxes are refused", () => {
  assertRefused({
    "TypeError: Cannot normalize observations of a discrete space: flatten them first":
      () => new NormalizeObservation(new ChainEnv()),
  });
});

/** A cart pole that is seen in parts, with a picture and a flag beside them. */
function inParts(it: SpaceValue): Record<string, SpaceValue> {
  const [x, velocity, angle, turning] = it as Float32Array;
  return {
    cart: Float64Array.of(x, velocity),
    picture: Uint8Array.of(x < 0 ? 1 : 200),
    pole: Float32Array.of(angle, turning),
    right: Number(velocity > 0),
  };
}

const PARTS = dict({
  cart: box({ shape: [2], dtype: "float64" }),
  picture: box({ low: 0, high: 255, shape: [1], dtype: "uint8" }),
  pole: box({ shape: [2] }),
  right: discrete(2),
});

Deno.test("of a dict the boxes of floats are scaled, as they would be side by side", () => {
  const whole = cartPole();
  const parts = new NormalizeObservation(
    new TransformObservation(make("CartPole-v1"), inParts, { space: PARTS }),
  );
  assertEquals(parts.normalizer.scaling.parts, ["cart", "pole"]);
  for (let step = 0; step < 9; step++) {
    const scaled = step === 0
      ? whole.reset({ seed: 3 })
      : whole.step(step % 2).observation;
    const seen = (step === 0
      ? parts.reset({ seed: 3 })
      : parts.step(step % 2).observation) as Record<string, BoxArray>;
    assertEquals([...seen.cart, ...seen.pole], [...scaled as Float32Array]);
    assert(contains(parts.observationSpace, seen));
    assert([1, 200].includes(seen.picture[0]));
  }
  const [a, b] = [whole, parts].map((it) => it.normalizer.save());
  assertEquals(a, b);
});

Deno.test("a vector of dicts is scaled as one of them is", () => {
  const transformed = () =>
    new TransformObservation(make("CartPole-v1"), inParts, { space: PARTS });
  const single = new NormalizeObservation(transformed());
  const env = new NormalizeObservation(new SyncVecEnv([transformed]));
  const row = (batch: Batch) =>
    readRow(env.observationSpace, { batch, row: 0 });
  const first = single.reset({ seed: deriveSeed(5, 0) });
  assertEquals(row(env.reset({ seed: 5 })), first);
  for (let step = 0; step < 9; step++) {
    const { observation } = single.step(step % 2);
    assertEquals(
      row(env.step(Int32Array.of(step % 2)).observations),
      observation,
    );
  }
  assertRefused({
    "TypeError: Cannot normalize observations of a dict space without a box of floats: expected one or more":
      () => new ObservationNormalizer(dict({ right: discrete(2) })),
  });
});

testSnapshot("NormalizeObservation", cartPole);

Deno.test("settings that cannot be are refused", () => {
  for (const [name, value] of [["clip", 0], ["epsilon", -1]] as const) {
    assertRefused({
      [`RangeError: Cannot normalize observations with ${name} ${value}: expected`]:
        () => new NormalizeObservation(make("CartPole-v1"), { [name]: value }),
    });
  }
});

const cartPoles = (numEnvs = 4) =>
  makeVec("CartPole-v1", { numEnvs, maxEpisodeSteps: 15 });
const scaledCartPoles = () => new NormalizeObservation(cartPoles());

Deno.test("observations are scaled by the statistics of all seen so far", () => {
  const env = scaledCartPoles(),
    raw = cartPoles(),
    expected = new RunningMeanStd(4);
  const random = new SeededRandom(1);
  const check = (scaled: BoxArray, plain: BoxArray) =>
    scaled.forEach((it, i) => {
      const mean = expected.mean[i % 4], variance = expected.variance[i % 4];
      const wanted = (plain[i] - mean) / Math.sqrt(variance + 1e-8);
      assertAlmostEquals(it, Math.min(Math.max(wanted, -10), 10), 1e-5);
    });
  const scaled = env.reset({ seed: 2 }) as BoxArray;
  const plain = raw.reset({ seed: 2 }) as BoxArray;
  expected.update(plain);
  check(scaled, plain);
  let ended = 0;
  for (let i = 0; i < 40; i++) {
    const actions = randomActions(raw, random);
    const a = env.step(actions), b = raw.step(actions);
    expected.update(b.observations as BoxArray);
    check(a.observations as BoxArray, b.observations as BoxArray);
    for (let row = 0; row < 4; row++) {
      if (!b.terminated[row] && !b.truncated[row]) continue;
      ended++;
      const part = (it: unknown) =>
        (it as BoxArray).slice(4 * row, 4 * row + 4) as BoxArray;
      check(part(a.finalObservations), part(b.finalObservations));
    }
  }
  assertEquals(ended > 4, true);
});

Deno.test("evaluation shares the statistics and leaves them", () => {
  const training = scaledCartPoles();
  training.reset({ seed: 0 });
  playVec(training, 20);
  const { statistics } = training.normalizer;
  const evaluation = new NormalizeObservation(cartPoles(2), {
    statistics,
    training: false,
  });
  const before = statistics.save();
  evaluation.reset({ seed: 1 });
  playVec(evaluation, 20);
  assertEquals(statistics.save(), before);
  // What training learns later, evaluation sees.
  const shown = (evaluation.reset({ seed: 1 }) as BoxArray).slice();
  playVec(training, 20);
  const later = evaluation.reset({ seed: 1 }) as BoxArray;
  assertEquals(later.some((it, i) => it !== shown[i]), true);
});

Deno.test("statistics of other observations are refused", () => {
  const options = { statistics: new RunningMeanStd(3) };
  assertRefused({
    "RangeError: Cannot normalize 4 elements by statistics of 3": () =>
      new NormalizeObservation(cartPoles(), options),
  });
});

testVecWrapper("NormalizeObservation", scaledCartPoles);

Deno.test("an evaluation that is restored leaves the training's statistics", () => {
  const training = scaledCartPoles();
  training.reset({ seed: 1 });
  const { statistics } = training.normalizer;
  const judged = new NormalizeObservation(cartPoles(), {
    statistics,
    training: false,
  });
  judged.reset({ seed: 2 });
  const saved = judged.save();
  const before = statistics.save();
  const random = new SeededRandom(3);
  for (let i = 0; i < 5; i++) training.step(randomActions(training, random));
  const newest = statistics.save();
  judged.load(saved);
  assertEquals(statistics.save(), newest);
  judged.normalizer.training = true;
  judged.load(saved);
  assertEquals(statistics.save(), before);
});

Deno.test("rewards are divided by the deviation of the discounted return", () => {
  const env = new NormalizeReward(new ChainEnv({ length: 50 }), {
    gamma: 0.5,
    clip: Infinity,
  });
  env.normalizer.statistics.count = 0;
  env.reset({ seed: 0 });
  const returns: number[] = [];
  for (let i = 0, sum = 0; i < 20; i++) {
    sum = 0.5 * sum + 1;
    returns.push(sum);
    const mean = returns.reduce((a, b) => a + b) / returns.length;
    const variance = returns.reduce((a, b) => a + (b - mean) ** 2, 0) /
      returns.length;
    const expected = 1 / Math.sqrt(variance + 1e-8);
    assertAlmostEquals(env.step(0).reward, expected, 1e-6 * expected);
  }
});

for (const kind of ["terminated", "truncated"]) {
  Deno.test(`the return starts anew after an episode that was ${kind}`, () => {
    const chain = kind === "terminated"
      ? new ChainEnv({ length: 2 })
      : new TimeLimit(new ChainEnv({ length: 9 }), 2);
    const env = new NormalizeReward(chain, { gamma: 1 });
    const { statistics } = env.normalizer;
    statistics.count = 0;
    // Returns of 1 and 2, episode after episode: mean 1.5, variance 0.25.
    for (let episode = 0; episode < 4; episode++) {
      env.reset({ seed: 0 });
      env.step(0);
      env.step(0);
    }
    assertAlmostEquals(statistics.mean[0], 1.5, 1e-9);
    assertAlmostEquals(statistics.variance[0], 0.25, 1e-9);
  });
}

Deno.test("frozen statistics do not change", () => {
  const env = new NormalizeReward(make("Pendulum-v1"), { training: false });
  const before = env.normalizer.statistics.save();
  env.reset({ seed: 0 });
  playEnv(env, 20);
  assertEquals(env.normalizer.statistics.save(), before);
});

testSnapshot("NormalizeReward", () => new NormalizeReward(make("Pendulum-v1")));

Deno.test("settings that cannot be are refused", () => {
  for (
    const [name, value] of [["clip", -1], ["gamma", 5], [
      "epsilon",
      NaN,
    ]] as const
  ) {
    assertRefused({
      [`RangeError: Cannot normalize rewards with ${name} ${value}: expected`]:
        () => new NormalizeReward(new ChainEnv(), { [name]: value }),
    });
  }
});

const pendulums = () =>
  makeVec("Pendulum-v1", { numEnvs: 3, maxEpisodeSteps: 9 });

Deno.test("returns start anew after ends of either kind, in each copy", () => {
  // One copy terminates after two steps, the other is truncated after two.
  const env = new NormalizeReward(
    new SyncVecEnv([() => chainOf(2), () => new TimeLimit(chainOf(9), 2)]),
    { gamma: 1 },
  );
  const { statistics } = env.normalizer;
  statistics.count = 0;
  env.reset({ seed: 0 });
  for (let i = 0; i < 8; i++) env.step(new Int32Array(2));
  // Returns of 1 and 2 in turn.
  assertAlmostEquals(statistics.mean[0], 1.5, 1e-9);
  assertAlmostEquals(statistics.variance[0], 0.25, 1e-9);
});

Deno.test("episodes are told by the environment's own rewards", () => {
  const scaled = new NormalizeReward(pendulums()), plain = pendulums();
  scaled.reset({ seed: 0 });
  plain.reset({ seed: 0 });
  for (let i = 0; i < 9; i++) {
    const a = scaled.step(new Float32Array(3));
    const b = plain.step(new Float32Array(3));
    assertEquals(a.rewards.some((it, row) => it !== b.rewards[row]), true);
    assertEquals(a.episodes, b.episodes);
  }
});

Deno.test("a reset in mid-episode starts the returns anew", () => {
  const env = new NormalizeReward(
    new SyncVecEnv([() => chainOf(9), () => chainOf(9)]),
    { gamma: 1 },
  );
  env.normalizer.statistics.count = 0;
  for (let i = 0; i < 4; i++) {
    env.reset({ seed: 0 });
    env.step(new Int32Array(2));
    env.step(new Int32Array(2));
  }
  assertAlmostEquals(env.normalizer.statistics.mean[0], 1.5, 1e-9);
});

Deno.test("scaled rewards are clipped, in each copy", () => {
  const env = new NormalizeReward(pendulums(), { clip: 0.01 });
  env.reset({ seed: 0 });
  const { rewards } = env.step(new Float32Array(3).fill(2));
  assertEquals([...rewards], [-0.01, -0.01, -0.01]);
});

Deno.test("statistics of other vectors are refused", () => {
  const options = { statistics: new RunningMeanStd(2) };
  assertRefused({
    "RangeError: Cannot normalize rewards by statistics of 2 elements: expected 1":
      () => new NormalizeReward(pendulums(), options),
  });
});

Deno.test("frozen statistics do not change", () => {
  const env = new NormalizeReward(pendulums(), { training: false });
  const before = env.normalizer.statistics.save();
  env.reset({ seed: 0 });
  playVec(env, 20);
  assertEquals(env.normalizer.statistics.save(), before);
});

testVecWrapper("NormalizeReward", () => new NormalizeReward(pendulums()));

Deno.test("frozen statistics of another environment stay as they are", () => {
  const statistics = new RunningMeanStd(1);
  const env = new NormalizeReward(
    makeVec("CartPole-v1", { numEnvs: 2 }),
    { statistics, training: false },
  );
  env.reset({ seed: 1 });
  const saved = env.save();
  statistics.update(Float64Array.of(1, 2, 3));
  const newest = statistics.save();
  env.load(saved);
  assertEquals(statistics.save(), newest);
});

for (const axis of ["last", "first"] as const) {
  Deno.test(`stacks along the ${axis} axis tell the scale of their frames`, () => {
    const options = { size: 3, axis };
    const raw = new FrameStack(
      makeVec("CartPole-v1", { numEnvs: 2 }),
      options,
    );
    const inside = new NormalizeObservation(
      makeVec("CartPole-v1", { numEnvs: 2 }),
    );
    const scaled = new FrameStack(inside, options);
    scaled.reset({ seed: 1 });
    playVec(scaled, 50, 0);
    inside.normalizer.training = false;
    const { mean, variance, epsilon, clip } = scaled.observationScaling!;
    const expected = scaled.reset({ seed: 2 }) as Float32Array;
    const given = raw.reset({ seed: 2 }) as Float32Array;
    assertEquals([mean.length, clip], [12, 10]);
    given.forEach((x, i) => {
      const k = i % mean.length;
      const y = (x - mean[k]) / Math.sqrt(variance[k] + epsilon!);
      assertAlmostEquals(Math.min(10, Math.max(-10, y)), expected[i], 1e-4);
    });
  });
}

Deno.test("wrappers pass the scale on where it is that of their observations", () => {
  const single = new TimeLimit(cartPole(), 9);
  assertEquals(single.observationScaling?.mean.length, 4);
  const other = new TransformObservation(single, (it) => it, {
    space: single.observationSpace,
  });
  assertEquals(other.observationScaling, undefined);
  const zeros = new FrameStack(cartPole(), { padding: "zero" });
  assertEquals(zeros.observationScaling, undefined);
  assertEquals(make("CartPole-v1").observationScaling, undefined);
});
