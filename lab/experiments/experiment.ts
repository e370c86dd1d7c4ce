import { checkDeno } from "@bellman/files";
import type { Entry, RunCluster } from "@bellman/runs/settings";
import { messageOf, UsageError, writeWhole } from "@bellman/runs/program";
import { checkCarried, ClusterRuns } from "@bellman/runs/ray";
import { checkJobs } from "@bellman/runs/tasks";
import {
  type CellResult,
  cellsOf,
  chosenCells,
  readCell,
  resultsCsv,
  type Shard,
} from "./cells.ts";
import { CellDriver, type RunningCell } from "./driver.ts";
import {
  checkFolder,
  keepPlan,
  lockExperiment,
  RESULTS_FILE,
} from "./folder.ts";
import { type Plan, type PlanObject, planOf } from "./plan.ts";
import type { ExperimentReport } from "./report.ts";
import {
  checkFit,
  checkUnchanged,
  keyOf,
  type PlanSettings,
  resolveSettings,
  taskOf,
} from "./settings.ts";

/** Options of {@linkcode Experiment.open}. */
export interface ExperimentOptions {
  /**
   * Folder of the experiment; the same one resumes it.
   *
   * @default "experiments/NAME"
   */
  dir?: string;
  /** Path of the plan's file; files beside it are not trusted. */
  path?: string;
  /** Settings of all cells, which override the plan's. */
  set?: readonly Entry[];
  /** Pattern of the names of cells to run, such as `a2c/CartPole*`. */
  only?: string;
  /** Part of the cells to run here, for one of several machines. */
  shard?: Shard;
  /**
   * Number of cells to run at a time.
   *
   * @default the number of the machine's cores, or of the cluster's places
   */
  jobs?: number;
  /** Cluster to run the cells on. */
  cluster?: RunCluster;
  /**
   * Accept code and files from outside of the project that the plan names.
   *
   * @default false
   */
  isTrusted?: boolean;
  /**
   * Receives lines for the user.
   *
   * @default they are dropped
   */
  onNotice?: (line: string) => void;
}

/** Options of {@linkcode Experiment.run}. */
export interface RunExperimentOptions {
  /**
   * Run failed cells again.
   *
   * @default false
   */
  retry?: boolean;
  /** Saves and stops all cells. */
  signal?: AbortSignal;
  /** Called before the first cell, with the waiting cells and the number of cells at a time. */
  onBegin?: (waiting: readonly CellResult[], places: number) => void;
  /** Receives each cell that has ended. */
  onCell?: (cell: CellResult) => void;
}

/** Progress of an experiment. */
export interface ExperimentProgress {
  /** All cells with their current results. */
  cells: readonly CellResult[];
  /** Running cells. */
  running: Iterable<RunningCell>;
  /**
   * Estimated seconds until all are finished.
   *
   * @default unknown yet
   */
  secondsLeft?: number;
}

/**
 * Experiment with a validated plan; nothing is written before it runs.
 *
 * @example
 * ```ts
 * import { Experiment, nameOf, planOf } from "@bellman/experiments";
 * import { assertEquals } from "@std/assert";
 *
 * const plan = planOf({
 *   environments: ["CartPole-v1", "Acrobot-v1"],
 *   seeds: 2,
 *   variants: { a2c: {}, ppo: {} },
 * }, "compared");
 * const dir = `${await Deno.makeTempDir()}/compared`;
 * const { cells, chosen } = await Experiment.open(plan, {
 *   dir,
 *   only: "ppo/Acrobot-v1/seed-1",
 * });
 * assertEquals(cells.length, 8);
 * assertEquals(chosen.map(nameOf), ["ppo/Acrobot-v1/seed-1"]);
 * ```
 */
export class Experiment {
  /** Plan of the experiment. */
  readonly plan: Plan;
  /** Folder of the experiment. */
  readonly dir: string;
  /** Settings of the cells, by variant and environment. */
  readonly settings: PlanSettings;
  /** Selected cells. */
  readonly chosen: readonly CellResult[];
  readonly #options: ExperimentOptions;
  readonly #onNotice: (line: string) => void;
  #cells: readonly CellResult[];
  #driver: CellDriver | undefined;

  private constructor(
    plan: Plan,
    options: ExperimentOptions & { dir: string },
    { settings, cells, chosen }: {
      settings: PlanSettings;
      cells: readonly CellResult[];
      chosen: readonly CellResult[];
    },
  ) {
    this.plan = plan;
    this.dir = options.dir;
    this.settings = settings;
    this.chosen = chosen;
    this.#cells = cells;
    this.#options = options;
    this.#onNotice = options.onNotice ?? (() => {});
  }

  /**
   * Validates a plan with its settings and environments, and reads the folder.
   *
   * @param plan The plan.
   * @param options Folder, selected cells, trust.
   * @throws {UsageError} If a setting is not valid, code is not trusted, or the folder
   * contains something else.
   */
  static async open(
    plan: Plan,
    options: ExperimentOptions = {},
  ): Promise<Experiment> {
    const { dir = `experiments/${plan.name}`, only, shard } = options;
    const { path, cluster, isTrusted = false, onNotice = () => {} } = options;
    const planned = cellsOf(plan, dir);
    const chosen = new Set(chosenCells(planned, { only, shard }));
    checkFolder(dir);
    const { jobs = navigator.hardwareConcurrency } = options;
    checkJobs(jobs);
    const settings = await resolveSettings(plan, {
      ...{ set: options.set ?? [], isTrusted, path },
      threads: cluster?.cpusPerRun ?? (jobs > 1 ? 1 : undefined),
      wanted: new Set([...chosen].map(keyOf)),
    }, onNotice);
    const cells = planned.map(readCell);
    checkUnchanged(cells, settings, plan);
    const selected = cells.filter((_, i) => chosen.has(planned[i]));
    const parts = { settings, cells, chosen: selected };
    return new Experiment(plan, { ...options, dir }, parts);
  }

