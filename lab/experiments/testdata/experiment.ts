import { SeededRandom } from "@bellman/envs";
import { createRunFolder } from "@bellman/runs";
import { newRecord } from "@bellman/runs/training";
import type { CellResult } from "../cells.ts";
import { parsePlan, type Plan } from "../plan.ts";
import { cellsOf } from "../cells.ts";

/** Evaluations of a made-up run. */
const EVALUATIONS = 20;

/**
 * Makes the run folders of an experiment whose cells are all finished: learning
 * curves that rise to a return, with noise of a seed.
 */
export function madeUpExperiment(
  dir: string,
  planText: string,
): { plan: Plan; dir: string; cells: CellResult[] } {
  const plan = parsePlan(planText, "plan.yaml", "plan");
  const cells = cellsOf(plan, dir).map((cell): CellResult => {
    const place = plan.variants.findIndex(({ name }) => name === cell.variant);
    const random = new SeededRandom(97 * cell.seed + place);
    const steps = plan.variants[place].steps ?? 100_000;
    const level = 100 + 30 * place + 20 * random.normal();
    const rows = Array.from({ length: EVALUATIONS }, (_, i) => {
      const part = (i + 1) / EVALUATIONS;
      const value = level * part + 5 * random.normal();
      return { step: steps * part, meanReturn: value, stdReturn: 1 };
    });
    const whole = { seed: cell.seed, episodes: 1 };
    const config = { algorithm: "a2c", env: cell.environment };
    createRunFolder(cell.dir, {
      configText: `algorithm: a2c\nenv: ${cell.environment}\n`,
      record: {
        ...newRecord({ config: config as never, engine: "eager" }, {}),
        evaluations: { during: rows.map((it) => ({ ...it, ...whole })) },
      },
    });
    const policy = (meanReturn: number, step: number) => ({
      step,
      meanReturn,
      stdReturn: 1,
    });
    return {
      ...cell,
      state: "finished",
      steps,
      seconds: 60,
      last: policy(level, steps),
      best: policy(level + 10, steps / 2),
      commit: "0123456",
      resumes: 0,
      message: "",
    };
  });
  return { plan, dir, cells };
}
