import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import fixture from "../../tests/reference/acer_retrace.json" with {
  type: "json",
};
import { nStepReturns } from "./n_step_returns.ts";
import { retrace } from "./retrace.ts";
import { anyTrajectory, assertClose } from "./testdata/trajectories.ts";

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
