import { crc32c } from "@aws-crypto/crc32c";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { openPlainSync } from "@bellman/files";
import type { StateTree, Statistics } from "@bellman/types";
import { createHash, type Hash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Hyperparameters, LoggedImage, Logger, LogRow } from "./logger.ts";

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
 * Writes rows to an event file that TensorBoard shows, a scalar per statistic,
 * hyperparameters for its table of runs, and images. Values that are not finite
 * are left out.
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

  /**
   * Writes the settings of a run, for the tab of hyperparameters.
   *
   * @param settings Numbers, texts, truth values; null is left out.
   */
  writeHyperparameters(settings: Hyperparameters): void {
    this.#append({ hyperparameters: settings });
  }

  /**
   * Appends an image.
   *
   * @param image Content of a PNG, JPEG or GIF file, and its name.
   */
  writeImage(image: LoggedImage): void {
    this.#append({ step: image.step, image });
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
      .map((name) => Number(EVENT_FILE.exec(name)?.[1]))
      .filter((time) => time > 0);
    const time = Math.max(
      Math.floor(this.#now() / 1000),
      ...times.map((time) => time + 1),
    );
    const name = `events.out.tfevents.${
      String(time).padStart(10, "0")
    }.bellman`;
    this.#file = openPlainSync(join(this.#dir, name), "create");
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

/** Names of event files, and the time in them. */
const EVENT_FILE = /^events\.out\.tfevents\.(\d+)[\w.-]*$/;

/** Finds out if a file begins with what it held; a checkpoint may name any. */
function isWhole(dir: string, { name, bytes, sha256 }: EventFile): boolean {
  if (!EVENT_FILE.test(name)) return false;
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
  image?: LoggedImage;
  hyperparameters?: Hyperparameters;
  /** Marks a restart: readers drop what was at `step` and later before. */
  sessionStart?: boolean;
}

// Field numbers of tensorflow/core/util/event.proto and framework/summary.proto.
const event = { wallTime: 1, step: 2, fileVersion: 3, summary: 5, session: 7 };
const summary = { value: 1 };
const value = { tag: 1, simpleValue: 2, image: 4, tensor: 8, metadata: 9 };
const picture = { height: 1, width: 2, colors: 3, data: 4 };
const metadata = { plugin: 1 };
const plugin = { name: 1, content: 2 };
const session = { status: 1, start: 1 };
// Those of tensor.proto, and of api.proto and plugin_data.proto of TensorBoard's hparams.
const tensor = { type: 1, float: 1, shape: 2, dimension: 2, size: 1 };
const data = { version: 1, experiment: 2, start: 3 };
const experiment = { settings: 4, metrics: 5 };
const setting = {
  name: 1,
  type: 4,
  types: { string: 1, boolean: 2, number: 3 },
};
const metric = { name: 1, tag: 2 };
const start = { settings: 1, time: 5 };
const entry = { key: 1, value: 2 };
const any = { number: 2, string: 3, boolean: 4 };

/** Statistics in the table of runs. */
const METRICS = ["eval/return_mean", "rollout/return_mean"];

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
  const { wallTime, step, fileVersion, sessionStart } = message;
  const { scalars, image, hyperparameters } = message;
  const writer = new BinaryWriter();
  writer.tag(event.wallTime, wire.bit64).double(wallTime);
  if (step !== undefined) writer.tag(event.step, wire.varint).int64(step);
  if (fileVersion !== undefined) {
    writer.tag(event.fileVersion, wire.lengthDelimited).string(fileVersion);
  }
  if (scalars !== undefined) {
    within(writer, event.summary, () => writeScalars(writer, scalars));
  }
  if (image !== undefined) {
    within(writer, event.summary, () => writeImage(writer, image));
  }
  if (hyperparameters !== undefined) {
    const contents = hyperparameterContents(hyperparameters, wallTime);
    within(writer, event.summary, () => {
      for (const [tag, content] of contents) {
        writePluginValue(writer, { tag, content });
      }
    });
  }
  if (sessionStart) {
    within(writer, event.session, () => {
      writer.tag(session.status, wire.varint).int32(session.start);
    });
  }
  return writer.finish();
}

/** Writes a message as a field of another. */
function within(
  writer: BinaryWriter,
  field: number,
  write: () => void,
): BinaryWriter {
  writer.tag(field, wire.lengthDelimited).fork();
  write();
  return writer.join();
}

function writeText(writer: BinaryWriter, field: number, text: string): void {
  writer.tag(field, wire.lengthDelimited).string(text);
}

function writeScalars(writer: BinaryWriter, scalars: Statistics): void {
  for (const [name, scalar] of Object.entries(scalars)) {
    within(writer, summary.value, () => {
      writeText(writer, value.tag, name);
      writer.tag(value.simpleValue, wire.bit32).float(scalar);
    });
  }
}

function writeImage(
  writer: BinaryWriter,
  { name, width, height, data }: LoggedImage,
): void {
  within(writer, summary.value, () => {
    writeText(writer, value.tag, name);
    within(writer, value.image, () => {
      writer.tag(picture.height, wire.varint).int32(height)
        .tag(picture.width, wire.varint).int32(width)
        .tag(picture.colors, wire.varint).int32(3)
        .tag(picture.data, wire.lengthDelimited).bytes(data);
    });
  });
}

/** Writes a value that is all in its metadata: its tensor is a zero. */
function writePluginValue(
  writer: BinaryWriter,
  { tag, content }: { tag: string; content: Uint8Array },
): void {
  within(writer, summary.value, () => {
    writeText(writer, value.tag, `_hparams_/${tag}`);
    within(writer, value.tensor, () => {
      writer.tag(tensor.type, wire.varint).int32(tensor.float);
      within(writer, tensor.shape, () => {
        within(writer, tensor.dimension, () => {
          writer.tag(tensor.size, wire.varint).int64(1);
        });
      });
    });
    within(writer, value.metadata, () => {
      within(writer, metadata.plugin, () => {
        writeText(writer, plugin.name, "hparams");
        writer.tag(plugin.content, wire.lengthDelimited).bytes(content);
      });
    });
  });
}

/** Encodes what the table of runs is to show, and the settings of this one. */
function hyperparameterContents(
  settings: Hyperparameters,
  time: number,
): [tag: string, content: Uint8Array][] {
  const given = Object.entries(settings).filter((it) => it[1] !== null) as [
    string,
    string | number | boolean,
  ][];
  const message = (field: number, write: (writer: BinaryWriter) => void) => {
    const writer = new BinaryWriter();
    writer.tag(data.version, wire.varint).int32(0);
    return within(writer, field, () => write(writer)).finish();
  };
  const table = message(data.experiment, (writer) => {
    for (const [name, one] of given) {
      within(writer, experiment.settings, () => {
        writeText(writer, setting.name, name);
        const type = typeof one as keyof typeof setting.types;
        writer.tag(setting.type, wire.varint).int32(setting.types[type]);
      });
    }
    for (const tag of METRICS) {
      within(writer, experiment.metrics, () => {
        within(writer, metric.name, () => writeText(writer, metric.tag, tag));
      });
    }
  });
  const own = message(data.start, (writer) => {
    for (const [name, one] of given) {
      within(writer, start.settings, () => {
        writeText(writer, entry.key, name);
        within(writer, entry.value, () => writeAny(writer, one));
      });
    }
    writer.tag(start.time, wire.bit64).double(time);
  });
  return [["experiment", table], ["session_start_info", own]];
}

function writeAny(
  writer: BinaryWriter,
  one: string | number | boolean,
): void {
  if (typeof one === "string") writeText(writer, any.string, one);
  else if (typeof one === "number") {
    writer.tag(any.number, wire.bit64).double(one);
  } else writer.tag(any.boolean, wire.varint).bool(one);
}
