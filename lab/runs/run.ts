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

// Looked up on use: browsers have none.
const fs = () => builtin("node:fs");

/** Options of {@linkcode openRun}. */
export interface OpenRunOptions {
  /**
   * Accept code, files and links from outside of the project that the run names: its
   * author chose them.
   *
   * @default false
   */
  isTrusted?: boolean;
}

/** Options of {@linkcode Run.resume}. */
export interface ResumeRunOptions extends RunOutput {
  /**
   * New length of a run that is prolonged, in environment steps.
   *
   * @default the run's own
   */
  totalTimesteps?: number;
}

/**
 * Run folder, with its contents and operations.
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
  /** Paths in its folder. */
  readonly folder: RunFolder;
  readonly #isTrusted: boolean;

  /**
   * Creates a run without reading its folder; {@linkcode openRun} checks that it
   * exists.
   *
   * @param dir Folder of the run.
   * @param options Trust in the run's author.
   */
  constructor(dir: string, { isTrusted = false }: OpenRunOptions = {}) {
    this.folder = new RunFolder(dir);
    this.#isTrusted = isTrusted;
  }

  /** Path of the run folder. */
  get dir(): string {
    return this.folder.dir;
  }

  /**
   * Current record; for a run of an older version made from its other files.
   *
   * @throws {SyntaxError} If it is damaged or edited.
   * @throws {RangeError} If a newer version wrote it.
   */
  get record(): RunRecord {
    const record = this.#readRecord();
    if (record !== undefined) return record;
    const { dir, folder: { configPath } } = this;
    const text = readTextInside(fs().realpathSync(dir), configPath);
    return formerRecord({ dir }, formerSettings(text ?? "{}"));
  }

  /** Settings of the run. */
  get settings(): RunSettings {
    return this.record.settings;
  }

  /** Current state: `killed` if its process died, `unknown` if its record cannot be read. */
  get state(): Promise<FolderState> {
    let state: RunState | undefined;
    try {
      state = this.record.state;
    } catch {
      // Readers of the record get the error.
    }
    return stateOfRun(this.dir, state);
  }

  /**
   * Reads its learning curves.
   *
   * @param options First row, number of rows and columns.
   */
  curves(options?: ReadCurvesOptions): CurveRows {
    return readCurves(this.dir, options);
  }

  /**
   * Loads its agent with the environment.
   *
   * @param options Checkpoint, number of environments.
   * @returns The agent; close it after use.
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
   * Continues its training from the latest checkpoint.
   *
   * @param options More steps, output, abort signal.
   * @returns Final record.
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
   * Deletes its folder.
   *
   * @throws {RangeError} If another process is training it, or the folder contains
   * neither a record nor checkpoints.
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

  /**
   * Reads its record, which must not be a link out of the folder; undefined if there is
   * none.
   */
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
 * Opens a run folder, to read its record and curves, and to load, evaluate or resume
 * its agent. No tensor library is loaded before an agent is.
 *
 * @param dir Folder of the run.
 * @param options Trust in the run's author.
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
 * @param settings Settings by name, including `algorithm` and `env`; others default to
 * the environment's preset, or the one that `preset` names (`none` for none).
 * @param options Folder, output, abort signal.
 * @returns The run; one that was stopped can be resumed.
 * @throws {UsageError} If a setting is not valid, or the folder is in use.
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
 * `observationsScaledBy` tells whether `env` already returns normalized observations.
 *
 * @param dir Run folder.
 * @param options Checkpoint, number of environments, trust.
 * @returns The agent; close it after use.
 * @throws {UsageError} If there is no such run, or it would import code that is not
 * trusted.
 * @throws {RangeError | SyntaxError} If there is no such checkpoint, or none is
 * readable.
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
