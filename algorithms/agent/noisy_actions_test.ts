import { RandomStream } from "@bellman/compute";
import type { BoxSpace } from "@bellman/types";
import {
  assert,
  assertAlmostEquals,
  assertEquals,
  assertThrows,
} from "@std/assert";
import type { Exploration } from "./algorithm.ts";
import { noisyActions, type NoisyActionsOptions } from "./noisy_actions.ts";

const ACTION: BoxSpace = {
  type: "box",
  shape: [2],
  low: -3,
  high: 5,
  dtype: "float32",
};
const SPACES = { actionSpace: ACTION, numEnvs: 3 };
const OU: NoisyActionsOptions = {
  explorationNoise: 0.5,
  explorationNoiseType: "ou",
  learningStarts: 0,
};

/** Asks for the actions of a policy that always takes the middle. */
function given(options: Partial<Exploration> = {}): Exploration {
  return {
    progress: { steps: 0, updates: 0, fraction: 0 },
    random: new RandomStream(1),
    sample: () => new Float32Array(6),
    ...options,
  };
}

function meanAndDeviation(values: number[]): [number, number] {
  const mean = values.reduce((sum, it) => sum + it, 0) / values.length;
  const squares = values.map((it) => (it - mean) ** 2);
  const variance = squares.reduce((sum, it) => sum + it, 0) / values.length;
  return [mean, Math.sqrt(variance)];
}

Deno.test("each number of each environment has its own noise of the given deviation", () => {
  const explorer = noisyActions(SPACES, {
    ...OU,
    explorationNoise: 0.2,
    explorationNoiseType: "gaussian",
  });
  const random = new RandomStream(4);
  const steps = Array.from(
    { length: 4000 },
    () => Array.from(explorer.act(given({ random }))),
  );
  for (let i = 0; i < 6; i++) {
    const [mean, deviation] = meanAndDeviation(steps.map((it) => it[i]));
    assertAlmostEquals(mean, 0, 0.02);
    assertAlmostEquals(deviation, 0.2, 0.01);
    const both = steps.map((it) => it[i] * it[(i + 1) % 6]);
    assertAlmostEquals(meanAndDeviation(both)[0], 0, 0.003);
  }
});

Deno.test("actions stay in [-1, 1], random ones come first without the policy", () => {
  const explorer = noisyActions(SPACES, {
    ...OU,
    explorationNoise: 9,
    explorationNoiseType: "gaussian",
    learningStarts: 6,
  });
  const sample = () => {
    throw new Error("the policy acted");
  };
  const first = explorer.act(given({ sample }));
  assert(first.every((it) => Math.abs(it) <= 1));
  assertEquals(new Set(first).size, 6);
  const progress = { steps: 6, updates: 0, fraction: 0 };
  const later = explorer.act(given({ progress }));
  assert(later.every((it) => Math.abs(it) <= 1) && later.includes(1));
});

Deno.test("a walk has the steps of Ornstein and Uhlenbeck, and starts with an episode", () => {
  const explorer = noisyActions(SPACES, OU);
  const random = new RandomStream(2), same = new RandomStream(2);
  const wanted = new Float32Array(6);
  for (let step = 0; step < 50; step++) {
    const starts = Float32Array.of(+(step === 0), +(step === 20), 0);
    const found = explorer.act(given({ random, starts }));
    for (let i = 0; i < 6; i++) {
      const before = starts[Math.floor(i / 2)] ? 0 : wanted[i];
      wanted[i] = before - 0.15 * before * 0.01 +
        0.5 * Math.sqrt(0.01) * same.normal();
    }
    found.forEach((it, i) => assertAlmostEquals(it, wanted[i], 1e-5));
  }
});

Deno.test("the walk is its state, and nothing else can be restored", () => {
  const [first, second] = [noisyActions(SPACES, OU), noisyActions(SPACES, OU)];
  first.act(given());
  const saved = structuredClone(first.save!());
  const random = () => ({ random: new RandomStream(7) });
  const wanted = first.act(given(random()));
  second.load!(saved);
  assertEquals(second.act(given(random())), wanted);
  const other = noisyActions({ ...SPACES, numEnvs: 1 }, OU);
  for (const state of [null, saved]) {
    assertThrows(
      () => other.load!(state),
      TypeError,
      "Cannot restore exploration noise of 2 numbers from something else",
    );
  }
});
