import { builtin, isStateRecord } from "@bellman/files";
import type { EvaluationResult } from "@bellman/training";
import {
  type CurveRows,
  readCurves,
  type ReadCurvesOptions,
} from "./folder/curves.ts";
import { formerRecord, formerSettings } from "./folder/former_run.ts";
import { readTextInside } from "./folder/inside.ts";
import { type FolderState, kindOfFolder, stateOfRun } from "./folder/list.ts";
import { lockRun } from "./folder/lock.ts";
import {
  MOST_RECORD,
  parseRecord,
  type RunRecord,
  type RunSettings,
  type RunState,
} from "./folder/record.ts";
import { openRunFolder, RunFolder } from "./folder/run_folder.ts";
import type {
  EvaluateRunOptions,
  LoadedRun,
  LoadRunOptions,
} from "./training/load_run.ts";
import type { TrainRunOptions } from "./training/train_run.ts";
import type { RunOutput } from "./training/training_run.ts";

// Looked up where they are used: pages have none.
const fs = () => builtin("node:fs");

/** Options of {@linkcode openRun}. */
export interface OpenRunOptions {
  /**
   * Take code, files and links that the run names outside of the project: whoever made
   * it chose them.
   *
   * @default false
   */
  isTrusted?: boolean;
}

/** Options of {@linkcode Run.resume}. */
export interface ResumeRunOptions extends RunOutput {
  /**
   * Steps of a run that gets more than it had.
   *
   * @default those that it has
   */
  totalTimesteps?: number;
}

/**
 * A run folder: what it holds, and what can be done with it.
 *
 * @example
 * ```ts
 * import { Run } from "@bellman/runs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(new Run("runs/first").folder.recordPath, "runs/first/run.json");
 * ```
 */
export class Run {
  /** Names in its folder. */
  readonly folder: RunFolder;
  readonly #isTrusted: boolean;

  /**
   * Names a run. It is {@linkcode openRun} that looks whether there is one.
   *
   * @param dir Its folder.
   * @param options Trust in whoever made it.
   */
  constructor(dir: string, { isTrusted = false }: OpenRunOptions = {}) {
    this.folder = new RunFolder(dir);
    this.#isTrusted = isTrusted;
  }

  /** Path of its folder. */
  get dir(): string {
    return this.folder.dir;
  }

  /**
   * Its record as it is now: of a run of a former version, out of its other files.
   *
   * @throws {SyntaxError} If it is damaged or edited.
   * @throws {RangeError} If it is of a newer version.
   */
  get record(): RunRecord {
    const record = this.#readRecord();
    if (record !== undefined) return record;
    const { dir, folder: { configPath } } = this;
    const text = readTextInside(fs().realpathSync(dir), configPath);
    return formerRecord({ dir }, formerSettings(text ?? "{}"));
  }

  /** All its settings. */
  get settings(): RunSettings {
    return this.record.settings;
  }

  /**
   * Its state at present: `killed` where its process is gone without a word, `unknown`
   * where its record cannot be read.
   */
  get state(): Promise<FolderState> {
    let state: RunState | undefined;
    try {
      state = this.record.state;
    } catch {
      // Whoever reads the record is told.
    }
    return stateOfRun(this.dir, state);
  }

  /**
   * Reads its curves.
   *
   * @param options First row, number of rows and columns.
   */
  curves(options?: ReadCurvesOptions): CurveRows {
    return readCurves(this.dir, options);
  }

  /**
   * Loads its agent, with the environment that it acts in.
   *
   * @param options Checkpoint, number of environments.
   * @returns The agent; to be closed.
   * @throws {UsageError} If it would import code that is not trusted.
   */
  async load(
    options: Omit<LoadRunOptions, "isTrusted"> = {},
  ): Promise<LoadedRun> {
    const { loadRun } = await import("./training/load_run.ts");
    return await loadRun(this.dir, { ...options, isTrusted: this.#isTrusted });
  }

  /**
   * Evaluates its agent on episodes that neither training nor its evaluations used.
   *
   * @param options Checkpoint, episodes, seed.
   * @throws {UsageError} If it would import code that is not trusted.
   */
  async evaluate(
    options: Omit<EvaluateRunOptions, "isTrusted"> = {},
  ): Promise<EvaluationResult> {
    const { evaluateRun } = await import("./training/load_run.ts");
    const isTrusted = this.#isTrusted;
    return await evaluateRun(this.dir, { ...options, isTrusted });
  }

  /**
   * Trains it on from its latest checkpoint.
   *
   * @param options More steps, listeners, and what stops it.
   * @returns Its record.
   * @throws {UsageError} If it has ended, or none of its checkpoints can be restored.
   */
  async resume(
    options: ResumeRunOptions = {},
  ): Promise<RunRecord> {
    const { resumeRun } = await import("./training/resume.ts");
    const { totalTimesteps: steps, ...output } = options;
    const isTrusted = this.#isTrusted;
    return await resumeRun(this.dir, output, { steps, isTrusted });
  }

  /**
   * Removes its folder.
   *
   * @throws {RangeError} If another process trains it, or it holds neither a record nor
   * checkpoints.
   */
  remove(): void {
    const { dir, folder: { checkpointsDir } } = this;
    const isShared = kindOfFolder(dir) === "shared";
    if (!isShared && !fs().existsSync(checkpointsDir) && !this.#hasRecord()) {
      throw new RangeError(
        `Cannot remove ${dir}: it has neither a record nor checkpoints, expected the folder of a run`,
      );
    }
    lockRun(dir).release();
    fs().rmSync(dir, { recursive: true });
  }

  /** Reads its record, which may lead nowhere else; undefined where it has none. */
  #readRecord(): RunRecord | undefined {
    const { recordPath } = this.folder;
    const root = fs().realpathSync(this.dir);
    const text = readTextInside(root, recordPath, { most: MOST_RECORD });
    return text === undefined ? undefined : parseRecord(text, recordPath);
  }

  #hasRecord(): boolean {
    try {
      return this.#readRecord() !== undefined;
    } catch {
      return false;
    }
  }
}

