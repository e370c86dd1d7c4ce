import { builtin } from "@bellman/files";
// @ts-types="@types/d3-dsv"
import { csvParseRows } from "d3-dsv";
import { type InsideFile, type OpenFile, readPart } from "./inside.ts";
import { withInside } from "./inside.ts";

// Looked up on use: browsers have none.
const fs = () => builtin("node:fs");

/** Column of a row's environment steps. */
const STEPS = "time/steps";
/** Logs of a run, and of a shared agent. */
const LOGS = ["progress.csv", "evaluations.csv"];

/** Largest size of a log and of its header in bytes, and bytes read at once. */
const MOST_LOG = 2e9, MOST_HEADER = 1 << 16, PIECE = 1 << 20;
/** Bytes at the end of a log that are searched for its last values. */
const END = 1 << 16;
/** Largest value, so that sums stay finite. */
const MOST = 1e300;

const COMMA = 44, MINUS = 45, POINT = 46, ZERO = 48, NINE = 57, NEWLINE = 10;

/** Options of {@linkcode readCurves}. */
export interface ReadCurvesOptions {
  /**
   * First row to read.
   *
   * @default 0
   */
  since?: number;
  /**
   * Largest number of rows: of more, consecutive rows are averaged.
   *
   * @default Infinity
   */
  maxRows?: number;
  /**
   * Columns to read; unknown ones are ignored.
   *
   * @default all
   */
  keys?: readonly string[];
  /**
   * Real path of the folder that links of the log must not leave.
   *
   * @default the run's own folder
   */
  root?: string;
}

/** Rows of a log. */
export interface CurveRows {
  /** First row that was read: 0 if the log has become shorter than `since`. */
  from: number;
  /** Row to ask for next. */
  next: number;
  /** Environment steps of the rows. */
  steps: number[];
  /** Values of each column; NaN where a row has no finite number. */
  values: Record<string, number[]>;
}

/**
 * Reads the curves of a run: the rows of its log `progress.csv` from one on. An
 * incomplete last row is left for the next call.
 *
 * @param dir Folder of the run, or of a shared agent, which only has evaluations.
 * @param options First row, number of rows and columns.
 * @returns The rows; none if nothing has been logged.
 * @throws {SyntaxError} If the file is not a log.
 *
 * @example
 * ```ts
 * import { readCurves } from "@bellman/runs";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * const log = "time/steps,train/loss\n80,0.5\n160,0.25\n24";
 * await Deno.writeTextFile(`${dir}/progress.csv`, log);
 * assertEquals(readCurves(dir, { since: 1 }), {
 *   from: 1,
 *   next: 2,
 *   steps: [160],
 *   values: { "train/loss": [0.25] },
 * });
 * ```
 */
export function readCurves(
  dir: string,
  { since = 0, maxRows = Infinity, keys, root }: ReadCurvesOptions = {},
): CurveRows {
  const none = { from: 0, next: 0, steps: [], values: {} };
  const log = logIn(dir, root);
  if (log === undefined) return none;
  return withInside(log, (file) => {
    const header = readHeader(file);
    if (header === undefined) return none;
    for (const from of since > 0 ? [since, 0] : [0]) {
      const reader = new RowReader(header.columns, { from, maxRows, keys });
      for (const piece of piecesFrom(file, header.end)) reader.read(piece);
      // A log that has become shorter is read from the start.
      if (reader.row >= from) return reader.rows();
    }
    return none;
  });
}

/**
 * Reads the last values of a run's log, from its last 64 kB.
 *
 * @param dir Folder of the run.
 * @param options Folder that links must not leave.
 * @returns A value for each column of the log, NaN if there is none; empty if nothing
 * has been logged.
 * @throws {SyntaxError} If the file is not a log.
 *
 * @example
 * ```ts
 * import { readLatest } from "@bellman/runs";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = await Deno.makeTempDir();
 * const log = "time/steps,eval/return_mean\n80,10\n160,\n";
 * await Deno.writeTextFile(`${dir}/progress.csv`, log);
 * const latest = readLatest(dir);
 * assertEquals([latest["time/steps"], latest["eval/return_mean"]], [160, 10]);
 * ```
 */
