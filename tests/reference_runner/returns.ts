import {
  discountWithDones,
  generalizedAdvantageEstimation,
  nStepReturns,
} from "@bellman/returns";
import type { Comparison, FixtureRunner } from "./comparison.ts";

const TOLERANCE = 1e-9;

interface NStepCase {
  name: string;
  inputs: {
    rewards: number[];
    dones: number[];
    gamma: number;
    bootstrap_value: number;
  };
  expected: {
    discount_with_dones: number[];
    nstep_returns_bootstrapped: number[];
  };
}

function runNStep(
  { inputs, expected }: NStepCase,
  comparison: Comparison,
): void {
  const { rewards, dones, gamma, bootstrap_value } = inputs;
  const options = { numEnvs: 1, numSteps: rewards.length, gamma };
  comparison.numbers(
    "discount_with_dones",
    discountWithDones(rewards, dones, options),
    { expected: expected.discount_with_dones, tolerance: TOLERANCE },
  );
  const returns = nStepReturns({
    rewards,
    terminated: dones,
    truncated: new Uint8Array(dones.length),
    lastValues: [bootstrap_value],
  }, options);
  comparison.numbers("nstep_returns_bootstrapped", returns, {
    expected: expected.nstep_returns_bootstrapped,
    tolerance: TOLERANCE,
  });
}

interface GaeCase {
  name: string;
  inputs: {
    rewards: number[][];
    values: number[][];
    dones_before: number[][];
    last_values: number[];
    last_dones: number[];
    gamma: number;
    lam: number;
  };
  expected: { advantages: number[][]; returns: number[][] };
}

/** The fixture's `[step, env]` numbers in our order `[env, step]`. */
function envMajor(rows: number[][]): Float64Array {
  return Float64Array.from(
    rows[0].flatMap((_, env) => rows.map((row) => row[env])),
  );
}

function runGae({ inputs, expected }: GaeCase, comparison: Comparison): void {
  const { dones_before, last_dones, last_values, gamma, lam } = inputs;
  const dones = [...dones_before.slice(1), last_dones];
  const result = generalizedAdvantageEstimation({
    rewards: envMajor(inputs.rewards),
    values: envMajor(inputs.values),
    terminated: envMajor(dones),
    truncated: new Uint8Array(dones.length * last_dones.length),
    lastValues: last_values,
  }, {
    numEnvs: last_dones.length,
    numSteps: dones.length,
    gamma,
    lambda: lam,
  });
  for (const name of ["advantages", "returns"] as const) {
    comparison.numbers(name, result[name], {
      expected: Array.from(envMajor(expected[name])),
      tolerance: TOLERANCE,
    });
  }
}

interface EndCase {
  reward: number;
  v_next_of_final_obs: number;
  gamma: number;
  target_if_terminated: number;
  target_if_truncated: number;
  target_if_running: number;
}

function runEnds(it: EndCase, comparison: Comparison): void {
  const value = it.v_next_of_final_obs;
  const ends = [
    { name: "terminated", terminated: 1, truncated: 0, last: value },
    // The last value is of another episode then.
    { name: "truncated", terminated: 0, truncated: 1, last: 1e6 },
    { name: "running", terminated: 0, truncated: 0, last: value },
  ] as const;
  for (const { name, terminated, truncated, last } of ends) {
    const target = nStepReturns({
      rewards: [it.reward],
      terminated: [terminated],
      truncated: [truncated],
      finalValues: [value],
      lastValues: [last],
    }, { numEnvs: 1, numSteps: 1, gamma: it.gamma });
    comparison.numbers(`target if ${name}`, target, {
      expected: it[`target_if_${name}`],
      tolerance: TOLERANCE,
    });
  }
}

/** baselines: discounted sums, n-step returns, advantages; ends of two kinds. */
export const returnsRunner: FixtureRunner = async (fixture, comparison) => {
  for (const it of fixture.nstep ?? []) {
    await comparison.check(it.name, () => runNStep(it, comparison));
  }
  for (const it of fixture.gae ?? []) {
    await comparison.check(it.name, () => runGae(it, comparison));
  }
  for (const [i, it] of (fixture.truncation_vs_termination ?? []).entries()) {
    await comparison.check(`end ${i}`, () => runEnds(it, comparison));
  }
};
