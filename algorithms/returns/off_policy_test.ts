import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { nStepReturns } from "./n_step_returns.ts";
import { anyTrajectory, assertClose } from "./testdata/trajectories.ts";
import { retrace, vtrace } from "./off_policy.ts";
import fixture from "../../tests/reference/acer_retrace.json" with {
  type: "json",
};

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

for (const { name, inputs, expected } of fixture.cases) {
  Deno.test(`Retrace gives the original's targets: ${name}`, () => {
    const { nenvs, nsteps, gamma, R, D, q_i, rho_i, v } = inputs;
    const isLast = (i: number) => i % (nsteps + 1) === nsteps;
    const targets = retrace({
      rewards: R,
      terminated: D,
      truncated: new Uint8Array(D.length),
      qValues: q_i,
      ratios: rho_i,
      values: v.filter((_, i) => !isLast(i)),
      lastValues: v.filter((_, i) => isLast(i)),
    }, { numEnvs: nenvs, numSteps: nsteps, gamma });
    assertClose(targets, expected.qret);
  });
}

Deno.test("with ratios 1 and Q-values that are the values, targets are n-step returns", () => {
  fc.assert(fc.property(anyTrajectory, ({ trajectory, options }) => {
    const targets = retrace({
      ...trajectory,
      ratios: trajectory.ratios.map(() => 1),
      qValues: trajectory.values,
    }, options);
    assertClose(targets, nStepReturns(trajectory, options));
  }));
});

Deno.test("with cBar 0 or lambda 0 targets are rewards and the next values", () => {
  fc.assert(fc.property(anyTrajectory, ({ trajectory, options }) => {
    const running = {
      ...trajectory,
      truncated: trajectory.rewards.map(() => 0),
    };
    const next = trajectory.values.map((_, i) =>
      trajectory.terminated[i]
        ? 0
        : (i + 1) % options.numSteps > 0
        ? trajectory.values[i + 1]
        : trajectory.lastValues[Math.floor(i / options.numSteps)]
    );
    const expected = trajectory.rewards.map((it, i) =>
      it + options.gamma * next[i]
    );
    assertClose(retrace(running, { ...options, cBar: 0 }), expected);
    assertClose(retrace(running, { ...options, lambda: 0 }), expected);
  }));
});

Deno.test("Retrace bootstraps from the final value of a truncated step only", () => {
  const trajectory = {
    rewards: [1, 1, 1],
    values: [0, 0, 0],
    qValues: [0, 0, 0],
    ratios: [1, 1, 1],
    terminated: [1, 0, 0],
    truncated: [0, 1, 0],
    finalValues: [8, 8, 8],
    lastValues: [4],
  };
  const out = new Float64Array(3);
  const options = { numEnvs: 1, numSteps: 3, gamma: 0.5, out };
  assertStrictEquals(retrace(trajectory, options), out);
  assertEquals(out, Float64Array.of(1, 5, 3));
  assertThrows(
    () => retrace({ ...trajectory, qValues: [0] }, options),
    RangeError,
    "Cannot compute Retrace targets: qValues has 1 numbers, expected 3",
  );
});
