import { cellsOf } from "../../lab/experiments/cells.ts";
import { parsePlan, type Plan } from "../../lab/experiments/plan.ts";
import { parseYaml } from "../../lab/runs/settings/yaml.ts";
import { lookAt, namesIn, problemOf, readTextInside } from "./inside.ts";
import { lockState } from "./lock_state.ts";
import type { CellState, ExperimentSummary } from "./messages.ts";
import { dirOf, fileIn, idOf, type Place, type RunEntry } from "./run_entry.ts";

/** Most cells of a plan that is shown, and values in it. */
const MOST_CELLS = 10_000, MOST_VALUES = 100_000;

/** Locks of those who run an experiment. */
const LOCK = /^experiment(\.\d+-of-\d+)?\.lock$/;

/** A cell of an experiment, and its run where there is one. */
export interface ShownCell {
  variant: string;
  environment: string;
  seed: number;
  id: string;
  run: RunEntry | undefined;
  state: CellState;
  message: string;
}

/** An experiment's folder, and what was found in it. */
export class ExperimentEntry {
  readonly place: Place;
  readonly id: string;
  /** The plan, where it can be read. */
  plan: Plan | undefined;
  #cells: Omit<ShownCell, "run" | "state" | "message">[] = [];
  #stamp: string | undefined;
  #problem: string | undefined;
  /** What the list shows of it, once it was looked at. */
  summary: ExperimentSummary | undefined;

  constructor(place: Place) {
    this.place = place;
    this.id = idOf(place);
  }

  /**
   * Looks at the folder again.
   *
   * @param runs The runs that there are.
   * @returns The summary, where it is another one than before.
   */
  async look(
    runs: ReadonlyMap<string, RunEntry>,
  ): Promise<ExperimentSummary | undefined> {
    const dir = dirOf(this.place);
    const stamp = lookAt(dir, "plan.yaml")?.stamp;
    if (stamp !== this.#stamp) this.#readPlan();
    this.#stamp = stamp;
    const locks = [...namesIn(dir).names].filter((it) => LOCK.test(it));
    const states = await Promise.all(locks.map((it) => lockState(dir, it)));
    const summary = this.#summarize(runs, states.includes("held"));
    if (JSON.stringify(summary) === JSON.stringify(this.summary)) return;
    return this.summary = summary;
  }

  /** Lists the cells of the plan, with what is known of their runs. */
  cells(runs: ReadonlyMap<string, RunEntry>): ShownCell[] {
    return this.#cells.map((cell) => {
      const run = runs.get(cell.id), message = run?.failure ?? "";
      const state = run === undefined
        ? "missing"
        : run.evaluated !== undefined
        ? "finished"
        : run.failure !== undefined
        ? "failed"
        : "unfinished";
      return { ...cell, run, state, message };
    });
  }

  #readPlan(): void {
    this.plan = this.#problem = undefined;
    this.#cells = [];
    try {
      const text = readTextInside(fileIn(this.place, "plan.yaml"));
      checkSize(text);
      this.plan = parsePlan(text, "plan.yaml", "experiment");
      this.#cells = cellsOf(this.plan, ".").map((cell) => {
        const { variant, environment, seed } = cell;
        const name = `${this.place.name}/${cell.dir.slice(2)}`;
        const place = { ...this.place, name: name.replace(/^\//, "") };
        return { variant, environment, seed, id: idOf(place) };
      });
    } catch (error) {
      this.#problem = `plan.yaml: ${problemOf(error)}`;
    }
  }

  #summarize(
    runs: ReadonlyMap<string, RunEntry>,
    isRunning: boolean,
  ): ExperimentSummary {
    const cells = this.cells(runs);
    const count = (state: CellState) =>
      cells.filter((it) => it.state === state).length;
    return {
      id: this.id,
      name: this.place.name,
      root: this.place.root,
      isRunning,
      cells: cells.length,
      finished: count("finished"),
      failed: count("failed"),
      problems: this.#problem === undefined ? [] : [this.#problem],
    };
  }
}

/** Refuses a plan with so many seeds that their list would fill the memory. */
function checkSize(text: string): void {
  const plan = parseYaml(text, { mostValues: MOST_VALUES, schema: "core" });
  const { seeds, environments, variants } = Object(plan);
  const all = Object.values(Object(variants)).map((it) => Object(it));
  const cells = all.reduce((sum: number, it) => {
    const places = it.environments ?? environments;
    const count = Array.isArray(places) ? places.length : 0;
    return sum + count * countOf(it.seeds ?? seeds ?? 10);
  }, countOf(seeds ?? 0));
  if (cells <= MOST_CELLS) return;
  throw new SyntaxError(
    `it has more than ${MOST_CELLS.toLocaleString("en-US")} cells`,
  );
}

/** Counts the seeds that a plan gives as a number, a list or a range. */
function countOf(seeds: unknown): number {
  if (Array.isArray(seeds)) return seeds.length;
  if (typeof seeds === "number") return seeds;
  const [first, last] = String(seeds).split("..").map(Number);
  return last - first + 1 || 0;
}
