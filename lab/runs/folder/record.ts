import {
  builtin,
  isStateRecord,
  openPlainSync,
  replaceFileSync,
} from "@bellman/files";

// Looked up on use: browsers have none.
const fs = () => builtin("node:fs");
const crypto = () => builtin("node:crypto");

/** State of a run, written at each change; a process that dies leaves `running`. */
export type RunState = "running" | "ended" | "stopped" | "failed";

const STATES: readonly unknown[] = ["running", "ended", "stopped", "failed"];
/** Members of a record that are texts, and numbers. */
const TEXTS = ["since", "reason", "begun", "command", "commit", "engine"];
const NUMBERS = ["step", "updates", "episodes", "seconds", "resumes"];

/** Settings of a run by name: JSON values, and numbers that are not finite. */
export type RunSettings = { readonly [name: string]: unknown };

/** Recorded evaluation of a policy. */
export interface RecordedEvaluation {
  /** Environment steps of the policy's training. */
  readonly step: number;
  /** Seed of the episodes. */
  readonly seed: number;
  /** Number of episodes. */
  readonly episodes: number;
  /** Mean of the returns. */
  readonly meanReturn: number;
  /** Fraction of successful episodes. */
  readonly stdReturn: number;
  /**
   * Share of the episodes that reached their goal.
   *
   * @default the environment does not tell
   */
  readonly successRate?: number;
}

/** Recorded checkpoint. */
export interface RecordedCheckpoint {
  /** Environment steps of the checkpoint. */
  readonly step: number;
  /** Path in the run folder. */
  readonly file: string;
  /** SHA-256 of its bytes, from the file itself. */
  readonly sha256: string;
}

/** Record of a run, `run.json`: everything for programs but its curves. */
export interface RunRecord {
  /** State of the run. */
  readonly state: RunState;
  /** Time of the last change of state, in ISO 8601. */
  readonly since: string;
  /**
   * Reason of the state: why a run ended or stopped, or the error message of a failed
   * one.
   *
   * @default none while it runs
   */
  readonly reason?: string;
  /** Start time, in ISO 8601. */
  readonly begun: string;
  /** Environment steps so far, as of the latest checkpoint or evaluation. */
  readonly step: number;
  /** Number of updates so far. */
  readonly updates: number;
  /** Number of episodes so far. */
  readonly episodes: number;
  /** Seconds of training so far, evaluations included. */
  readonly seconds: number;
  /** Number of resumes after its process was killed, or its machine lost. */
  readonly resumes: number;
  /**
   * Command that started it.
   *
   * @default it was started from code
   */
  readonly command?: string;
  /**
   * Commit of the folder where it was trained.
   *
   * @default that is not a repository
   */
  readonly commit?: string;
  /** Description of the engine. */
  readonly engine: string;
  /** Versions of the software that started it, by name. */
  readonly versions: { readonly [name: string]: string };
  /** All settings. */
  readonly settings: RunSettings;
  /** Evaluations during training, and final ones of the last and the best policy. */
  readonly evaluations: {
    readonly during: readonly RecordedEvaluation[];
    readonly last?: RecordedEvaluation;
    readonly best?: RecordedEvaluation;
  };
  /** Checkpoints, oldest first, with the best one last. */
  readonly checkpoints: readonly RecordedCheckpoint[];
}

/** Location of a record: a run folder. */
export interface RecordPlace {
  /** Path of `run.json`. */
  readonly recordPath: string;
}

/** Version of the format. */
const FORMAT = 1;

/** Largest size of a record in bytes: that of a run with some 100,000 evaluations. */
export const MOST_RECORD = 1 << 25;

/** Replaces numbers that JSON lacks with records of their text. */
function replacer(_: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value)
    ? { number: String(value) }
    : value;
}

function reviver(_: string, value: unknown): unknown {
  return isStateRecord(value) && Object.keys(value).join() === "number"
    ? Number(value.number)
    : value;
}

/**
 * Writes a value as JSON, including numbers that JSON lacks.
 *
 * @param value Plain data.
 * @param indent Spaces of each level; by default everything is on one line.
 * @returns Text for {@linkcode fromJson}.
 */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, replacer, indent);
}

/**
 * Parses a result of {@linkcode toJson}.
 *
 * @param text The text.
 * @returns The value.
 * @throws {SyntaxError} If it is not JSON.
 */
export function fromJson(text: string): unknown {
  return JSON.parse(text, reviver);
}

/** Returns the SHA-256 of a record, which detects damage and edits. */
function checksum(record: unknown): string {
  return crypto().createHash("sha256").update(toJson(record)).digest("hex");
}

