import { createHash, type Hash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { join } from "node:path";
import { writeFully } from "./_atomic_file.ts";
import type { Logger, LogRow } from "./logger.ts";
import type { StateTree } from "@bellman/types";
import { encodeRecord, type TensorBoardEvent } from "./_tfevents.ts";

/** Options of {@link TensorBoardLogger}. */
export interface TensorBoardLoggerOptions {
  /**
   * Milliseconds since 1970.
   *
   * @default Date.now
   */
  now?: () => number;
}

/**
 * Writes rows to an event file that TensorBoard shows, a scalar per statistic.
 * Values that are not finite are left out.
 *
 * A resumed run begins another file, with a mark that makes readers drop the
 * events after the step from which it goes on.
 *
 * @example
 * ```ts
 * import { TensorBoardLogger } from "@bellman/training";
 * import { assert } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * const logger = new TensorBoardLogger(dir);
 * logger.write({ step: 80, statistics: { value_loss: 0.5 } });
 * logger.close();
 * const [file] = Deno.readDirSync(dir);
 * assert(file.name.startsWith("events.out.tfevents."));
 * ```
 */
export class TensorBoardLogger implements Logger {
  /** Names the events in checkpoints. */
  readonly name = "events";
  #dir: string;
  #now: () => number;
  #file: number | undefined;
  #closed = false;
  /** Files of before the last resume. */
  #former: EventFile[] = [];
  /** The file of now. */
  #written: { name: string; bytes: number; hash: Hash } | undefined;

  /**
   * Names the folder of event files.
   *
   * @param dir The folder; it is made where it is missing.
   * @param options The clock.
   */
  constructor(dir: string, options: TensorBoardLoggerOptions = {}) {
    this.#dir = dir;
    this.#now = options.now ?? Date.now;
  }

  /**
   * Appends a row's scalars.
   *
   * @param row Step and statistics.
   */
  write(row: LogRow): void {
    const finite = Object.entries(row.statistics)
      .filter(([, value]) => Number.isFinite(value));
    this.#append({ step: row.step, scalars: Object.fromEntries(finite) });
  }

  /** Brings the events to the disk. */
  flush(): void {
    if (this.#file !== undefined) fsyncSync(this.#file);
  }

  /** Length and hash of each file, for checkpoints. */
  save(): StateTree {
    const files = [...this.#former];
    if (this.#written !== undefined) {
      const { name, bytes, hash } = this.#written;
      files.push({ name, bytes, sha256: hash.copy().digest("hex") });
    }
    return files as unknown as StateTree;
  }

  /**
   * Makes readers drop the events after a step.
   *
   * @param step The last step to keep.
   * @param saved What `save` gave at that step.
   * @returns One line that names the files that are no longer what they were.
   */
  truncate(step: number, saved?: StateTree): string | undefined {
    const files = (saved ?? []) as unknown as EventFile[];
    this.#former = files.filter((file) => isWhole(this.#dir, file));
    const damaged = files.filter((file) => !this.#former.includes(file));
    this.#append({ step: step + 1, sessionStart: true });
    if (damaged.length === 0) return undefined;
    const names = damaged.map(({ name }) => join(this.#dir, name)).join(", ");
    return `${names} is damaged: TensorBoard may miss events up to step ${step}`;
  }

  /** Closes the file. */
  close(): void {
    this.#closed = true;
    if (this.#file === undefined) return;
    this.flush();
    closeSync(this.#file);
    this.#file = undefined;
  }

  #append(event: Omit<TensorBoardEvent, "wallTime">): void {
    if (this.#closed) {
      throw new TypeError(`Cannot write events to ${this.#dir}: it is closed`);
    }
    if (this.#file === undefined) this.#open();
    this.#write(encodeRecord({ wallTime: this.#now() / 1000, ...event }));
  }

  #write(record: Uint8Array): void {
    writeFully(this.#file!, record);
    this.#written!.hash.update(record);
    this.#written!.bytes += record.length;
  }

  /** Opens a file whose name sorts after those that are there: readers go by the name. */
  #open(): void {
    mkdirSync(this.#dir, { recursive: true });
    const times = readdirSync(this.#dir)
      .map((name) => Number(/^events\.out\.tfevents\.(\d+)/.exec(name)?.[1]))
      .filter((time) => time > 0);
    const time = Math.max(
      Math.floor(this.#now() / 1000),
      ...times.map((time) => time + 1),
    );
    const name = `events.out.tfevents.${
      String(time).padStart(10, "0")
    }.bellman`;
    this.#file = openSync(join(this.#dir, name), "a");
    this.#written = { name, bytes: 0, hash: createHash("sha256") };
    const wallTime = this.#now() / 1000;
    this.#write(encodeRecord({ wallTime, fileVersion: "brain.Event:2" }));
  }
}

/** A file as it was at a checkpoint. */
interface EventFile {
  name: string;
  bytes: number;
  sha256: string;
}

function isWhole(dir: string, { name, bytes, sha256 }: EventFile): boolean {
  try {
    const content = readFileSync(join(dir, name)).subarray(0, bytes);
    return createHash("sha256").update(content).digest("hex") === sha256;
  } catch {
    return false;
  }
}
