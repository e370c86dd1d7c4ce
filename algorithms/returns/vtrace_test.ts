import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { nStepReturns } from "./n_step_returns.ts";
import { anyTrajectory, assertClose } from "./testdata/trajectories.ts";
import { vtrace } from "./vtrace.ts";

Deno.test("with ratios 1 the targets are n-step returns", () => {
  fc.assert(fc.property(anyTrajectory, ({ trajectory, options }) => {
    const ratios = trajectory.ratios.map(() => 1);
    const { targets, advantages } = vtrace({ ...trajectory, ratios }, options);
    const expected = nStepReturns(trajectory, options);
    assertClose(targets, expected);
    assertClose(advantages, expected.map((it, i) => it - trajectory.values[i]));
  }));
});

Deno.test("with rhoBar 0 the values are their own targets", () => {
  fc.assert(fc.property(anyTrajectory, ({ trajectory, options }) => {
    const { targets, advantages } = vtrace(trajectory, {
      ...options,
      rhoBar: 0,
    });
    assertClose(targets, trajectory.values);
    assertClose(advantages, trajectory.values.map(() => 0));
  }));
});

/** The paper's sum over products, equation 1, for a row without ends. */
Deno.test("targets are the paper's sum", () => {
  const rewards = [1, -2, 3, 0.5];
  const values = [0.3, 0.7, -1, 2];
  const ratios = [0.4, 2.5, 1.2, 0.9];
  const [gamma, lambda, rhoBar, cBar] = [0.9, 0.8, 2, 1.1];
  const next = [...values.slice(1), 5];
  const expected = values.map((value, s) => {
    let target = value;
    let product = 1;
    for (let t = s; t < 4; t++) {
      const delta = Math.min(rhoBar, ratios[t]) *
        (rewards[t] + gamma * next[t] - values[t]);
      target += gamma ** (t - s) * product * delta;
      product *= lambda * Math.min(cBar, ratios[t]);
    }
    return target;
  });
  const { targets, advantages } = vtrace({
    rewards,
    values,
    ratios,
    terminated: [0, 0, 0, 0],
    truncated: [0, 0, 0, 0],
    lastValues: [5],
  }, { numEnvs: 1, numSteps: 4, gamma, lambda, rhoBar, cBar });
  assertClose(targets, expected);
  const nextTargets = [...expected.slice(1), 5];
  assertClose(
    advantages,
    rewards.map((it, t) =>
      Math.min(rhoBar, ratios[t]) * (it + gamma * nextTargets[t] - values[t])
    ),
  );
});

Deno.test("V-trace writes into out and checks its settings", () => {
  const out = { targets: new Float32Array(1), advantages: new Float32Array(1) };
  const trajectory = {
    rewards: [1],
    values: [2],
    ratios: [1],
    terminated: [1],
    truncated: [0],
    lastValues: [9],
  };
  const options = { numEnvs: 1, numSteps: 1, out };
  assertStrictEquals(vtrace(trajectory, options), out);
  assertEquals(out, {
    targets: Float32Array.of(1),
    advantages: Float32Array.of(-1),
  });
  assertThrows(
    () => vtrace(trajectory, { ...options, cBar: -1 }),
    RangeError,
    "Cannot compute V-trace targets: cBar is -1, expected at least 0",
  );
  assertThrows(
    () => vtrace({ ...trajectory, ratios: [] }, options),
    RangeError,
    "Cannot compute V-trace targets: ratios has 0 numbers, expected 1",
  );
});
