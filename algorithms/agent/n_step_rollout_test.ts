import { assertEquals, assertThrows } from "@std/assert";
import { Observations, stochasticPolicy } from "@bellman/policies";
import type { Arrays } from "./algorithm.ts";
import { NStepRollout, type NStepRolloutOptions } from "./n_step_rollout.ts";

const SPACES = {
  observationSpace: {
    type: "box",
    shape: [1],
    low: -99,
    high: 99,
    dtype: "float32",
  },
  actionSpace: { type: "discrete", n: 3 },
} as const;

function windowsOf(options: NStepRolloutOptions, numEnvs = 1): NStepRollout {
  const observations = new Observations(SPACES.observationSpace);
  const policy = stochasticPolicy(SPACES);
  return new NStepRollout({ numEnvs, observations }, policy, options);
}

/** Adds a step of an action and a reward, from the observation `at` to the next number. */
function add(
  windows: NStepRollout,
  { at, action = 0, reward = 1, end }: {
    at: number;
    action?: number;
    reward?: number;
    end?: "terminated" | "truncated";
  },
): void {
  const inputs = Float32Array.of(at), none = new Float32Array(1);
  windows.add({
    observations: inputs,
    inputs,
    actions: Int32Array.of(action),
    recorded: {},
    state: new Float32Array(0),
    starts: none,
    step: {
      observations: Float32Array.of(end === undefined ? at + 1 : -1),
      finalObservations: Float32Array.of(at + 1),
      rewards: Float64Array.of(reward),
      terminated: Uint8Array.of(Number(end === "terminated")),
      truncated: Uint8Array.of(Number(end === "truncated")),
    },
  });
}

const list = (numbers: unknown) => Array.from(numbers as Float32Array);

Deno.test("a window is complete after maxSteps, and its returns wait for the last value", () => {
  const windows = windowsOf({ maxSteps: 2, gamma: 0.5 });
  add(windows, { at: 1, reward: 4, action: 2 });
  assertEquals([windows.ready(), windows.length], [0, 1]);
  add(windows, { at: 2, reward: 2, action: 1 });
  assertEquals([windows.ready(), windows.hasEnded], [1, false]);
  const { batch } = windows.sample();
  assertEquals(list(batch.observations), [1, 2, 3]);
  assertEquals(list(batch.lastRow), [2]);
  assertEquals(list(batch.actions), [2, 1]);
  assertEquals(list(batch.returns), [5, 2]);
  assertEquals(list(batch.discounts), [0.25, 0.5]);
  assertEquals(list(batch.weights), [1, 1]);
  assertEquals([windows.ready(), windows.length], [0, 0]);
  add(windows, { at: 3, reward: 7 });
  // What was taken stays as it is until the next one is.
  assertEquals(list(batch.observations), [1, 2, 3]);
});

for (const end of ["terminated", "truncated"] as const) {
  Deno.test(`a window ends with an episode that is ${end}`, () => {
    const windows = windowsOf({ maxSteps: 3, gamma: 0.5 });
    add(windows, { at: 1, end });
    assertEquals([windows.ready(), windows.hasEnded], [1, true]);
    const { batch } = windows.sample();
    // A cut is no end: the value of the episode's last observation counts.
    const discount = end === "terminated" ? 0 : 0.5;
    assertEquals(list(batch.discounts), [discount, 0, 0]);
    assertEquals(list(batch.weights), [1, 0, 0]);
    assertEquals(list(batch.observations).slice(0, 2), [1, 2]);
    assertEquals(list(batch.lastRow), [1]);
  });
}

Deno.test("Sarsa learns a step when the next action is known, and two at an end", () => {
  const windows = windowsOf({ maxSteps: 1, gamma: 1, takesNextAction: true });
  add(windows, { at: 1, action: 2 });
  assertEquals(windows.ready(), 0);
  add(windows, { at: 2, action: 1, end: "truncated" });
  assertEquals(windows.ready(), 2);
  const seen = [0, 1].map(() => {
    const { hasEnded } = windows;
    const { observations, nextAction, nextIsBest } = windows.sample()
      .batch as Arrays;
    const isBest = nextIsBest[0] === 1;
    const next = isBest ? "best" : nextAction[0];
    return [observations[1], next, hasEnded];
  });
  // No action was chosen after the truncation: the best one is used.
  assertEquals(seen, [[2, 1, false], [3, "best", true]]);
});

Deno.test("episodes that are ended from outside are learned from to their last step", () => {
  const windows = windowsOf({ maxSteps: 2, gamma: 0.5, takesNextAction: true });
  windows.endEpisodes(); // no episode runs
  assertEquals(windows.ready(), 0);
  for (const at of [1, 2, 3]) add(windows, { at });
  assertEquals(windows.ready(), 1);
  windows.endEpisodes();
  assertEquals(windows.ready(), 2);
  const [first, last] = [0, 1].map(() => {
    const { observations, discounts } = windows.sample().batch as Arrays;
    return [list(observations).slice(0, 2), list(discounts)];
  });
  assertEquals(first, [[1, 2], [0.25, 0.5]]);
  assertEquals(last, [[3, 4], [0.5, 0]]);
  assertEquals(windows.ready(), 0);
});

Deno.test("an open window is restored", () => {
  const [one, other] = [0, 1].map(() => windowsOf({ maxSteps: 2, gamma: 0.9 }));
  add(one, { at: 5, action: 1 });
  other.load(one.save());
  for (const windows of [one, other]) add(windows, { at: 6, action: 2 });
  assertEquals(other.sample(), one.sample());
});

Deno.test("windows are of one environment", () => {
  assertThrows(
    () => windowsOf({ maxSteps: 1, gamma: 1 }, 2),
    RangeError,
    "Cannot learn from windows with numEnvs = 2: expected 1",
  );
});