  /** All cells with their current results. */
  get cells(): readonly CellResult[] {
    return this.#driver?.cells ?? this.#cells;
  }

  /** Path of the results as CSV. */
  get resultsPath(): string {
    return `${this.dir}/${RESULTS_FILE}`;
  }

  /** Progress of the experiment. */
  get progress(): ExperimentProgress {
    return {
      cells: this.cells,
      running: this.#driver?.running ?? [],
      secondsLeft: this.#driver?.secondsLeft(),
    };
  }

  /**
   * Runs the unfinished cells.
   *
   * @param options Receivers, and abort signal.
   * @throws {UsageError} If another process runs them, or a setting does not fit its
   * environment.
   * @throws {DiskFull} If the disk is full.
   */
  async run(options: RunExperimentOptions = {}): Promise<void> {
    const { retry = false, signal = new AbortController().signal } = options;
    const { dir, plan, settings } = this;
    const { cluster, shard, isTrusted = false } = this.#options;
    const states = ["missing", "unfinished", ...retry ? ["failed"] : []];
    const waiting = this.chosen.filter((it) => states.includes(it.state));
    if (waiting.length > 0) checkDeno("run experiments");
    for (const cell of waiting) {
      checkCarried(settings.get(keyOf(cell))!.config, cluster);
    }
    await checkFit(waiting, settings, this.#onNotice);
    const runs = cluster === undefined || waiting.length === 0
      ? undefined
      : await ClusterRuns.open({ ...cluster, onNotice: this.#onNotice });
    const lock = lockExperiment(dir, shard);
    try {
      keepPlan(dir, plan);
      const { episodes } = plan;
      const here = navigator.hardwareConcurrency;
      const jobs = this.#options.jobs ?? runs?.places ?? here;
      this.#driver = new CellDriver(this.#cells, {
        waiting,
        jobs,
        taskOf: (cell) => taskOf(cell, { settings, episodes, isTrusted }),
        stepsOf: (cell) => settings.get(keyOf(cell))!.config.totalTimesteps,
        onEnd: (cell) => {
          this.#writeResults();
          options.onCell?.(cell);
        },
        onNotice: this.#onNotice,
        signal,
        ...runs === undefined ? {} : { start: runs.start, memory: Infinity },
      });
      if (waiting.length > 0) {
        options.onBegin?.(waiting, Math.min(jobs, waiting.length));
      }
      await this.#driver.run();
      this.#writeResults();
    } finally {
      await runs?.close();
      lock.release();
    }
  }

  /** Writes the results; a full disk does not affect the cells. */
  #writeResults(): void {
    try {
      writeWhole(this.resultsPath, resultsCsv(this.cells));
    } catch (error) {
      this.#onNotice(messageOf(error));
    }
  }

  /**
   * Computes figures and tables of the current results.
   *
   * @param signal Aborts the measurement of random actions.
   * @throws {UsageError} If no cell has begun.
   */
  async report(signal?: AbortSignal): Promise<ExperimentReport> {
    const { dir, plan, cells, settings } = this;
    const begun = cells.filter(({ state }) => state !== "missing");
    if (begun.length === 0) {
      throw new UsageError(`Cannot report ${dir}: none of its cells has begun`);
    }
    // Figures take a second to load.
    const { reportOf } = await import("./report.ts");
    const configs = new Map(
      begun.map((it) => [it.environment, settings.get(keyOf(it))!.config]),
    );
    const options = { configs, onNotice: this.#onNotice, signal };
    return await reportOf({ plan, dir, cells }, options);
  }

  /**
   * Writes `results.csv`, `report.html`, figures and tables of the current results.
   *
   * @param report Report that was already computed.
   * @returns Path of the page.
   */
  async writeReport(report?: ExperimentReport): Promise<string> {
    const { writeExperimentReport } = await import("./report.ts");
    const whole = report ?? await this.report();
    this.#writeResults();
    return writeExperimentReport(this.dir, whole);
  }
}

/** Result of an experiment. */
export interface ExperimentResult {
  /** Final cells, one for each variant, environment and seed. */
  cells: readonly CellResult[];
  /**
   * Path of the report.
   *
   * @default the experiment was stopped
   */
  report?: string;
}

/**
 * Trains and evaluates all variants of a plan, each seed in a separate process, and
 * writes a report. Calling it again with the same folder resumes the experiment.
 *
 * @param plan Plan, as in `plan.yaml`, with a name.
 * @param options Folder, number of runs at a time, receivers.
 * @throws {UsageError} If the plan or a setting is not valid.
 *
 * @example
 * ```ts
 * import { runExperiment } from "@bellman/experiments";
 * import { assertEquals } from "@std/assert";
 *
 * const plan = {
 *   ...{ name: "first", environments: ["CartPole-v1"], seeds: [7], steps: 100 },
 *   ...{ episodes: 2, variants: { a2c: {} } },
 * };
 * const dir = `${await Deno.makeTempDir()}/first`;
 * const { cells: [{ seed, last }], report } = await runExperiment(plan, { dir });
 * assertEquals([seed, last?.episodes, report], [7, 2, `${dir}/report.html`]);
 * ```
 */
export async function runExperiment(
  plan: PlanObject & { name: string },
  options: ExperimentOptions & RunExperimentOptions = {},
): Promise<ExperimentResult> {
  const experiment = await Experiment.open(planOf(plan, plan.name), options);
  await experiment.run(options);
  const { cells } = experiment;
  if (options.signal?.aborted) return { cells };
  const report = await experiment.report(options.signal);
  return { cells, report: await experiment.writeReport(report) };
}
