import { holderOf, LOCK_FILE } from "@bellman/runs";
import {
  inPlaces,
  makeTask,
  type RunEvent,
  type RunTask,
  type StartRun,
} from "@bellman/runs/tasks";
import { gibibytes, machineMemory } from "@bellman/runs/training";
import {
  type Cell,
  type CellResult,
  nameOf,
  readCell,
  recordFailure,
} from "./cells.ts";
import { keyOf } from "./settings.ts";

/** Cell with a running job. */
export interface RunningCell {
  /** State of the cell before the job. */
  cell: CellResult;
  /** Saves and stops it. */
  leave(): void;
  /** Environment steps so far. */
  steps: number;
  /** Environment steps per second. */
  rate: number;
  /** Bytes of memory; 0 if not known yet. */
  memory: number;
  /** True if it was stopped to free memory for others. */
  isLeaving?: boolean;
  /** Start of the measurement of its rate. */
  first?: { time: number; step: number };
}

/** Options of {@linkcode CellDriver}. */
export interface DriverOptions {
  /** Cells to run. */
  waiting: readonly CellResult[];
  /** Number of cells to run at a time. */
  jobs: number;
  /** Makes the task of a cell. */
  taskOf: (cell: Cell) => RunTask;
  /** Returns the environment steps of a cell's training. */
  stepsOf: (cell: Cell) => number;
  /** Receives the progress of a cell's job. */
  onEvent?: (cell: CellResult, event: RunEvent) => void;
  /** Called when the job of a cell has ended. */
  onEnd: (cell: CellResult) => void;
  /** Receives lines for the user. */
  onNotice: (line: string) => void;
  /** Stops all cells. */
  signal: AbortSignal;
  /** Bytes of memory for cells; those of the machine by default. */
  memory?: number;
  /** Starts the job of a cell; in a process of this machine by default. */
  start?: StartRun;
}

/** Milliseconds between two checks of cells that other processes run. */
const INTERVAL_MS = 200;

/**
 * Runs the unfinished cells of an experiment, each in a job.
 *
 * @example
 * ```ts
 * import { CellDriver, readCell } from "@bellman/experiments";
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/runs/a2c/CartPole-v1/seed-0`;
 * const cells = [{ variant: "a2c", environment: "CartPole-v1", seed: 0, dir }]
 *   .map(readCell);
 * const settings = resolveConfig("a2c", { entries: [["totalTimesteps", 100]] });
 * const driver = new CellDriver(cells, {
 *   ...{ waiting: cells, jobs: 1, signal: new AbortController().signal },
 *   taskOf: ({ dir }) => ({ dir, settings, episodes: 2 }),
 *   stepsOf: () => 100,
 *   onEnd: () => {},
 *   onNotice: console.error,
 * });
 * await driver.run();
 * assertEquals(driver.cells[0].state, "finished");
 * ```
 */
export class CellDriver {
  readonly #options: DriverOptions;
  /** All cells, in the order of the plan. */
  readonly #cells: CellResult[];
  /** Cells to run, in the order of the plan. */
  readonly #waiting: CellResult[];
  readonly #running = new Set<RunningCell>();
  /** Cells of other processes that the user was told about. */
  readonly #held = new Set<string>();
  /** Index of each seed in the plan. */
  readonly #ranks: ReadonlyMap<number, number>;
  readonly #memory: number;
  #jobs: number;

  /**
   * Creates a driver.
   *
   * @param cells All cells of the experiment.
   * @param options Cells to run, number of jobs, and receivers.
   */
  constructor(cells: readonly CellResult[], options: DriverOptions) {
    this.#cells = [...cells];
    this.#waiting = [...options.waiting];
    this.#options = options;
    this.#jobs = options.jobs;
    const seeds = [...new Set(cells.map(({ seed }) => seed))];
    this.#ranks = new Map(seeds.map((seed, rank) => [seed, rank]));
    this.#memory = options.memory ?? machineMemory() ?? Infinity;
  }

  /** All cells with their current results. */
  get cells(): readonly CellResult[] {
    return this.#cells;
  }

  /** Cells with running jobs. */
  get running(): ReadonlySet<RunningCell> {
    return this.#running;
  }

