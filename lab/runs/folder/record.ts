import {
  builtin,
  isStateRecord,
  openPlainSync,
  replaceFileSync,
} from "@bellman/files";

// Looked up where they are used: pages have none.
const fs = () => builtin("node:fs");
const crypto = () => builtin("node:crypto");

/** State of a run: it is written at each change, and a process that dies leaves `running`. */
export type RunState = "running" | "ended" | "stopped" | "failed";

const STATES: readonly unknown[] = ["running", "ended", "stopped", "failed"];
/** Members of a record that are texts, and that are numbers. */
const TEXTS = ["since", "reason", "begun", "command", "commit", "engine"];
const NUMBERS = ["step", "updates", "episodes", "seconds", "resumes"];

/** Settings of a run by name: what JSON holds, and numbers that are not finite. */
export type RunSettings = { readonly [name: string]: unknown };

/** An evaluation of a policy: whole episodes, all from one seed. */
export interface RecordedEvaluation {
  /** Environment steps that the policy had learned from. */
  readonly step: number;
  /** Seed of the episodes. */
  readonly seed: number;
  /** Number of episodes. */
  readonly episodes: number;
  /** Mean of the returns. */
  readonly meanReturn: number;
  /** Standard deviation of the returns (of the population). */
  readonly stdReturn: number;
  /**
   * Share of the episodes that reached their goal.
   *
   * @default the environment does not tell
   */
  readonly successRate?: number;
}

/** Checkpoint that a record names. */
export interface RecordedCheckpoint {
  /** Environment steps at which it was made. */
  readonly step: number;
  /** Path in the folder of the run. */
  readonly file: string;
  /** SHA-256 of its bytes, as it says itself. */
  readonly sha256: string;
}

/** The record of a run, `run.json`: all that programs read of it but its curves. */
export interface RunRecord {
  /** State of the run. */
  readonly state: RunState;
  /** Time at which it came into this state, in ISO 8601. */
  readonly since: string;
  /**
   * Reason of the state: of one that ended or stopped by what, of one that failed the
   * message.
   *
   * @default none while it runs
   */
  readonly reason?: string;
  /** Time at which it was begun, in ISO 8601. */
  readonly begun: string;
  /** Environment steps so far, as of the latest checkpoint or evaluation. */
  readonly step: number;
  /** Updates so far. */
  readonly updates: number;
  /** Episodes so far. */
  readonly episodes: number;
  /** Seconds of training so far, evaluations included. */
  readonly seconds: number;
  /** Times that it was resumed as its process was killed, or its machine lost. */
  readonly resumes: number;
  /**
   * Command that it was begun with.
   *
   * @default it was begun from code
   */
  readonly command?: string;
  /**
   * Commit of the folder that it was trained in.
   *
   * @default that is no repository
   */
  readonly commit?: string;
  /** Description of the engine. */
  readonly engine: string;
  /** Versions of what it was begun with, by name. */
  readonly versions: { readonly [name: string]: string };
  /** All settings. */
  readonly settings: RunSettings;
  /** Evaluations: those during training, and those of the last and the best policy at the end. */
  readonly evaluations: {
    readonly during: readonly RecordedEvaluation[];
    readonly last?: RecordedEvaluation;
    readonly best?: RecordedEvaluation;
  };
  /** Checkpoints, the oldest first, and the best one at last. */
  readonly checkpoints: readonly RecordedCheckpoint[];
}

/** Place of a record: the folder of a run. */
export interface RecordPlace {
  /** Path of `run.json`. */
  readonly recordPath: string;
}

/** Version of the format. */
const FORMAT = 1;

/** Largest size of a record in bytes: that of a run with some 100,000 evaluations. */
export const MOST_RECORD = 1 << 25;

/** Writes numbers that JSON lacks as records of their text. */
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
 * Writes a value as JSON, numbers that JSON lacks included.
 *
 * @param value Plain values.
 * @param indent Spaces of each level, on lines of its own; by default one line.
 * @returns The text, for {@linkcode fromJson}.
 */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, replacer, indent);
}

/**
 * Reads what {@linkcode toJson} wrote.
 *
 * @param text The text.
 * @returns The value.
 * @throws {SyntaxError} If it is no JSON.
 */
export function fromJson(text: string): unknown {
  return JSON.parse(text, reviver);
}

/** Returns SHA-256 of a record, which shows damage and edits. */
function checksum(record: unknown): string {
  return crypto().createHash("sha256").update(toJson(record)).digest("hex");
}

/**
 * Writes the record of a run in the place of the former one, whole or not at all.
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
 * @returns Undefined where it has none.
 * @throws {SyntaxError} If it is damaged or edited; one line says so.
 * @throws {RangeError} If it is of a newer version.
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
 * Reads a record out of the text of `run.json`.
 *
 * @param text The text.
 * @param path Path of the file, for messages.
 * @returns The record.
 * @throws {SyntaxError} If it is damaged or edited; one line says so.
 * @throws {RangeError} If it is of a newer version.
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

/** True where members have a type, or are left out. */
function have(
  type: "number" | "string",
  value: Record<string, unknown>,
  names: readonly string[],
): boolean {
  return names.every((it) => ["undefined", type].includes(typeof value[it]));
}

/** True for what a checksum alone does not tell: somebody else may have made it. */
function isRecord(
  value: Record<string, unknown>,
): value is RunRecord & typeof value {
  const { evaluations, checkpoints, settings, versions } = value;
  const isEvaluation = (it: unknown) =>
    isStateRecord(it) && typeof it.meanReturn === "number" &&
    have("number", it, [
      "step",
      "seed",
      "episodes",
      "stdReturn",
      "successRate",
    ]);
  const isCheckpoint = (it: unknown) =>
    isStateRecord(it) && typeof it.step === "number" &&
    typeof it.file === "string" && typeof it.sha256 === "string";
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
