import { crc32c } from "@aws-crypto/crc32c";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { StateTree, Statistics } from "@bellman/types";
import { createHash, type Hash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Logger, LogRow } from "./logger.ts";

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
 * events after the step from which it resumes.
 *
 * @example
 * ```ts
 * import { TensorBoardLogger } from "@bellman/training";
 * import { assert } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * const logger = new TensorBoardLogger(dir);
 * logger.write({ step: 80, statistics: { "train/value_loss": 0.5 } });
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

  /** Saves length and hash of each file, for checkpoints. */
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
   * @param saved State from `save` at that step.
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
    writeFileSync(this.#file!, record);
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

/** File as it was at a checkpoint. */
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

/** Part of TensorFlow's `Event` message that is written here. */
interface TensorBoardEvent {
  /** Seconds since 1970. */
  wallTime: number;
  step?: number;
  fileVersion?: string;
  scalars?: Statistics;
  /** Marks a restart: readers drop what was at `step` and later before. */
  sessionStart?: boolean;
}

// Field numbers of tensorflow/core/util/event.proto and framework/summary.proto.
const event = { wallTime: 1, step: 2, fileVersion: 3, summary: 5, session: 7 };
const summary = { value: 1 };
const value = { tag: 1, simpleValue: 2 };
const session = { status: 1, start: 1 };

/** Wire types of fields. */
const wire = { varint: 0, bit64: 1, lengthDelimited: 2, bit32: 5 };

/** Encodes an event as a record: length, checksum, event, checksum. */
export function encodeRecord(message: TensorBoardEvent): Uint8Array {
  const data = encodeEvent(message);
  const record = new Uint8Array(16 + data.length);
  const view = new DataView(record.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, maskedCrc(record.subarray(0, 8)), true);
  record.set(data, 12);
  view.setUint32(12 + data.length, maskedCrc(data), true);
  return record;
}

/** Computes the checksum as record files store it: rotated and offset. */
export function maskedCrc(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

function encodeEvent(message: TensorBoardEvent): Uint8Array {
  const { wallTime, step, fileVersion, scalars, sessionStart } = message;
  const writer = new BinaryWriter();
  writer.tag(event.wallTime, wire.bit64).double(wallTime);
  if (step !== undefined) writer.tag(event.step, wire.varint).int64(step);
  if (fileVersion !== undefined) {
    writer.tag(event.fileVersion, wire.lengthDelimited).string(fileVersion);
  }
  if (scalars !== undefined) {
    writer.tag(event.summary, wire.lengthDelimited).fork();
    for (const [name, scalar] of Object.entries(scalars)) {
      writer.tag(summary.value, wire.lengthDelimited).fork()
        .tag(value.tag, wire.lengthDelimited).string(name)
        .tag(value.simpleValue, wire.bit32).float(scalar)
        .join();
    }
    writer.join();
  }
  if (sessionStart) {
    writer.tag(event.session, wire.lengthDelimited).fork()
      .tag(session.status, wire.varint).int32(session.start).join();
  }
  return writer.finish();
}
