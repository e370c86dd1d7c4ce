import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import { RandomStream, seedWords } from "@bellman/random";
import fc from "fast-check";
import type { Prediction } from "../models/model.ts";
import { Bandit } from "../bandit.ts";
import { arms } from "../models/arms.ts";
import { bestOfNormals, linear } from "../models/linear.ts";
import { betaChances, normalChances } from "../models/best_chances.ts";
import {
  epsilonGreedy,
  type Exploration,
  softmax,
  squareCB,
  thompson,
  upperConfidence,
} from "./rules.ts";

function predictionOf(
  means: readonly number[],
  deviations: readonly number[] = means.map(() => 1),
  total = 0,
): Prediction {
  const numbers = Float64Array.from(means);
  return {
    means: numbers,
    centers: numbers,
    deviations: Float64Array.from(deviations),
    total,
    best(factor) {
      return bestOfNormals(this, factor);
    },
  };
}

const RULES: Readonly<Record<string, Exploration>> = {
  epsilonGreedy: epsilonGreedy(0.2),
  softmax: softmax(0.5),
  squareCB: squareCB(),
  thompson: thompson(),
  upperConfidence: upperConfidence({ epsilon: 0.1 }),
};

const number = fc.integer({ min: -80, max: 80 }).map((it) => it / 16);
const scores = fc.array(fc.tuple(number, number.map(Math.abs)), {
  minLength: 1,
  maxLength: 20,
});

for (const [name, rule] of Object.entries(RULES)) {
  Deno.test(`${name}: chances add up to 1, the best mean of equal deviations has the largest`, () => {
    fc.assert(fc.property(scores, fc.nat(1000), (scores, total) => {
      const means = scores.map(([it]) => it);
      const chances = rule(predictionOf(means, undefined, total));
      assertAlmostEquals(chances.reduce((a, b) => a + b, 0), 1, 1e-9);
      assert(chances.every((it) => it >= 0));
      const best = chances[means.indexOf(Math.max(...means))];
      assert(best >= Math.max(...chances) - 1e-9);
    }));
  });
}

Deno.test("the largest mean is shared by equal ones", () => {
  const chances = epsilonGreedy(0.2)(predictionOf([1, 3, 3, 0]));
  const expected = [0.05, 0.45, 0.45, 0.05];
  expected.forEach((it, i) => assertAlmostEquals(chances[i], it));
});

Deno.test("softmax of large rewards is finite", () => {
  assertEquals([...softmax(0.1)(predictionOf([1e5, 0]))], [1, 0]);
});

Deno.test("squareCB's weight grows with the root of the rewards", () => {
  const chances = (total: number) =>
    squareCB({ gamma: 4 })(predictionOf([1, 0.5], undefined, total));
  assertEquals([...chances(0)], [0.5, 0.5]);
  assertAlmostEquals(chances(9)[1], 1 / (2 + 4 * 3 * 0.5));
  const fixed = squareCB({ gamma: () => 4 })(predictionOf([1, 0.5], [1, 1], 9));
  assertAlmostEquals(fixed[1], 1 / (2 + 4 * 0.5));
});

Deno.test("thompson's factor multiplies the deviations", () => {
  fc.assert(fc.property(scores, (scores) => {
    const means = scores.map(([it]) => it);
    const deviations = scores.map(([, it]) => it + 0.01);
    const chances = thompson({ alpha: 2 })(predictionOf(means, deviations));
    const doubled = Float64Array.from(deviations, (it) => 2 * it);
    assertEquals(chances, normalChances(Float64Array.from(means), doubled));
  }));
  assertEquals([...thompson({ alpha: 0 })(predictionOf([1, 2]))], [0, 1]);
});

Deno.test("thompson's factor narrows beta distributions by its square", () => {
  const bandit = new Bandit({
    actions: ["a", "b"],
    model: arms({ beta: true }),
    explore: thompson({ alpha: 0.5 }),
  });
  for (let i = 0; i < 12; i++) {
    bandit.learn({ action: "a", reward: i < 4 ? 1 : 0 });
    if (i < 4) bandit.learn({ action: "b", reward: i < 2 ? 1 : 0 });
  }
  // Beta distributions of 5, 9 and of 3, 3, four times as many counts.
  const expected = betaChances(Float64Array.of(17, 9), Float64Array.of(33, 9));
  bandit.chances().forEach((it, i) => assertAlmostEquals(it, expected[i]));
});

Deno.test("an upper confidence bound takes the first of equal ones", () => {
  const rule = upperConfidence({ alpha: 2 });
  assertEquals([...rule(predictionOf([1, 0, 0], [0, 0.5, 0.5]))], [1, 0, 0]);
  assertEquals([...rule(predictionOf([1, 0], [0, 0.6]))], [0, 1]);
  const infinite = predictionOf([5, 0, 0], [1, Infinity, Infinity]);
  assertEquals([...upperConfidence({ alpha: 0 })(infinite)], [0, 1, 0]);
});

Deno.test("options that do not fit are refused in one line", () => {
  const cases: [() => void, string][] = [
    [() => epsilonGreedy(2), "with epsilon 2: expected a number from 0 to 1"],
    [() => softmax(0), "with temperature 0: expected a number from 1e-30"],
    [() => squareCB({ gamma: -1 }), "with gamma -1: expected"],
    [() => thompson({ alpha: NaN }), "with alpha NaN: expected"],
    [() => thompson({ alfa: 1 } as never), "did you mean 'alpha'?"],
    [() => upperConfidence({ epsilon: -1 }), "with epsilon -1: expected"],
  ];
  for (const [call, message] of cases) assertThrows(call, Error, message);
});

Deno.test("Thompson sampling finds the best actions with every seed", () => {
  // What a visitor pays for three plans, with rewards that are late by twenty visits.
  const meanOf = ([, visits, phone]: number[], action: number) =>
    [phone ? 1 : 0.5, phone ? 0 : 0.5, phone ? 0 : 0.2 + 0.2 * visits][action];
  for (let seed = 10; seed < 30; seed++) {
    const random = new RandomStream(seedWords(1_000 + seed));
    const bandit = new Bandit({
      actions: [0, 1, 2],
      features: (it: number[]) => it,
      model: linear(),
      explore: thompson(),
      seed,
    });
    const shares = Array.from({ length: 200 }, () => {
      const visits = Array.from({ length: 20 }, () => {
        const phone = Number(random.uniform() < 0.5);
        const x = [1, Math.log1p(Math.floor(20 * random.uniform())), phone];
        return { x, ...bandit.decide(x) };
      });
      return visits.map(({ id, x, action }) => {
        const mean = meanOf(x, action);
        bandit.reward(id, mean + 0.3 * random.normal());
        return mean / Math.max(...[0, 1, 2].map((it) => meanOf(x, it)));
      });
    }).slice(-50).flat();
    const mean = shares.reduce((sum, it) => sum + it) / shares.length;
    assert(mean > 0.97, `seed ${seed}: ${mean}`);
  }
});
