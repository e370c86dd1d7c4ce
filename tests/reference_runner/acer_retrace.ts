import { retraceTargets } from "@bellman/acer";
import { retrace } from "@bellman/returns";
import * as tf from "@tensorflow/tfjs";
import type { Comparison, FixtureRunner } from "./comparison.ts";

const TOLERANCE = 1e-9;
const FLOAT32_TOLERANCE = 1e-5;

interface RetraceCase {
  name: string;
  inputs: {
    R: number[];
    D: number[];
    q_i: number[];
    v: number[];
    rho_i: number[];
    nenvs: number;
    nsteps: number;
    gamma: number;
  };
  expected: { qret: number[] };
}

function runCase({ inputs, expected }: RetraceCase, comparison: Comparison) {
  const { R, D, q_i, v, rho_i, nenvs, nsteps, gamma } = inputs;
  // Each row of the fixture's values has that after the last step, too.
  const isLast = (i: number) => i % (nsteps + 1) === nsteps;
  const targets = retrace({
    rewards: R,
    terminated: D,
    truncated: D.map(() => 0),
    values: v.filter((_, i) => !isLast(i)),
    lastValues: v.filter((_, i) => isLast(i)),
    qValues: q_i,
    ratios: rho_i,
  }, { numEnvs: nenvs, numSteps: nsteps, gamma });
  comparison.numbers("qret", targets, {
    expected: expected.qret,
    tolerance: TOLERANCE,
  });
  const rows = (steps: number[]) =>
    tf.tensor1d(
      v.map((_, i) => isLast(i) ? 0 : steps[i - Math.floor(i / (nsteps + 1))]),
    );
  const tensors = retraceTargets({
    rewards: rows(R),
    terminated: rows(D),
    taken: rows(R.map(() => 1)),
    values: tf.tensor1d(v),
    qTaken: rows(q_i),
    ratios: rows(rho_i),
  }, { numEnvs: nenvs, gamma });
  const found = tensors.dataSync().filter((_, i) => !isLast(i));
  comparison.numbers("qret of tensors", found, {
    expected: expected.qret,
    tolerance: FLOAT32_TOLERANCE,
  });
}

/** Retrace targets of baselines/acer. */
export const acerRetraceRunner: FixtureRunner = async (fixture, comparison) => {
  for (const it of fixture.cases as RetraceCase[]) {
    await comparison.check(it.name, () => runCase(it, comparison));
  }
};
