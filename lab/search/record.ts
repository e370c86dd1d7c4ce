import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { namingFile, openPlainSync } from "@bellman/files";
import type { Evaluation } from "@bellman/runs/tasks";
import { UsageError, writeWhole } from "@bellman/runs/program";
import { isInSpace, type Space } from "./space.ts";

/** Values of the searched settings by name. */
export type Params = Readonly<Record<string, unknown>>;

/** First line of a record: plan, sampler and score scales. */
type Begin = { op: "begin"; plan: unknown; sampler: string; scores: unknown };

/** Line of the record. */
export type SearchEvent =
  | Begin
  /** A trial was sampled. */
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
    /** Error message of a failed one. */
    message?: string;
  };

/** Trial of a search. */
export interface Trial {
  /** Number of the trial, from 0; the first has the settings without a search. */
  number: number;
  /** Values of the searched settings. */
  params: Params;
  /** State of the trial. */
  state: "running" | "complete" | "pruned" | "failed";
  /** Objective of a complete trial. */
  value?: number;
  /** Error message of a failed trial. */
  message?: string;
  /** Evaluations of each run, in the order of their start. */
  evaluations: Evaluation[][];
}

/** Largest size of a record in bytes: that of a million evaluations. */
const MOST_BYTES = 1 << 28;

/**
 * Record of a search, `trials.jsonl`: a line for each event, written to disk before it
 * takes effect. However the process ends, the search can be resumed from this file
 * alone.
 */
export class SearchRecord {
  /** Events, oldest first. */
  readonly events: readonly SearchEvent[];
  /** Trials in the order in which they were sampled. */
  readonly trials: readonly Trial[];
  #events: SearchEvent[] = [];
  #trials: Trial[] = [];
  #path: string;
  #file: number;
  #damage: string | undefined;

  /**
   * Opens a new or existing record. An incomplete last line of a killed process is cut
   * off; so are an invalid line and all lines after it, with a copy of the whole file
   * as `PATH.damaged`.
   *
   * @param path Path of the file.
   * @param options Leave the file unchanged, as another process may write it; and the
   * file, if it is already open.
   * @throws {UsageError} If it is not a record, or has a second hard link.
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
    this.trials = this.#trials;
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
      // It may be another file of the user's.
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

  /** First event, unless the record is new. */
  get begun(): Begin | undefined {
    return this.#events[0] as Begin | undefined;
  }

  /** Invalid line when it was opened, if there was one. */
  get damage(): string | undefined {
    return this.#damage;
  }

  /** Writes an event to disk, then applies it. */
  append(event: SearchEvent): void {
    const text = JSON.stringify(event);
    namingFile(this.#path, () => {
      writeFileSync(this.#file, `${text}\n`);
      fsyncSync(this.#file);
    });
    // As a later process reads it.
    this.#takeLine(text);
  }

  /** Closes the file. */
  close(): void {
    closeSync(this.#file);
  }

  /** Reads lines as long as each is valid after the others, and returns their end. */
  #readLines(bytes: Uint8Array): number {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let start = 0;
    for (let end; (end = bytes.indexOf(0x0a, start)) >= 0; start = end + 1) {
      const line = bytes.subarray(start, end);
      const problem = `line ${
        this.#events.length + 1
      } is not as the search wrote it`;
      try {
        if (this.#takeLine(decoder.decode(line))) continue;
      } catch {
        // Not text, not JSON, or an invalid object.
      }
      if (start === 0) {
        throw new UsageError(
          `Cannot use ${this.#path}: ${problem}; restore the file from a copy, or search in another folder with --out`,
        );
      }
      this.#damage = problem;
      return start;
    }
    return start;
  }

  /** Applies the event of a line, unless it is not valid after the others. */
  #takeLine(text: string): boolean {
    // Lines of older versions have no checksum.
    const { check: _, ...event } = JSON.parse(text);
    const isTaken = this.#follow(event);
    if (isTaken) this.#events.push(event);
    return isTaken;
  }

  #follow(event: SearchEvent): boolean {
    const { op } = event, { begun } = this;
    if (begun === undefined || op === "begin") {
      return begun === undefined && op === "begin";
    }
    if (op === "ask") {
      const { trial: number, params } = event;
      const { space } = begun.plan as { space: Space };
      // The first trial may be outside of the ranges.
      const isPossible = number === 0
        ? Object.keys(params).every((key) => Object.hasOwn(space, key))
        : isInSpace(params, space);
      if (number !== this.#trials.length || !isPossible) return false;
      this.#trials.push({ number, params, state: "running", evaluations: [] });
      return true;
    }
    const trial = this.#trials[event.trial];
    if (trial?.state !== "running") return false;
    if (op === "report") {
      const { run, step, value } = event, { evaluations } = trial;
      if (!Number.isSafeInteger(step) || !Number.isFinite(value)) return false;
      const { length } = evaluations;
      // Runs follow each other, with ascending steps.
      if (run === length) evaluations.push([]);
      else if (run !== length - 1 || run < 0) return false;
      else if (step <= evaluations[run].at(-1)!.step) return false;
      evaluations[run].push({ step, value });
      return true;
    }
    if (op !== "tell") return false;
    const { state, value, message } = event;
    const isEnd = state === "complete"
      ? Number.isFinite(value)
      : state === "failed"
      ? typeof message === "string"
      : state === "pruned";
    if (isEnd) Object.assign(trial, { state, value, message });
    return isEnd;
  }
}