/**
 * Opens the folder of a run: to read its record and curves, and to load, evaluate or
 * resume its agent. No tensor library is loaded before an agent is asked for.
 *
 * @param dir The folder.
 * @param options Trust in whoever made it.
 * @returns The run.
 * @throws {RangeError} If there is none.
 *
 * @example
 * ```ts
 * import { openRun, trainRun } from "@bellman/runs";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/first`;
 * await trainRun({ algorithm: "a2c", totalTimesteps: 400 }, { dir });
 * const run = openRun(dir);
 * assertEquals([run.record.state, run.settings.env], ["ended", "CartPole-v1"]);
 * const { returns } = await run.evaluate({ episodes: 2 });
 * assertEquals(returns.length, 2);
 * ```
 */
export function openRun(dir: string, options: OpenRunOptions = {}): Run {
  const run = new Run(dir, options);
  if (kindOfFolder(dir) === undefined) {
    openRunFolder(dir);
    throw new RangeError(
      `Cannot open run ${dir}: it has neither a record nor checkpoints`,
    );
  }
  return run;
}

/**
 * Trains a new run to its end, and evaluates its last and its best agent.
 *
 * @param settings Settings of the run by name, `algorithm` and `env` among them; others
 * are those of the environment's preset, which `preset` names, or `none`.
 * @param options Folder, listeners, and what stops it.
 * @returns The run; one that was stopped can be resumed.
 * @throws {UsageError} If a setting is not valid, or the folder is taken.
 *
 * @example
 * ```ts
 * import { trainRun } from "@bellman/runs";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/ppo`;
 * const settings = { algorithm: "ppo", numSteps: 64, totalTimesteps: 512 };
 * const { record } = await trainRun(settings, { dir });
 * assertEquals([record.state, record.step], ["ended", 512]);
 * ```
 */
export async function trainRun(
  settings: RunSettings,
  options: TrainRunOptions = {},
): Promise<Run> {
  if (!isStateRecord(settings)) {
    throw new TypeError(
      `Cannot train a run from ${
        JSON.stringify(settings)
      }: expected settings, such as { algorithm: "a2c" }`,
    );
  }
  const { trainRun } = await import("./training/train_run.ts");
  return new Run(await trainRun(settings, options));
}

/**
 * Loads the agent of a run folder, with its environment, normalization and settings.
 * `observationsScaledBy` says whether `env` gives observations that are scaled
 * already.
 *
 * @param dir The run folder.
 * @param options Checkpoint, number of environments, trust.
 * @returns The agent; to be closed.
 * @throws {UsageError} If there is no such run, or it would import code that is not
 * trusted.
 * @throws {RangeError | SyntaxError} If there is no such checkpoint, or none that can
 * be read.
 *
 * @example
 * ```ts
 * import { loadRun, trainRun } from "@bellman/runs";
 * import { evaluate } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/run`;
 * await trainRun({ algorithm: "a2c", totalTimesteps: 400 }, { dir });
 *
 * const { agent, env, config, close } = await loadRun(dir, { numEnvs: 2 });
 * const actor = agent.policy({ deterministic: true, numEnvs: 2 });
 * const { returns } = await evaluate(actor, env, { episodes: 4 });
 * assertEquals([returns.length, config.env], [4, "CartPole-v1"]);
 * close();
 * ```
 */
export async function loadRun(
  dir: string,
  options: LoadRunOptions = {},
): Promise<LoadedRun> {
  const { loadRun } = await import("./training/load_run.ts");
  return await loadRun(dir, options);
}
