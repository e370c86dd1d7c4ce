import { builtin, namingFile, openPlainSync } from "@bellman/files";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
// @ts-types="crc-32"
import crc32c from "crc-32/crc32c.js";
import type { Statistics } from "@bellman/types";
import type {
  Hyperparameters,
  LoggedImage,
  Logger,
  LogRow,
  RunEnd,
} from "./logger.ts";

// Looked up on use: browsers have none.
const fs = () => builtin("node:fs");
const paths = () => builtin("node:path");

/** Options of {@link TensorBoardLogger}. */
export interface TensorBoardLoggerOptions {
  /**
   * Clock in milliseconds since 1970.
   *
   * @default Date.now
   */
  now?: () => number;
}

/**
 * Logger that writes TensorBoard event files: a scalar for each statistic,
 * hyperparameters for the table of runs, and images. Numbers that are not finite are
 * left out; those beyond float32 are clipped to it. A resumed run starts another file,
 * with a mark that makes readers drop the events after the resumed step.
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
  #dir: string;
  #now: () => number;
  #file: number | undefined;
  /** Path of the current file. */
  #path = "";
  #closed = false;

  /**
   * Creates a logger; files are opened on the first write.
   *
   * @param dir Folder; it is made if it is missing.
   * @param options Clock.
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
    this.#append(
      integer(event.step, row.step),
      message(event.summary, ...scalars(row.statistics)),
    );
  }

  /**
   * Writes the settings of a run, for the table of runs; its columns are the settings
   * of all runs.
   *
   * @param settings Numbers, texts, booleans; null is left out.
   */
  writeHyperparameters(settings: Hyperparameters): void {
    const fields = Object.entries(settings).filter(([, one]) => one !== null)
      .map(([name, one]) =>
        message(
          start.settings,
          text(entry.key, name),
          message(entry.value, anyOf(one!)),
        )
      );
    const time = double(start.time, this.#now() / 1000);
    this.#session("session_start_info", message(data.start, ...fields, time));
  }

  /**
   * Writes the end of a run, for the table of runs.
   *
   * @param status Status in the table.
   */
  writeEnd(status: RunEnd): void {
    const fields = [
      integer(end.status, end.statuses[status]),
      double(end.time, this.#now() / 1000),
    ];
    this.#session("session_end_info", message(data.end, ...fields));
  }

  #session(tag: string, content: Field): void {
    this.#append(message(event.summary, pluginValue(tag, content)));
  }

  /**
   * Appends an image.
   *
   * @param image PNG, JPEG or GIF file, and its name.
   */
  writeImage(image: LoggedImage): void {
    this.#append(
      integer(event.step, image.step),
      message(event.summary, imageValue(image)),
    );
  }

  /** Flushes the events to disk. */
  flush(): void {
    const file = this.#file;
    if (file !== undefined) namingFile(this.#path, () => fs().fsyncSync(file));
  }

  /**
   * Makes readers drop the events after a step.
   *
   * @param step The last step to keep.
   */
  truncate(step: number): void {
    // Readers drop earlier events of this step and later ones.
    this.#append(
      integer(event.step, step + 1),
      message(event.session, integer(session.status, session.start)),
    );
  }

  /** Closes the file. */
  close(): void {
    this.#closed = true;
    if (this.#file === undefined) return;
    this.flush();
    fs().closeSync(this.#file);
    this.#file = undefined;
  }

  #append(...fields: readonly Field[]): void {
    if (this.#closed) {
      throw new TypeError(`Cannot write events to ${this.#dir}: it is closed`);
    }
    if (this.#file === undefined) this.#open();
    this.#write(...fields);
  }

  #write(...fields: readonly Field[]): void {
    const wallTime = double(event.wallTime, this.#now() / 1000);
    const record = encodeRecord(wallTime, ...fields);
    namingFile(this.#path, () => fs().writeFileSync(this.#file!, record));
  }

  /** Opens a file whose name sorts after the existing ones: readers sort by name. */
  #open(): void {
    fs().mkdirSync(this.#dir, { recursive: true });
    const times = fs().readdirSync(this.#dir)
      .map((name) => Number(EVENT_FILE.exec(name)?.[1]))
      .filter((time) => time > 0);
    const time = Math.max(
      Math.floor(this.#now() / 1000),
      ...times.map((time) => time + 1),
    );
    const name = `events.out.tfevents.${
      String(time).padStart(10, "0")
    }.bellman`;
    this.#path = paths().join(this.#dir, name);
    this.#file = openPlainSync(this.#path, "create");
    this.#write(text(event.fileVersion, "brain.Event:2"));
  }
}

/** Names of event files, with their time. */
const EVENT_FILE = /^events\.out\.tfevents\.(\d+)[\w.-]*$/;

// Field numbers of tensorflow/core/util/event.proto and framework/summary.proto.
const event = { wallTime: 1, step: 2, fileVersion: 3, summary: 5, session: 7 };
const summary = { value: 1 };
const value = { tag: 1, simpleValue: 2, image: 4, tensor: 8, metadata: 9 };
const picture = { height: 1, width: 2, colors: 3, data: 4 };
const metadata = { plugin: 1 };
const plugin = { name: 1, content: 2 };
const session = { status: 1, start: 1 };
// Field numbers of tensor.proto, and of TensorBoard's api.proto and plugin_data.proto
// for hparams.
const tensor = { type: 1, float: 1, shape: 2, dimension: 2, size: 1 };
const data = { version: 1, start: 3, end: 4 };
const start = { settings: 1, time: 5 };
const end = { status: 1, time: 2, statuses: { success: 1, failure: 2 } };
const entry = { key: 1, value: 2 };
const any = { number: 2, string: 3, boolean: 4 };

/** Field of a protobuf message: writes tag and value. */
export type Field = (writer: BinaryWriter) => unknown;

/** Wire types of fields. */
const wire = { varint: 0, bit64: 1, lengthDelimited: 2, bit32: 5 };

/** Makes an integer field. */
export function integer(field: number, value: number): Field {
  return (writer) => writer.tag(field, wire.varint).int64(value);
}

/** Makes a double-precision field. */
export function double(field: number, value: number): Field {
  return (writer) => writer.tag(field, wire.bit64).double(value);
}

/** Makes a text field. */
export function text(field: number, value: string): Field {
  return (writer) => writer.tag(field, wire.lengthDelimited).string(value);
}

/** Largest number of float32. */
const MAX_FLOAT32 = (2 - 2 ** -23) * 2 ** 127;

function float(field: number, value: number): Field {
  const inside = Math.max(-MAX_FLOAT32, Math.min(value, MAX_FLOAT32));
  return (writer) => writer.tag(field, wire.bit32).float(inside);
}

function bytes(field: number, value: Uint8Array): Field {
  return (writer) => writer.tag(field, wire.lengthDelimited).bytes(value);
}

/** Makes a field with a nested message. */
export function message(field: number, ...fields: readonly Field[]): Field {
  return (writer) => {
    writer.tag(field, wire.lengthDelimited).fork();
    for (const write of fields) write(writer);
    writer.join();
  };
}

function encode(...fields: readonly Field[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const write of fields) write(writer);
  return writer.finish();
}

/** Encodes an event as a record: length, checksum, event, checksum. */
export function encodeRecord(...fields: readonly Field[]): Uint8Array {
  const data = encode(...fields);
  const record = new Uint8Array(16 + data.length);
  const view = new DataView(record.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, maskedCrc(record.subarray(0, 8)), true);
  record.set(data, 12);
  view.setUint32(12 + data.length, maskedCrc(data), true);
  return record;
}

/** Computes the masked CRC of record files: rotated and offset. */
export function maskedCrc(bytes: Uint8Array): number {
  const crc = crc32c.buf(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** Makes a scalar of each finite statistic. */
export function scalars(statistics: Statistics): Field[] {
  return Object.entries(statistics)
    .filter(([, scalar]) => Number.isFinite(scalar))
    .map(([name, scalar]) =>
      message(
        summary.value,
        text(value.tag, name),
        float(value.simpleValue, scalar),
      )
    );
}

function imageValue({ name, width, height, data }: LoggedImage): Field {
  return message(
    summary.value,
    text(value.tag, name),
    message(
      value.image,
      integer(picture.height, height),
      integer(picture.width, width),
      integer(picture.colors, 3),
      bytes(picture.data, data),
    ),
  );
}

/** Makes a summary value whose content is in its metadata; its tensor is 0. */
function pluginValue(tag: string, content: Field): Field {
  const size = message(tensor.dimension, integer(tensor.size, 1));
  return message(
    summary.value,
    text(value.tag, `_hparams_/${tag}`),
    message(
      value.tensor,
      integer(tensor.type, tensor.float),
      message(tensor.shape, size),
    ),
    message(
      value.metadata,
      message(
        metadata.plugin,
        text(plugin.name, "hparams"),
        bytes(plugin.content, encode(integer(data.version, 0), content)),
      ),
    ),
  );
}

/** Makes the value of a setting; numbers that readers reject become texts. */
function anyOf(value: string | number | boolean): Field {
  if (typeof value === "string") return text(any.string, value);
  if (typeof value === "number") {
    return Number.isFinite(value)
      ? double(any.number, value)
      : text(any.string, String(value));
  }
  return integer(any.boolean, Number(value));
}
