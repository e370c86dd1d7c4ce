import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { makeVec } from "../mod.ts";
import type { BoxArray } from "@bellman/types";
import { playVec, randomActions } from "../testdata/play.ts";
import { testVecWrapper } from "../testdata/wrapper_contract.ts";
import { SeededRandom } from "../random.ts";
import { RunningMeanStd } from "../running_mean_std.ts";
import { VecNormalizeObservation } from "./normalize_observation.ts";

const cartPoles = (numEnvs = 4) =>
  makeVec("CartPole-v1", { numEnvs, maxEpisodeSteps: 15 });
const make = () => new VecNormalizeObservation(cartPoles());

Deno.test("observations are scaled by the statistics of all seen so far", () => {
  const env = make(), raw = cartPoles(), expected = new RunningMeanStd(4);
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
  const training = make();
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

testVecWrapper("VecNormalizeObservation", make);

Deno.test("an evaluation that is restored leaves the training's statistics", () => {
  const training = make();
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