export function readLatest(
  dir: string,
  { root }: Pick<ReadCurvesOptions, "root"> = {},
): Record<string, number> {
  const latest: Record<string, number> = Object.create(null);
  const log = logIn(dir, root);
  if (log === undefined) return latest;
  return withInside(log, (file) => {
    const header = readHeader(file);
    if (header === undefined) return latest;
    const at = Math.max(header.end, file.size - END);
    const bytes = readPart(file.descriptor, { at, length: file.size - at });
    const lines = new TextDecoder().decode(bytes).split("\n").slice(0, -1);
    // The first row may be incomplete.
    if (at > header.end) lines.shift();
    const { columns } = header;
    for (const name of columns) latest[name] = NaN;
    let missing = columns.map((_, i) => i);
    for (let i = lines.length - 1; i >= 0 && missing.length > 0; i--) {
      const cells = lines[i].split(",");
      missing = missing.filter((place) => {
        const value = numberIn(cells[place] ?? "");
        if (Number.isFinite(value)) latest[columns[place]] = value;
        return !Number.isFinite(value);
      });
    }
    return latest;
  });
}

/** Returns the name of a run's log; a shared agent only has evaluations. */
export function logNameIn(dir: string): string | undefined {
  return LOGS.find((it) =>
    fs().lstatSync(`${dir}/${it}`, { throwIfNoEntry: false }) !== undefined
  );
}

function logIn(dir: string, root: string | undefined): InsideFile | undefined {
  const name = logNameIn(dir);
  return name === undefined ? undefined : {
    root: root ?? fs().realpathSync(dir),
    path: `${dir}/${name}`,
    most: MOST_LOG,
  };
}

/** Reads the column names and the position of the first row, if the header is complete. */
function readHeader(
  { descriptor, size }: OpenFile,
): { columns: string[]; end: number } | undefined {
  const length = Math.min(size, MOST_HEADER);
  const bytes = readPart(descriptor, { at: 0, length });
  const end = bytes.indexOf(NEWLINE) + 1;
  if (end === 0) {
    if (bytes.length < MOST_HEADER) return undefined;
    throw new SyntaxError("its first line does not end");
  }
  const text = new TextDecoder().decode(bytes.subarray(0, end - 1));
  const columns = csvParseRows(text.replace(/\r$/, ""))[0] ?? [];
  if (columns.includes(STEPS)) return { columns, end };
  throw new SyntaxError(`it has no column ${STEPS}`);
}

/** Yields complete lines from a position on, up to the size when the file was opened. */
function* piecesFrom(
  { descriptor, size }: OpenFile,
  start: number,
): Generator<Uint8Array> {
  for (let at = start; at < size;) {
    const length = Math.min(PIECE, size - at);
    const bytes = readPart(descriptor, { at, length });
    const whole = bytes.lastIndexOf(NEWLINE) + 1;
    if (whole === 0) {
      if (bytes.length < PIECE) return;
      throw new SyntaxError("it has a line of more than a million letters");
    }
    yield bytes.subarray(0, whole);
    at += whole;
  }
}

function numberIn(cell: string): number {
  return cell.trim() === "" ? NaN : Number(cell);
}

/** Number of digits that a double holds exactly. */
const EXACT_DIGITS = 15;

/** Parses a number as `Number` does, most of them digit by digit. */
function numberAt(bytes: Uint8Array, from: number, to: number): number {
  let value = 0, digits = 0, decimals = -1;
  const isNegative = bytes[from] === MINUS;
  for (let at = isNegative ? from + 1 : from; at < to; at++) {
    const byte = bytes[at];
    if (byte >= ZERO && byte <= NINE) {
      value = 10 * value + byte - ZERO;
      digits++;
      if (decimals >= 0) decimals++;
    } else if (byte === POINT && decimals < 0) decimals = 0;
    else {
      digits = Infinity;
      break;
    }
  }
  if (digits === 0 || digits > EXACT_DIGITS) {
    return numberIn(new TextDecoder().decode(bytes.subarray(from, to)));
  }
  // Both are exact, so the quotient is correctly rounded.
  const size = decimals > 0 ? value / 10 ** decimals : value;
  return isNegative ? -size : size;
}

