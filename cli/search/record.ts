import { createHash } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { namingFile, openPlainSync } from "@bellman/files";
import type { Evaluation } from "../jobs/run_task.ts";
import { UsageError, writeWhole } from "../terminal/errors.ts";

/** Values of the searched settings by name. */
export type Params = Readonly<Record<string, unknown>>;

/** A line of the record. */
export type SearchEvent =
  /** First line: the plan, what draws the trials, and complete scores. */
  | { op: "begin"; plan: unknown; sampler: string; scores: unknown }
  /** A trial was asked for and is to be run. */
  | { op: "ask"; trial: number; params: Params }
  /** A run of a trial was evaluated. */
  | { op: "report"; trial: number; run: number; step: number; value: number }
  /** A trial has ended. */
  | {
    op: "tell";
    trial: number;
    state: "complete" | "pruned" | "failed";
    /** Objective of a complete trial. */
    value?: number;
    /** Last line of a failed one. */
    message?: string;
  };

/** A trial, as the record tells it. */
export interface Trial {
  number: number;
  params: Params;
  state: "running" | "complete" | "pruned" | "failed";
  /** Objective of a complete trial. */
  value?: number;
  /** Last line of a failed one. */
  message?: string;
  /** Evaluations of each of its runs, in the order in which they were begun. */
  evaluations: Evaluation[][];
}

/** Letters of a checksum. */
const CHECK_LENGTH = 16;

/** An event as it is written: its checksum is also that of all lines above. */
interface Line {
  event: SearchEvent;
  text: string;
  check: string;
}

function lineOf(event: SearchEvent, before: string): Line {
  const json = JSON.stringify(event);
  const check = createHash("sha256").update(before + json).digest("hex")
    .slice(0, CHECK_LENGTH);
  return { event, text: `${json.slice(0, -1)},"check":"${check}"}`, check };
}

/** Reads a line; undefined where it is not as it was written. */
function readLine(text: string, before: string): Line | undefined {
  try {
    const { check: _, ...event } = JSON.parse(text);
    const line = lineOf(event, before);
    return line.text === text ? line : undefined;
  } catch {
    return undefined;
  }
}

/** What the first line has, whichever letter of it is damaged. */
const FIRST = /"op":"begin"|,"check":"[0-9a-f]{16}"}$/;

/** Most bytes of a record: that of a million evaluations. */
const MOST_BYTES = 1 << 28;

/**
 * The record of a search, `trials.jsonl`: a line per event, which is on the disk
 * before anything is done about it. Whatever ends the process, the search goes on
 * from this file alone.
 */
export class SearchRecord {
  /** Events, oldest first. */
  readonly events: readonly SearchEvent[];
  #events: SearchEvent[] = [];
  #trials: Trial[] = [];
  #path: string;
  #file: number;
  #check = "";
  #damage: string | undefined;

  /**
   * Opens a record, which may be a new one. A last line without its end, which a
   * process that was killed has left, is cut off; a line that is not as it was written
   * is, with all that follows, and the file as it was stays as `PATH.damaged`.
   *
   * @param path The file.
   * @param options True where the file is left as it is: another process may write it;
   * and the file, where it is open already.
   * @throws {UsageError} If it is no record, or has a second name.
   */
  constructor(
    path: string,
    {
      isRead = false,
      file = openPlainSync(path, isRead ? "read" : "append"),
    }: { isRead?: boolean; file?: number } = {},
  ) {
    this.#path = path;
    this.events = this.#events;
    this.#file = file;
    try {
      const { size } = fstatSync(this.#file);
      if (size > MOST_BYTES) {
        throw new UsageError(
          `Cannot read ${path}: it has ${size} bytes, expected some thousand`,
        );
      }
      const bytes = readFileSync(this.#file);
      const end = this.#readLines(bytes);
      if (isRead) return;
      // Which may be a file of the user's.
      if (fstatSync(this.#file).nlink > 1) {
        throw new UsageError(
          `Cannot use ${path}: it has a second name elsewhere; put a copy in its place`,
        );
      }
      if (end === bytes.length) return;
      if (this.#damage !== undefined) writeWhole(`${path}.damaged`, bytes);
      ftruncateSync(this.#file, end);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Trials in the order in which they were asked for. */
  get trials(): readonly Trial[] {
    return this.#trials;
  }

  /** Line that was damaged when it was opened, if one was. */
  get damage(): string | undefined {
    return this.#damage;
  }

  /** Writes an event to the disk, and then takes it in. */
  append(event: SearchEvent): void {
    const { text, check } = lineOf(event, this.#check);
    namingFile(this.#path, () => {
      writeFileSync(this.#file, `${text}\n`);
      fsyncSync(this.#file);
    });
    this.#check = check;
    // As a later process reads it.
    this.#take(JSON.parse(JSON.stringify(event)));
  }

  /** Closes the file. */
  close(): void {
    closeSync(this.#file);
  }

  /** Reads lines as long as they are as they were written, and returns their end. */
  #readLines(bytes: Uint8Array): number {
    const decoder = new TextDecoder();
    let start = 0, number = 1;
    for (let end; (end = bytes.indexOf(0x0a, start)) >= 0; start = end + 1) {
      const text = decoder.decode(bytes.subarray(start, end));
      const line = readLine(text, this.#check);
      if (line === undefined || !this.#take(line.event)) {
        const problem = `line ${number} is not as the search wrote it`;
        if (number === 1 && !FIRST.test(text)) {
          throw new UsageError(
            `Cannot use ${this.#path}: ${problem}; restore the file from a copy, or search in another folder with --out`,
          );
        }
        this.#damage = problem;
        return start;
      }
      this.#check = line.check;
      number++;
    }
    return start;
  }

  /** Adds an event to the trials, unless it cannot follow the others. */
  #take(event: SearchEvent): boolean {
    const isTaken = this.#follow(event);
    if (isTaken) this.#events.push(event);
    return isTaken;
  }

  #follow(event: SearchEvent): boolean {
    if (event.op === "begin") return this.#events.length === 0;
    if (event.op === "ask") {
      const { trial: number, params } = event;
      if (number !== this.#trials.length) return false;
      this.#trials.push({ number, params, state: "running", evaluations: [] });
      return true;
    }
    const trial = this.#trials[event.trial];
    if (trial?.state !== "running") return false;
    if (event.op === "report") {
      const { run, step, value } = event;
      // Another name would be one of every array.
      if (!Number.isSafeInteger(run) || run < 0) return false;
      if (run > trial.evaluations.length) return false;
      if (!Number.isSafeInteger(step) || !Number.isFinite(value)) return false;
      (trial.evaluations[run] ??= []).push({ step, value });
      return true;
    }
    const { op, state, value, message } = event;
    if (op !== "tell" || !Object.hasOwn(ENDS, state)) return false;
    if (!ENDS[state]({ value, message })) return false;
    Object.assign(trial, { state, value, message });
    return true;
  }
}

/** What is told with the ends of trials. */
const ENDS: Readonly<
  Record<"complete" | "pruned" | "failed", (end: Partial<Trial>) => boolean>
> = {
  complete: ({ value }) => Number.isFinite(value),
  pruned: () => true,
  failed: ({ message }) => typeof message === "string",
};
