import type { CurveRun } from "@bellman/training/plots";
import type { CellResult } from "../../lab/experiments/cells.ts";
import { messageOf } from "../../lab/runs/program/errors.ts";
import type { BoardIndex } from "./board_index.ts";
import { readCurves, Turns } from "./curves.ts";
import type { FigureResult, FigureTask } from "./experiment_worker.ts";
import type { ExperimentEntry, ShownCell } from "./experiments.ts";
import { MOST_BYTES, namesIn, readTextInside } from "./inside.ts";
import type { ExperimentDetails } from "./messages.ts";
import { dirOf, fileIn } from "./run_entry.ts";

/** Milliseconds that the figures may take. */
const MOST_MS = 60_000;
/** Points of a learning curve: more are not seen. */
const POINTS = 2_000;

const NONE: FigureResult = { notices: [], tables: [], figures: [] };

/** Figures of an experiment, and the cells that they are of. */
interface Computed {
  key: string;
  result: Promise<FigureResult>;
}

/** Figures and tables of experiments, computed again when cells end. */
export class ExperimentFigures {
  readonly #index: BoardIndex;
  readonly #computed = new Map<string, Computed>();

  constructor(index: BoardIndex) {
    this.#index = index;
  }

  /** Lists all that is known of an experiment. */
  async details(entry: ExperimentEntry): Promise<ExperimentDetails> {
    const cells = entry.cells(this.#index.runs);
    const { notices, tables, figures } = await this.figures(entry);
    return {
      summary: entry.summary!,
      cells: cells.map(({ run, variant, environment, seed, ...it }) => ({
        variant,
        environment,
        seed,
        state: it.state,
        run: run?.id ?? null,
        last: run?.evaluated?.last.meanReturn ?? null,
        best: run?.evaluated?.best.meanReturn ?? null,
        message: it.message,
      })),
      notices,
      tables,
      figures: figures.map(({ svg: _, ...it }) => it),
      hasReport: namesIn(dirOf(entry.place)).names.has("report.html"),
    };
  }

  /** Computes the figures, unless those of these cells are there. */
  figures(entry: ExperimentEntry): Promise<FigureResult> {
    const { id, plan } = entry;
    const cells = entry.cells(this.#index.runs);
    const finished = cells.filter(({ state }) => state === "finished");
    if (plan === undefined || finished.length === 0) {
      return Promise.resolve(NONE);
    }
    const key = JSON.stringify([
      plan,
      finished.map(({ id, run }) => [id, run!.evaluated]),
    ]);
    const known = this.#computed.get(id);
    if (known?.key === key) return known.result;
    const before = known?.result ?? Promise.resolve(NONE);
    // One after the other, of which each has a processor.
    const result = before.then(() => this.#compute(entry, cells))
      .catch((error): FigureResult => ({
        ...NONE,
        notices: [`The figures cannot be drawn: ${messageOf(error)}`],
      }));
    this.#computed.set(id, { key, result });
    return result;
  }

  async #compute(
    entry: ExperimentEntry,
    cells: readonly ShownCell[],
  ): Promise<FigureResult> {
    return await inThread({
      plan: entry.plan!,
      cells: cells.map(resultOf),
      curves: await curvesOf(cells),
      randomReturns: randomReturnsOf(entry),
    });
  }
}

/** Describes a cell as reports take it; its id is in place of its folder. */
function resultOf(
  { id: dir, run, variant, environment, seed, state, message }: ShownCell,
): CellResult {
  const evaluated = run?.evaluated;
  return {
    variant,
    environment,
    seed,
    dir,
    state,
    message,
    steps: evaluated?.steps ?? run?.summary.step ?? 0,
    seconds: evaluated?.seconds ?? run?.summary.seconds ?? 0,
    last: evaluated?.last ?? null,
    best: evaluated?.best ?? null,
    commit: evaluated?.commit ?? "",
    resumes: 0,
  };
}

/** Reads the evaluations during the training of the finished cells. */
async function curvesOf(
  cells: readonly ShownCell[],
): Promise<Map<string, CurveRun>> {
  const curves = new Map<string, CurveRun>();
  const name = "eval/return_mean", turns = new Turns();
  const choice = {
    statistics: [name],
    x: "steps",
    points: POINTS,
    thinning: "extremes",
  } as const;
  for (const { id, run, state } of cells) {
    if (run === undefined || state !== "finished") continue;
    const log = fileIn(run.place, run.logName, MOST_BYTES.log);
    const points = await readCurves(log, choice, { position: "", turns })
      .catch(() => undefined);
    const curve = points?.curves[name];
    if (curve) curves.set(id, { x: [...curve.x], y: [...curve.y] });
  }
  return curves;
}

/** Reads the returns of random actions that the experiment measured. */
function randomReturnsOf({ place }: ExperimentEntry): Map<string, number> {
  try {
    const text = readTextInside(fileIn(place, "random_returns.json"));
    return new Map(
      Object.entries(JSON.parse(text))
        .filter((it): it is [string, number] => Number.isFinite(it[1])),
    );
  } catch {
    // Scores are left out then, which is said.
    return new Map();
  }
}

/** Computes in a thread, so that streams go on. */
function inThread(task: FigureTask): Promise<FigureResult> {
  const { promise, resolve, reject } = Promise.withResolvers<FigureResult>();
  const worker = new Worker(
    new URL("./experiment_worker.ts", import.meta.url),
    { type: "module" },
  );
  const timer = setTimeout(
    () => reject(new Error("they take more than a minute")),
    MOST_MS,
  );
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => {
    event.preventDefault();
    reject(new Error(event.message));
  };
  worker.postMessage(task);
  return promise.finally(() => {
    clearTimeout(timer);
    worker.terminate();
  });
}
