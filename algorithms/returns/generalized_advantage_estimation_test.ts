import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import fixture from "../../tests/reference/returns.json" with { type: "json" };
import { generalizedAdvantageEstimation } from "./generalized_advantage_estimation.ts";
import { nStepReturns } from "./n_step_returns.ts";
import { anyTrajectory, assertClose } from "./testdata/trajectories.ts";

/** The fixture's `[step, env]` numbers in our order `[env, step]`. */
function envMajor(rows: number[][]): number[] {
  return rows[0].flatMap((_, env) => rows.map((row) => row[env]));
}

for (const { name, inputs, expected } of fixture.gae) {
  Deno.test(`advantages are the original's: ${name}`, () => {
    const { rewards, values, dones_before, last_dones } = inputs;
    const { advantages, returns } = generalizedAdvantageEstimation({
      rewards: envMajor(rewards),
      values: envMajor(values),
      terminated: envMajor([...dones_before.slice(1), last_dones]),
      truncated: new Uint8Array(rewards.length * last_dones.length),
      lastValues: inputs.last_values,
    }, {
      numEnvs: last_dones.length,
      numSteps: rewards.length,
      gamma: inputs.gamma,
      lambda: inputs.lam,
    });
    assertClose(advantages, envMajor(expected.advantages));
    assertClose(returns, envMajor(expected.returns));
  });
}

Deno.test("with lambda 1 they are n-step returns minus values", () => {
  fc.assert(fc.property(anyTrajectory, ({ trajectory, options }) => {
    const { advantages, returns } = generalizedAdvantageEstimation(
      trajectory,
      { ...options, lambda: 1 },
    );
    const expected = nStepReturns(trajectory, options);
    assertClose(returns, expected);
    assertClose(advantages, expected.map((it, i) => it - trajectory.values[i]));
  }));
});

Deno.test("with lambda 0 they are temporal differences", () => {
  fc.assert(fc.property(anyTrajectory, ({ trajectory, options }) => {
    const { rewards, values, terminated, truncated } = trajectory;
    const next = values.map((_, i) => {
      if (terminated[i]) return 0;
      if (truncated[i]) return trajectory.finalValues[i];
      if ((i + 1) % options.numSteps > 0) return values[i + 1];
      return trajectory.lastValues[Math.floor(i / options.numSteps)];
    });
    assertClose(
      generalizedAdvantageEstimation(trajectory, { ...options, lambda: 0 })
        .advantages,
      rewards.map((it, i) => it + options.gamma * next[i] - values[i]),
    );
  }));
});

Deno.test("perfect values leave no advantage, on each side of a truncation", () => {
  const numSteps = 10;
  const values = new Float64Array(numSteps).fill(1 / (1 - 0.5));
  const { advantages } = generalizedAdvantageEstimation({
    rewards: new Float64Array(numSteps).fill(1),
    values,
    terminated: new Uint8Array(numSteps),
    truncated: new Uint8Array(numSteps).fill(1, 4, 5),
    finalValues: values,
    lastValues: [2],
  }, { numEnvs: 1, numSteps, gamma: 0.5 });
  assertEquals(advantages, new Float64Array(numSteps));
});

Deno.test("advantages are written into out", () => {
  const out = { advantages: new Float32Array(1), returns: new Float32Array(1) };
  const trajectory = {
    rewards: [1],
    values: [4],
    terminated: [0],
    truncated: [0],
    lastValues: [2],
  };
  const options = { numEnvs: 1, numSteps: 1, gamma: 0.5, out };
  assertStrictEquals(generalizedAdvantageEstimation(trajectory, options), out);
  assertEquals(out, {
    advantages: Float32Array.of(-2),
    returns: Float32Array.of(2),
  });
  const small = { ...out, returns: new Float32Array(0) };
  assertThrows(
    () =>
      generalizedAdvantageEstimation(trajectory, { ...options, out: small }),
    RangeError,
    "Cannot estimate advantages: out.returns has 0 numbers, expected 1",
  );
});
