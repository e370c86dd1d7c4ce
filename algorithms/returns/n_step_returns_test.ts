import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import fixture from "../../tests/reference/returns.json" with { type: "json" };
import { discountWithDones, nStepReturns } from "./n_step_returns.ts";
import { anyTrajectory, assertClose } from "./testdata/trajectories.ts";

for (const { name, inputs, expected } of fixture.nstep) {
  Deno.test(`nStepReturns gives the original's returns: ${name}`, () => {
    const { rewards, dones, gamma, bootstrap_value } = inputs;
    const returns = nStepReturns({
      rewards,
      terminated: dones,
      truncated: new Uint8Array(dones.length),
      lastValues: [bootstrap_value],
    }, { numEnvs: 1, numSteps: rewards.length, gamma });
    assertClose(returns, expected.nstep_returns_bootstrapped);
  });
}

for (const [i, it] of fixture.truncation_vs_termination.entries()) {
  Deno.test(`nStepReturns tells the kinds of end apart: ${i}`, () => {
    const target = (terminated: number, truncated: number, last: number) =>
      nStepReturns({
        rewards: [it.reward],
        terminated: [terminated],
        truncated: [truncated],
        finalValues: [it.v_next_of_final_obs],
        lastValues: [last],
      }, { numEnvs: 1, numSteps: 1, gamma: it.gamma });
    assertClose(target(1, 0, 1e6), [it.target_if_terminated]);
    assertClose(target(0, 1, 1e6), [it.target_if_truncated]);
    assertClose(target(0, 0, it.v_next_of_final_obs), [it.target_if_running]);
    // Both at once is an end state.
    assertClose(target(1, 1, 1e6), [it.target_if_terminated]);
  });
}

Deno.test("nStepReturns of a chain that pays 1 is the geometric sum", () => {
  const numSteps = 50;
  const returns = nStepReturns({
    rewards: new Float64Array(numSteps).fill(1),
    terminated: new Uint8Array(numSteps),
    truncated: new Uint8Array(numSteps),
    lastValues: [1 / (1 - 0.9)],
  }, { numEnvs: 1, numSteps, gamma: 0.9 });
  assertClose(returns, new Float64Array(numSteps).fill(10));
});

Deno.test("nStepReturns sees nothing beyond an end", () => {
  fc.assert(
    fc.property(anyTrajectory, fc.nat(), ({ trajectory, options }, at) => {
      const { numSteps } = options;
      const end = at % trajectory.rewards.length;
      const terminated = trajectory.terminated.with(end, 1);
      const before = nStepReturns({ ...trajectory, terminated }, options);
      const rowEnd = (Math.floor(end / numSteps) + 1) * numSteps;
      const after = nStepReturns({
        ...trajectory,
        terminated,
        rewards: trajectory.rewards.map((it, i) =>
          i > end && i < rowEnd ? it + 1 : it
        ),
        finalValues: trajectory.finalValues.with(end, 1e6),
      }, options);
      assertEquals(after.subarray(0, end + 1), before.subarray(0, end + 1));
    }),
  );
});

Deno.test("nStepReturns writes into out", () => {
  const out = new Float32Array(1);
  const trajectory = {
    rewards: [1],
    terminated: [0],
    truncated: [0],
    lastValues: [2],
  };
  const options = { numEnvs: 1, numSteps: 1, gamma: 0.5, out };
  assertStrictEquals(nStepReturns(trajectory, options), out);
  assertEquals(out, Float32Array.of(2));
});

Deno.test("nStepReturns says what is missing or wrong", () => {
  const trajectory = {
    rewards: [1, 1],
    terminated: [0, 0],
    truncated: [0, 1],
    lastValues: [2],
  };
  const options = { numEnvs: 1, numSteps: 2 };
  assertThrows(
    () => nStepReturns(trajectory, options),
    TypeError,
    "Cannot bootstrap from truncated step 1: finalValues is missing",
  );
  assertThrows(
    () => nStepReturns({ ...trajectory, lastValues: [1, 2] }, options),
    RangeError,
    "Cannot compute n-step returns: lastValues has 2 numbers, expected 1",
  );
  assertThrows(
    () => nStepReturns({ ...trajectory, rewards: undefined! }, options),
    TypeError,
    "Cannot compute n-step returns: rewards is missing",
  );
  assertThrows(
    () => nStepReturns(trajectory, { ...options, gamma: 1.5 }),
    RangeError,
    "Cannot compute n-step returns: gamma is 1.5, expected 0 to 1",
  );
});

for (const { name, inputs, expected } of fixture.nstep) {
  Deno.test(`discountWithDones gives the original's sums: ${name}`, () => {
    const { rewards, dones, gamma } = inputs;
    const options = { numEnvs: 1, numSteps: rewards.length, gamma };
    assertClose(
      discountWithDones(rewards, dones, options),
      expected.discount_with_dones,
    );
  });
}

Deno.test("discountWithDones keeps environments apart", () => {
  const options = { numEnvs: 2, numSteps: 2, gamma: 0.5 };
  assertEquals(
    discountWithDones([1, 2, 4, 8], [0, 0, 1, 0], options),
    Float64Array.of(2, 2, 4, 8),
  );
});

Deno.test("discountWithDones writes into out", () => {
  const out = new Float32Array(2);
  const options = { numEnvs: 1, numSteps: 2, gamma: 0.5, out };
  assertStrictEquals(discountWithDones([1, 1], [0, 0], options), out);
  assertEquals(out, Float32Array.of(1.5, 1));
});

Deno.test("discountWithDones names the array of a wrong length", () => {
  const options = { numEnvs: 1, numSteps: 2 };
  assertThrows(
    () => discountWithDones([1, 1], [0], options),
    RangeError,
    "Cannot discount rewards: dones has 1 numbers, expected 2",
  );
  assertThrows(
    () => discountWithDones([1, 1], [0, 0], { ...options, numEnvs: 1.5 }),
    RangeError,
    "Cannot discount rewards: numEnvs is 1.5, expected a whole number above 0",
  );
});
