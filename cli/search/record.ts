import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  readFileSync,
  writeSync,
} from "node:fs";
import { openPlainSync } from "@bellman/files";
import type { Evaluation } from "../jobs/run_task.ts";
import { UsageError } from "../terminal/errors.ts";

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

  /**
   * Opens a record, which may be a new one. A last line without its end, which a
   * process that was killed has left, is cut off.
   *
   * @param path The file.
   * @param options True where the file is left as it is: another process may write it;
   * and the file, where it is open already.
   * @throws {UsageError} If another line is not as it was written.
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
      const bytes = readFileSync(this.#file);
      const end = bytes.lastIndexOf("\n") + 1;
      const lines = bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
      lines.forEach((line, i) => this.#read(line, i + 1));
      if (!isRead && end < bytes.length) ftruncateSync(this.#file, end);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Trials in the order in which they were asked for. */
  get trials(): readonly Trial[] {
    return this.#trials;
  }

  /** Writes an event to the disk, and then takes it in. */
  append(event: SearchEvent): void {
    const { text, check } = lineOf(event, this.#check);
    let bytes = new TextEncoder().encode(`${text}\n`);
    while (bytes.length > 0) {
      bytes = bytes.subarray(writeSync(this.#file, bytes));
    }
    fsyncSync(this.#file);
    this.#check = check;
    // As a later process reads it.
    this.#take(JSON.parse(JSON.stringify(event)));
  }

  /** Closes the file. */
  close(): void {
    closeSync(this.#file);
  }

  #read(line: string, number: number): void {
    const read = readLine(line, this.#check);
    if (read !== undefined && this.#take(read.event)) {
      this.#check = read.check;
      return;
    }
    throw new UsageError(
      `Cannot use ${this.#path}: line ${number} is not as the search wrote it; restore the file from a copy, or search in another folder with --out`,
    );
  }

  /** Adds an event to the trials; returns false where it cannot follow the others. */
  #take(event: SearchEvent): boolean {
    this.#events.push(event);
    if (event.op === "begin") return this.#events.length === 1;
    if (event.op === "ask") {
      const { trial: number, params } = event;
      this.#trials.push({ number, params, state: "running", evaluations: [] });
      return number === this.#trials.length - 1;
    }
    const trial = this.#trials[event.trial];
    if (trial?.state !== "running") return false;
    if (event.op === "report") {
      const { run, step, value } = event;
      // Another name would be one of every array.
      if (!Number.isSafeInteger(run) || run < 0) return false;
      if (run > trial.evaluations.length) return false;
      (trial.evaluations[run] ??= []).push({ step, value });
      return true;
    }
    const { state, value, message } = event;
    Object.assign(trial, { state, value, message });
    return true;
  }
}
