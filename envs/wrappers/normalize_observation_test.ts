import type { BoxArray } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import { make, makeVec } from "../mod.ts";
import { SeededRandom } from "../random.ts";
import { playEnv, playVec, randomActions } from "../testdata/play.ts";
import { testSnapshot, testVecWrapper } from "../testdata/wrapper_contract.ts";
import { ChainEnv } from "../toy/chain_env.ts";
import {
  NormalizeObservation,
  VecNormalizeObservation,
} from "./normalize_observation.ts";
import { RunningMeanStd } from "./running_mean_std.ts";

const cartPole = () => new NormalizeObservation(make("CartPole-v1"));

Deno.test("scaled observations have mean 0 and deviation 1 in the long run", () => {
  const env = cartPole();
  env.reset({ seed: 0 });
  playEnv(env, 3000, 0);
  const { mean, variance } = env.statistics;
  env.training = false;
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
    statistics: training.statistics,
    training: false,
  });
  const before = training.statistics.save();
  evaluation.reset({ seed: 1 });
  playEnv(evaluation, 100, 0);
  assertEquals(training.statistics.save(), before);
});

Deno.test("scaled observations are clipped", () => {
  const env = new NormalizeObservation(make("CartPole-v1"), { clip: 0.01 });
  const first = env.reset({ seed: 0 }) as Float32Array;
  assert(first.every((it) => Math.abs(it) <= Math.fround(0.01)));
});

Deno.test("other observations than boxes are refused", () => {
  assertThrows(
    () => new NormalizeObservation(new ChainEnv()),
    TypeError,
    "Cannot normalize observations of a discrete space: flatten them first",
  );
});

testSnapshot("NormalizeObservation", cartPole);

Deno.test("settings that cannot be are refused", () => {
  for (const [name, value] of [["clip", 0], ["epsilon", -1]] as const) {
    assertThrows(
      () => new NormalizeObservation(make("CartPole-v1"), { [name]: value }),
      RangeError,
      `Cannot normalize observations with ${name} ${value}: expected`,
    );
  }
});

const cartPoles = (numEnvs = 4) =>
  makeVec("CartPole-v1", { numEnvs, maxEpisodeSteps: 15 });
const scaledCartPoles = () => new VecNormalizeObservation(cartPoles());

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
  const { statistics } = training;
  const evaluation = new VecNormalizeObservation(cartPoles(2), {
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
  assertThrows(
    () => new VecNormalizeObservation(cartPoles(), options),
    RangeError,
    "Cannot normalize 4 elements by statistics of 3",
  );
});

testVecWrapper("VecNormalizeObservation", scaledCartPoles);

Deno.test("an evaluation that is restored leaves the training's statistics", () => {
  const training = scaledCartPoles();
  training.reset({ seed: 1 });
  const { statistics } = training;
  const judged = new VecNormalizeObservation(cartPoles(), {
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
  judged.training = true;
  judged.load(saved);
  assertEquals(statistics.save(), before);
});
