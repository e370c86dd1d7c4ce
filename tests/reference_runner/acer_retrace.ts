import { retraceTargets } from "@bellman/acer";
import { retrace } from "@bellman/returns";
import * as tf from "@tensorflow/tfjs";
import { checkEach, type Comparison } from "./comparison.ts";

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
  comparison.numbers("qret", targets, expected.qret);
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
  comparison.numbers("qret of tensors", found, expected.qret, {
    tolerance: FLOAT32_TOLERANCE,
  });
}

/** Retrace targets of baselines/acer. */
export const runner = checkEach({ cases: runCase }, 1e-9);
