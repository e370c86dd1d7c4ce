/** Thread that computes the figures of an experiment, which takes a while. */
import type { CurveRun } from "@bellman/training/plots";
import type { CellResult } from "../../lab/experiments/cells.ts";
import type { Plan } from "../../lab/experiments/plan.ts";
import { learningSection } from "../../lab/experiments/report/learning.ts";
import { policiesSection } from "../../lab/experiments/report/policies.ts";
import { Results } from "../../lab/experiments/report/results.ts";
import {
  environmentsOf,
  scalesOf,
} from "../../lab/experiments/report/scales.ts";
import { filledColumns, textsOf } from "../../lab/experiments/report/tables.ts";
import type { ExperimentFigure, ExperimentTable } from "./messages.ts";

/** What the thread is given. */
export interface FigureTask {
  plan: Plan;
  /** All cells; the folder of each is a name alone. */
  cells: CellResult[];
  /** Evaluations during training, by the names of cells. */
  curves: Map<string, CurveRun>;
  /** Returns of random actions by environment, as far as they are known. */
  randomReturns: Map<string, number>;
}

/** What it answers. */
export interface FigureResult {
  notices: string[];
  tables: ExperimentTable[];
  figures: (ExperimentFigure & { svg: string })[];
}

/** Size of a figure. */
const SIZE = { width: 760, height: 360 };

async function compute(
  { plan, cells, curves, randomReturns }: FigureTask,
): Promise<FigureResult> {
  const scales = await scalesOf(
    { environments: environmentsOf(plan), scores: plan.scores },
    randomReturns,
  );
  const results = new Results(plan, cells);
  const none: CurveRun = { x: [], y: [] };
  const sections = [
    learningSection(results, scales, ({ dir }) => curves.get(dir) ?? none),
    policiesSection(results, { which: "last", scales }),
    policiesSection(results, { which: "best", scales }),
  ];
  return {
    notices: [...scales.leftOut].map(([environment, why]) =>
      `${environment} is left out of the normalized figures: ${why}`
    ),
    tables: sections.flatMap(({ tables }) => tables).map((whole) => {
      const table = filledColumns(whole), { title, caption, columns } = table;
      const names = columns.map(({ name }) => name);
      return { title, caption, columns: names, rows: textsOf(table) };
    }),
    figures: sections.flatMap(({ figures }) => figures)
      .map(({ name, title, caption, draw }) => {
        const svg = draw({ title, ...SIZE });
        return { name, title, caption, svg };
      }),
  };
}

/** Scope of the thread. */
interface Scope {
  onmessage(event: MessageEvent<FigureTask>): void;
  postMessage(result: FigureResult): void;
}

const scope = globalThis as unknown as Scope;

scope.onmessage = async ({ data }) => {
  scope.postMessage(await compute(data));
};