/**
 * Writes the record of a run atomically.
 *
 * @param folder Folder of the run.
 * @param record The record.
 *
 * @example
 * ```ts
 * import { readRecord, RunFolder, writeRecord } from "@bellman/runs";
 * import { assertEquals } from "@std/assert";
 *
 * const folder = new RunFolder(await Deno.makeTempDir());
 * const now = new Date().toISOString();
 * writeRecord(folder, {
 *   ...{ state: "running", since: now, begun: now, resumes: 0 },
 *   ...{ step: 0, updates: 0, episodes: 0, seconds: 0 },
 *   ...{ engine: "ONNX Runtime", versions: { bellman: "0.1.0" } },
 *   settings: { algorithm: "a2c", env: "CartPole-v1", seed: 1 },
 *   evaluations: { during: [] },
 *   checkpoints: [],
 * });
 * assertEquals(readRecord(folder)?.settings.algorithm, "a2c");
 * ```
 */
export function writeRecord(folder: RecordPlace, record: RunRecord): void {
  const whole = { format: FORMAT, sha256: checksum(record), ...record };
  replaceFileSync(folder.recordPath, `${toJson(whole, 2)}\n`);
}

/**
 * Reads the record of a run.
 *
 * @param folder Folder of the run.
 * @returns Undefined if there is none.
 * @throws {SyntaxError} If it is damaged or edited; one line says so.
 * @throws {RangeError} If a newer version wrote it.
 *
 * @example
 * ```ts
 * import { readRecord, RunFolder } from "@bellman/runs";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * const folder = new RunFolder(await Deno.makeTempDir());
 * assertEquals(readRecord(folder), undefined);
 * await Deno.writeTextFile(folder.recordPath, "{}");
 * assertThrows(() => readRecord(folder), SyntaxError, "is damaged");
 * ```
 */
export function readRecord(folder: RecordPlace): RunRecord | undefined {
  const path = folder.recordPath;
  return fs().existsSync(path) ? parseRecord(readSmall(path), path) : undefined;
}

/**
 * Parses the text of `run.json`.
 *
 * @param text The text.
 * @param path Path of the file, for error messages.
 * @returns The record.
 * @throws {SyntaxError} If it is damaged or edited; one line says so.
 * @throws {RangeError} If a newer version wrote it.
 *
 * @example
 * ```ts
 * import { parseRecord } from "@bellman/runs";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(() => parseRecord("{", "run.json"), SyntaxError, "is damaged");
 * ```
 */
export function parseRecord(text: string, path: string): RunRecord {
  const fail = (why: string): never => {
    throw new SyntaxError(`Cannot read the record ${path}: ${why}`);
  };
  let value: unknown;
  try {
    value = fromJson(text);
  } catch {
    return fail("it is damaged");
  }
  if (!isStateRecord(value)) return fail("it is damaged");
  const { format, sha256, ...record } = value;
  if (typeof format === "number" && format > FORMAT) {
    throw new RangeError(
      `Cannot read the record ${path}: it is of version ${format}, expected up to ${FORMAT}`,
    );
  }
  if (format !== FORMAT) return fail("it is damaged");
  if (sha256 === checksum(record) && isRecord(record)) return record;
  return fail("it is damaged, or was edited");
}

/** Returns true if members have a type, or are missing. */
function have(
  type: "number" | "string",
  value: Record<string, unknown>,
  names: readonly string[],
): boolean {
  return names.every((it) => ["undefined", type].includes(typeof value[it]));
}

/** Returns true for a valid record: a checksum alone proves nothing about untrusted files. */
function isRecord(
  value: Record<string, unknown>,
): value is RunRecord & typeof value {
  const { evaluations, checkpoints, settings, versions } = value;
  const isEvaluation = (entry: unknown) =>
    isStateRecord(entry) && typeof entry.meanReturn === "number" &&
    have("number", entry, [
      "step",
      "seed",
      "episodes",
      "stdReturn",
      "successRate",
    ]);
  const isCheckpoint = (entry: unknown) =>
    isStateRecord(entry) && typeof entry.step === "number" &&
    typeof entry.file === "string" && typeof entry.sha256 === "string";
  if (!isStateRecord(evaluations) || !isStateRecord(settings)) return false;
  const { during, last, best } = evaluations;
  return STATES.includes(value.state) && isStateRecord(versions) &&
    Array.isArray(during) && during.every(isEvaluation) &&
    [last, best].every((it) => it === undefined || isEvaluation(it)) &&
    Array.isArray(checkpoints) && checkpoints.every(isCheckpoint) &&
    have("string", value, TEXTS) &&
    NUMBERS.every((it) =>
      Number.isFinite(value[it]) && value[it] as number >= 0
    );
}

/** Reads a text file, unless it is far too large for a record. */
function readSmall(path: string): string {
  const file = openPlainSync(path, "read");
  try {
    const { size } = fs().fstatSync(file);
    if (size <= MOST_RECORD) return fs().readFileSync(file, "utf8");
    throw new SyntaxError(
      `Cannot read the record ${path}: it has ${size} bytes, expected some thousand`,
    );
  } finally {
    fs().closeSync(file);
  }
}