/** Parses the wanted cells of rows, and averages rows if there are too many. */
class RowReader {
  /** Number of the next row. */
  row = 0;
  readonly #from: number;
  readonly #most: number;
  readonly #names: string[];
  /** Indices of the wanted columns, ascending. */
  readonly #places: Int32Array;
  readonly #stepsAt: number;
  /** Values of a row. */
  readonly #values: Float64Array;
  /** Sums and counts of each wanted column. */
  readonly #sums: number[][];
  readonly #counts: number[][];
  /** Number of buckets, rows of each, and rows in the last one. */
  #buckets = 0;
  #width = 1;
  #filled = 0;

  constructor(
    columns: readonly string[],
    { from, maxRows, keys = columns }: {
      from: number;
      maxRows: number;
      keys?: readonly string[];
    },
  ) {
    this.#from = from;
    // Even, so that buckets can be merged in pairs.
    this.#most = Math.max(2, 2 * Math.floor(maxRows / 2));
    const wanted = new Set([STEPS, ...keys]);
    this.#names = [...new Set(columns)].filter((it) => wanted.has(it));
    this.#places = Int32Array.from(
      this.#names,
      (name) => columns.indexOf(name),
    );
    this.#stepsAt = this.#names.indexOf(STEPS);
    this.#values = new Float64Array(this.#names.length);
    this.#sums = this.#names.map(() => []);
    this.#counts = this.#names.map(() => []);
  }

  /** Parses complete lines. */
  read(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; this.row++) {
      at = this.row < this.#from
        ? bytes.indexOf(NEWLINE, at) + 1
        : this.#readRow(bytes, at);
    }
  }

  /** Parses a line, and returns the position of the next one. */
  #readRow(bytes: Uint8Array, start: number): number {
    const values = this.#values, places = this.#places;
    values.fill(NaN);
    let column = 0, next = 0, from = start, at = start;
    for (;; at++) {
      const byte = bytes[at];
      if (byte !== COMMA && byte !== NEWLINE) continue;
      if (column === places[next]) {
        // Most cells of evaluations are empty.
        if (at > from) values[next] = numberAt(bytes, from, at);
        next++;
      }
      if (byte === NEWLINE) break;
      if (next === places.length) {
        at = bytes.indexOf(NEWLINE, at);
        break;
      }
      from = at + 1;
      column++;
    }
    if (Number.isFinite(values[this.#stepsAt])) this.#take(values);
    return at + 1;
  }

  #take(values: Float64Array): void {
    const isNew = this.#filled === 0;
    if (isNew) {
      if (this.#buckets === this.#most) this.#join();
      this.#buckets++;
    }
    const at = this.#buckets - 1;
    for (let i = 0; i < values.length; i++) {
      const sums = this.#sums[i], counts = this.#counts[i], value = values[i];
      if (isNew) sums[at] = counts[at] = 0;
      // NaN and infinities are no numbers.
      if (value - value !== 0) continue;
      sums[at] = counts[at] === 0 ? value : bounded(sums[at]) + bounded(value);
      counts[at]++;
    }
    if (++this.#filled === this.#width) this.#filled = 0;
  }

  /** Merges buckets in pairs, as all are full. */
  #join(): void {
    const half = this.#most / 2;
    for (const columns of [this.#sums, this.#counts]) {
      for (const column of columns) {
        for (let i = 0; i < half; i++) {
          column[i] = bounded(column[2 * i]) + bounded(column[2 * i + 1]);
        }
        column.length = half;
      }
    }
    this.#buckets = half;
    this.#width *= 2;
  }

  /** Returns the rows so far. */
  rows(): CurveRows {
    const values: Record<string, number[]> = Object.create(null);
    let steps: number[] = [];
    this.#names.forEach((name, i) => {
      const counts = this.#counts[i];
      const means = this.#sums[i].map((sum, k) =>
        counts[k] === 0 ? NaN : sum / counts[k]
      );
      if (name === STEPS) steps = means;
      else values[name] = means;
    });
    return { from: this.#from, next: this.row, steps, values };
  }
}

function bounded(value: number): number {
  return value > MOST ? MOST : value < -MOST ? -MOST : value;
}
