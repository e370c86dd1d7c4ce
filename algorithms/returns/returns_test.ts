import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import fixture from "../../tests/reference/returns.json" with { type: "json" };
import {
  discountWithDones,
  generalizedAdvantageEstimation,
  nStepReturns,
  retrace,
  vtrace,
} from "./returns.ts";
import { anyTrajectory, assertClose } from "./testdata/trajectories.ts";
import retraceFixture from "../../tests/reference/acer_retrace.json" with {
  type: "json",
};

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

for (const { name, inputs, expected } of retraceFixture.cases) {
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
