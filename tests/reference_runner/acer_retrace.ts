import { retrace } from "@bellman/returns";
import type { Comparison, FixtureRunner } from "./comparison.ts";

const TOLERANCE = 1e-9;

interface Case {
  name: string;
  inputs: {
    nenvs: number;
    nsteps: number;
    gamma: number;
    R: number[];
    D: number[];
    q_i: number[];
    rho_i: number[];
    /** `[nenvs, nsteps + 1]` */
    v: number[];
  };
  expected: { qret: number[] };
}

function runCase({ inputs, expected }: Case, comparison: Comparison): void {
  const { nenvs, nsteps, gamma, R, D, q_i, rho_i, v } = inputs;
  const isLast = (i: number) => i % (nsteps + 1) === nsteps;
  const targets = retrace({
    rewards: Float64Array.from(R),
    terminated: Uint8Array.from(D),
    truncated: new Uint8Array(D.length),
    qValues: Float64Array.from(q_i),
    ratios: Float64Array.from(rho_i),
    values: Float64Array.from(v.filter((_, i) => !isLast(i))),
    lastValues: Float64Array.from(v.filter((_, i) => isLast(i))),
  }, { numEnvs: nenvs, numSteps: nsteps, gamma });
  comparison.numbers("qret", targets, {
    expected: expected.qret,
    tolerance: TOLERANCE,
  });
}

/** baselines/acer: Retrace targets. */
export const acerRetraceRunner: FixtureRunner = async (fixture, comparison) => {
  for (const it of fixture.cases as Case[]) {
    await comparison.check(it.name, () => runCase(it, comparison));
  }
};
