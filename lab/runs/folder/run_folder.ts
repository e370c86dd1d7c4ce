import { builtin, namingFile, syncFolder } from "@bellman/files";
import { type RunRecord, writeRecord } from "./record.ts";

// Looked up on use: browsers have none.
const fs = () => builtin("node:fs");
const paths = () => builtin("node:path");

/** Name of the lock file of a run. */
export const LOCK_FILE = "run.lock";

/**
 * Names in the folder of a run. Creating one touches nothing on the disk:
 * see {@link createRunFolder} and {@link openRunFolder}.
 *
 * | path | what it holds |
 * |---|---|
 * | `run.json` | the record of the run, which programs read |
 * | `config.yaml` | all settings, for people and `train --config` |
 * | `progress.csv` | a row every `logInterval` steps, one at the end, and one per evaluation |
 * | `episodes.csv` | a row per ended episode |
 * | `events.out.tfevents.*` | the rows for TensorBoard |
 * | `checkpoints/` | see {@link CheckpointStore} |
 * | `run.lock` | the process that trains it at present |
 * | `plots/` | images of the agent |
 * | `videos/` | episodes of the agent |
 * | `policy.onnx` | the trained policy; `policy.ROLE.onnx` in games with one of each role |
 * | `report.html` | curves |
 *
 * @example
 * ```ts
 * import { RunFolder } from "@bellman/runs";
 * import { assertEquals } from "@std/assert";
 *
 * const folder = new RunFolder("runs/first");
 * assertEquals(folder.progressPath, "runs/first/progress.csv");
 * ```
 */
export class RunFolder {
  /** Path of the folder. */
  readonly dir: string;
  /** Path of the record. */
  readonly recordPath: string;
  /** Path of the settings, for people to read and edit. */
  readonly configPath: string;
  /** Path of the log: rows of updates and evaluations. */
  readonly progressPath: string;
  /** Path of the finished episodes. */
  readonly episodesPath: string;
  /** Path of the report with curves. */
  readonly reportPath: string;
  /** Path of the replay buffer, if it is in a file. */
  readonly replayPath: string;
  /** Path of the trained policy, as an ONNX file. */
  readonly policyPath: string;
  /** Folder of the checkpoints. */
  readonly checkpointsDir: string;
  /** Folder of images of the agent. */
  readonly plotsDir: string;
  /** Folder of videos of the agent. */
  readonly videosDir: string;
  /** Folder of TensorBoard's event files. */
  readonly eventsDir: string;

  /**
   * Creates the paths of a run folder.
   *
   * @param dir Run folder.
   */
  constructor(dir: string) {
    this.dir = dir;
    this.recordPath = paths().join(dir, "run.json");
    this.configPath = paths().join(dir, "config.yaml");
    this.progressPath = paths().join(dir, "progress.csv");
    this.episodesPath = paths().join(dir, "episodes.csv");
    this.reportPath = paths().join(dir, "report.html");
    this.replayPath = paths().join(dir, "replay.rows");
    this.policyPath = paths().join(dir, "policy.onnx");
    this.checkpointsDir = paths().join(dir, "checkpoints");
    this.plotsDir = paths().join(dir, "plots");
    this.videosDir = paths().join(dir, "videos");
    this.eventsDir = dir;
  }
}

/** Options of {@link createRunFolder}. */
export interface CreateRunFolderOptions {
  /**
   * Content of `config.yaml`.
   *
   * @default none is written
   */
  configText?: string;
  /**
   * Record of the new run.
   *
   * @default none is written
   */
  record?: RunRecord;
  /**
   * If the folder is in use, throw (`error`), or add the next free number to its name
   * (`next`): `runs/first-2`.
   *
   * @default "error"
   */
  ifTaken?: "error" | "next";
}

/**
 * Creates the folder of a new run. If several processes create the same one, exactly
 * one succeeds.
 *
 * @param dir Folder; it may exist if it is empty.
 * @param options Configuration, record, and handling of a folder in use.
 * @returns Paths in the folder.
 * @throws {RangeError} If the folder is not empty: a run is never overwritten.
 *
 * @example
 * ```ts
 * import { createRunFolder } from "@bellman/runs";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir() + "/first";
 * const folder = createRunFolder(dir, { configText: "seed: 1\n" });
 * assertEquals(await Deno.readTextFile(folder.configPath), "seed: 1\n");
 * assertThrows(() => createRunFolder(dir), RangeError, "already holds a run");
 * assertEquals(createRunFolder(dir, { ifTaken: "next" }).dir, `${dir}-2`);
 * ```
 */
export function createRunFolder(
  dir: string,
  options: CreateRunFolderOptions = {},
): RunFolder {
  const { ifTaken = "error" } = options;
  checkFolders(dir);
  fs().mkdirSync(paths().dirname(dir), { recursive: true });
  const numbered = dir.replace(/[/\\]+$/, "");
  let folder = new RunFolder(dir);
  for (let n = 2; !claim(folder, options); n++) {
    if (ifTaken === "error") {
      throw new RangeError(
        `Cannot create run ${dir}: the folder ${
          fs().existsSync(folder.configPath)
            ? "already holds a run"
            : "is not empty"
        }, wanted a new one`,
      );
    }
    folder = new RunFolder(`${numbered}-${n}`);
  }
  return folder;
}

/** Throws if the folder, or one above it, is a file. */
function checkFolders(dir: string): void {
  let path = dir;
  while (!fs().existsSync(path) && paths().dirname(path) !== path) {
    path = paths().dirname(path);
  }
  if (!fs().existsSync(path) || fs().statSync(path).isDirectory()) return;
  throw new RangeError(
    `Cannot create run ${dir}: ${path} is a file, wanted a folder`,
  );
}

/** Creates a folder with its configuration, unless another process did. */
function claim(
  folder: RunFolder,
  { configText, record, ifTaken }: CreateRunFolderOptions,
): boolean {
  const { dir, configPath } = folder;
  const isNew = succeeds(() => fs().mkdirSync(dir));
  // The starting process may hold its lock already.
  const isTaken = () =>
    fs().readdirSync(dir).some((name) => name !== LOCK_FILE);
  if (!isNew && (ifTaken === "next" || isTaken())) return false;
  if (configText === undefined) return true;
  let file = -1;
  if (!succeeds(() => file = fs().openSync(configPath, "wx"))) return false;
  try {
    namingFile(configPath, () => {
      fs().writeFileSync(file, configText);
      fs().fsyncSync(file);
    });
    if (record !== undefined) writeRecord(folder, record);
  } catch (error) {
    fs().rmSync(configPath);
    if (isNew) fs().rmdirSync(dir);
    throw error;
  } finally {
    fs().closeSync(file);
  }
  syncFolder(dir);
  return true;
}

/** Creates something that must not exist yet; returns false if it does. */
function succeeds(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * Opens an existing run folder.
 *
 * @param dir The folder.
 * @returns Paths in the folder.
 * @throws {RangeError} If there is no run.
 *
 * @example
 * ```ts
 * import { openRunFolder } from "@bellman/runs";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(
 *   () => openRunFolder("runs/missing"),
 *   RangeError,
 *   "Cannot open run runs/missing: there is no such folder",
 * );
 * ```
 */
export function openRunFolder(dir: string): RunFolder {
  const folder = new RunFolder(dir);
  if (!fs().existsSync(folder.configPath)) {
    throw new RangeError(
      `Cannot open run ${dir}: ${
        fs().existsSync(dir)
          ? "it has no config.yaml"
          : "there is no such folder"
      }`,
    );
  }
  return folder;
}
