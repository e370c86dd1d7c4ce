import {
  discountWithDones,
  generalizedAdvantageEstimation,
  nStepReturns,
} from "@bellman/returns";
import { checkEach, type Comparison } from "./comparison.ts";

interface NStepCase {
  name: string;
  inputs: {
    rewards: number[];
    dones: number[];
    gamma: number;
    bootstrap_value: number;
  };
  expected: Record<
    "discount_with_dones" | "nstep_returns_bootstrapped",
    number[]
  >;
}

function runNStep({ inputs, expected }: NStepCase, comparison: Comparison) {
  const { rewards, dones, gamma, bootstrap_value } = inputs;
  const layout = { numEnvs: 1, numSteps: rewards.length, gamma };
  comparison.numbers(
    "discount_with_dones",
    discountWithDones(rewards, dones, layout),
    expected.discount_with_dones,
  );
  const returns = nStepReturns({
    rewards,
    terminated: dones,
    truncated: dones.map(() => 0),
    lastValues: [bootstrap_value],
  }, layout);
  comparison.numbers(
    "nstep_returns_bootstrapped",
    returns,
    expected.nstep_returns_bootstrapped,
  );
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

/** From the fixture's `[step, env]` to our `[env, step]`. */
function envMajor(rows: number[][]): number[] {
  return rows[0].flatMap((_, env) => rows.map((row) => row[env]));
}

function runGae({ inputs, expected }: GaeCase, comparison: Comparison) {
  const { rewards, dones_before, last_dones, gamma, lam } = inputs;
  // Whether the episode ended with a step shows before the step after it.
  const dones = envMajor([...dones_before.slice(1), last_dones]);
  const found = generalizedAdvantageEstimation({
    rewards: envMajor(rewards),
    values: envMajor(inputs.values),
    terminated: dones,
    truncated: dones.map(() => 0),
    lastValues: inputs.last_values,
  }, {
    numEnvs: rewards[0].length,
    numSteps: rewards.length,
    gamma,
    lambda: lam,
  });
  for (const name of ["advantages", "returns"] as const) {
    comparison.numbers(name, found[name], envMajor(expected[name]));
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

function runEnds(it: EndCase, comparison: Comparison) {
  const value = it.v_next_of_final_obs;
  const ends = { terminated: [1, 0], truncated: [0, 1], running: [0, 0] };
  for (const [name, [terminated, truncated]] of Object.entries(ends)) {
    const target = nStepReturns({
      rewards: [it.reward],
      terminated: [terminated],
      truncated: [truncated],
      finalValues: [value],
      // Of the next episode where this one ended: it must not be seen.
      lastValues: [name === "running" ? value : 1e6],
    }, { numEnvs: 1, numSteps: 1, gamma: it.gamma });
    comparison.numbers(`target if ${name}`, target, [
      it[`target_if_${name}` as keyof EndCase],
    ]);
  }
}

/** Discounted sums, n-step returns, advantages and the two kinds of end. */
export const runner = checkEach({
  nstep: runNStep,
  gae: runGae,
  truncation_vs_termination: runEnds,
}, 1e-9);