  /**
   * Runs the cells until all have ended, or the signal stops them.
   *
   * @throws {DiskFull} If the disk is full: the others would fail too.
   */
  run(): Promise<void> {
    const { jobs, signal } = this.#options;
    const places = Math.min(jobs, this.#waiting.length);
    return inPlaces(places, async (_, signal) => {
      for (;;) {
        const cell = await this.#next(signal);
        if (cell === undefined) return;
        await this.#runCell(cell, signal);
      }
    }, signal);
  }

  /** Estimates the seconds until all cells are finished; undefined while unknown. */
  secondsLeft(): number | undefined {
    const expected = this.#expectedSeconds();
    const left = [
      ...this.#waiting.map((cell) => expected.get(keyOf(cell))),
      ...[...this.#running].map(({ cell, steps, rate }) =>
        rate > 0 ? (this.#options.stepsOf(cell) - steps) / rate : undefined
      ),
    ];
    const known = left.filter((it) => it !== undefined);
    if (known.length === 0) return left.length === 0 ? 0 : undefined;
    const mean = known.reduce((sum, it) => sum + it, 0) / known.length;
    return mean * left.length / Math.min(this.#jobs, left.length);
  }

  /**
   * Mean seconds of finished cells by variant and environment; for others, estimates
   * from running ones.
   */
  #expectedSeconds(): ReadonlyMap<string, number> {
    const running = [...this.#running].filter(({ rate }) => rate > 0);
    const expected = new Map(
      running.map(({ cell, rate }) => [
        keyOf(cell),
        this.#options.stepsOf(cell) / rate,
      ]),
    );
    const finished = this.#cells.filter(({ state }) => state === "finished");
    for (const [key, alike] of Map.groupBy(finished, keyOf)) {
      const sum = alike.reduce((sum, { seconds }) => sum + seconds, 0);
      expected.set(key, sum / alike.length);
    }
    return expected;
  }

  /** Takes the next cell: of the first seed, the longest that no other process runs. */
  async #next(signal: AbortSignal): Promise<CellResult | undefined> {
    while (this.#waiting.length > 0 && !signal.aborted) {
      const cell = this.#running.size < this.#jobs
        ? this.#ordered().find((it) => !this.#isHeld(it))
        : undefined;
      if (cell !== undefined) {
        this.#waiting.splice(this.#waiting.indexOf(cell), 1);
        return cell;
      }
      await new Promise((resolve) => setTimeout(resolve, INTERVAL_MS));
    }
  }

  /** Waiting cells, of each seed the longest first; unknown ones may be long. */
  #ordered(): CellResult[] {
    const expected = this.#expectedSeconds();
    const secondsOf = (cell: CellResult) => expected.get(keyOf(cell)) ?? 1e300;
    return this.#waiting.toSorted((a, b) =>
      this.#ranks.get(a.seed)! - this.#ranks.get(b.seed)! ||
      secondsOf(b) - secondsOf(a)
    );
  }

  /** Returns true if another process runs a cell, such as a job of a dead driver. */
  #isHeld(cell: CellResult): boolean {
    const holder = holderOf(`${cell.dir}/${LOCK_FILE}`);
    const name = nameOf(cell);
    if (holder !== undefined && !this.#held.has(name)) {
      this.#held.add(name);
      this.#options.onNotice(`Waiting for ${name}, which ${holder} has`);
    }
    return holder !== undefined;
  }

  async #runCell(cell: CellResult, signal: AbortSignal): Promise<void> {
    const { start, taskOf, onNotice } = this.#options;
    const leave = new AbortController();
    const running: RunningCell = {
      ...{ cell, steps: cell.steps, rate: 0, memory: 0 },
      leave: () => leave.abort(),
    };
    this.#running.add(running);
    const end = await makeTask(taskOf(cell), {
      signal: AbortSignal.any([signal, leave.signal]),
      onEvent: (event) => this.#hear(running, event),
      // In the order of tables.
      onNotice: (line) => onNotice(line.replaceAll(cell.dir, nameOf(cell))),
      start,
    }).finally(() => this.#running.delete(running));
    if (end === "done") return this.#record(readCell(cell));
    if (typeof end === "object") return this.#fail(cell, end.message);
    if (signal.aborted) return this.#keep(readCell(cell));
    // To free memory for others.
    this.#waiting.unshift(readCell(cell));
  }

  #hear(running: RunningCell, event: RunEvent): void {
    const { step, memory, lost } = event;
    this.#options.onEvent?.(running.cell, event);
    if (lost !== undefined) running.first = undefined;
    if (memory !== undefined) {
      running.memory = memory;
      this.#fit();
    }
    if (step === undefined) return;
    const time = performance.now();
    running.steps = step;
    running.first ??= { time, step };
    const { first } = running;
    if (time === first.time) return;
    running.rate = 1000 * (step - first.step) / (time - first.time);
  }

  #fail(cell: CellResult, message: string): void {
    recordFailure(this.#options.taskOf(cell), message);
    this.#record(readCell(cell));
  }

  #keep(cell: CellResult): void {
    const at = this.#cells.findIndex(({ dir }) => dir === cell.dir);
    this.#cells[at] = cell;
  }

  #record(cell: CellResult): void {
    this.#keep(cell);
    this.#options.onEnd(cell);
  }

  /** Stops the latest cell if all together exceed the memory. */
  #fit(): void {
    const staying = [...this.#running].filter((it) => !it.isLeaving);
    const taken = staying.reduce((sum, it) => sum + it.memory, 0);
    if (taken <= this.#memory || staying.length < 2) return;
    this.#jobs = Math.min(this.#jobs, staying.length - 1);
    this.#options.onNotice(
      `The ${staying.length} cells at a time take ${
        gibibytes(taken)
      } of memory, of ${
        gibibytes(this.#memory)
      }: --jobs ${this.#jobs} from now on`,
    );
    const latest = staying.at(-1)!;
    latest.isLeaving = true;
    latest.leave();
  }
}
