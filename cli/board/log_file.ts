// @ts-types="@types/d3-dsv"
import { csvParseRows } from "d3-dsv";
import { createHash } from "node:crypto";
import { type OpenFile, readPart } from "./inside.ts";

/** Column of a row's environment steps. */
export const STEPS = "time/steps";

/** Most bytes of the first line, and of any other. */
const MOST_HEADER = 1 << 16, MOST_LINE = 1 << 20;
/** Bytes that are read at once. */
const PIECE_BYTES = 1 << 18;
/** Bytes at the start, and before a place, that show whether a file is as it was. */
const FIRST_BYTES = 1024, LAST_BYTES = 64;
const NEWLINE = 10;

/** First line of a log. */
export interface LogHeader {
  columns: string[];
  /** Place of the first row. */
  end: number;
}

/** Splits a line; numbers alone need no quotes. */
export function cellsOf(line: string): string[] {
  return line.includes('"') ? csvParseRows(line)[0] ?? [] : line.split(",");
}

/**
 * Reads the first line of a log; undefined where it is not whole yet.
 *
 * @throws {SyntaxError} If it is longer than any, or has no column of steps.
 */
export function readHeader(
  { descriptor, size }: OpenFile,
): LogHeader | undefined {
  const length = Math.min(size, MOST_HEADER);
  const bytes = readPart(descriptor, { at: 0, length });
  const end = bytes.indexOf(NEWLINE) + 1;
  if (end === 0) {
    if (bytes.length < MOST_HEADER) return undefined;
    throw new SyntaxError("its first line does not end");
  }
  const text = new TextDecoder().decode(bytes.subarray(0, end - 1));
  const columns = cellsOf(text.replace(/\r$/, ""));
  if (columns.includes(STEPS)) return { columns, end };
  throw new SyntaxError(`it has no column ${STEPS}`);
}

/** Reads a cell as a number; NaN where it is empty or is none. */
export function numberIn(cell: string | undefined): number {
  return cell === undefined || cell.trim() === "" ? NaN : Number(cell);
}

/** Digits that a number holds exactly. */
const EXACT_DIGITS = 15;
const POINT = 46, MINUS = 45, ZERO = 48, NINE = 57;

/** Reads a cell of a piece as {@linkcode numberIn} does; most are read digit by digit. */
export function numberAt(bytes: Uint8Array, from: number, to: number): number {
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
    return numberIn(String.fromCharCode(...bytes.subarray(from, to)));
  }
  // Both are exact, so that the quotient is the nearest number.
  const size = decimals > 0 ? value / 10 ** decimals : value;
  return isNegative ? -size : size;
}

/** Place in a log up to which its rows are known, and what the file was like. */
export interface LogPlace {
  offset: number;
  /** Hash of the first bytes, and of those before the place. */
  check: string;
}

/** Writes a place as text, of letters, digits and `-`. */
export function placeText({ offset, check }: LogPlace): string {
  return `${offset.toString(36)}-${check}`;
}

/** Reads the text of a place; undefined where it is none. */
export function parsePlace(text: string): LogPlace | undefined {
  const found = /^([0-9a-z]{1,9})-([0-9a-f]{12})$/.exec(text);
  return found === null
    ? undefined
    : { offset: Number.parseInt(found[1], 36), check: found[2] };
}

function checkOf(first: Uint8Array, last: Uint8Array): string {
  return createHash("sha256").update(first).update(last).digest("hex")
    .slice(0, 12);
}

/** Some rows of a log. */
export interface LogPiece {
  /** Whole lines, with their ends. */
  bytes: Uint8Array;
  /** Place after them. */
  place: LogPlace;
}

/** A log that is not as it was when its former rows were read. */
export class ChangedLog extends Error {
  /** The error's name. */
  override readonly name: string = "ChangedLog";
}

/**
 * Reads the rows of a log from a place on, as far as the file went when it was
 * opened; a row without its end is left out. A log that is cut back while it is read
 * is noticed: no row of what it was before is followed by one of what it became.
 *
 * @param file The log.
 * @param from Place to begin at; that of {@linkcode startOf} for all rows.
 * @yields Rows, as many as fit into a piece.
 * @throws {ChangedLog} If what comes before is not what it was.
 * @throws {SyntaxError} If a line is longer than any.
 */
export function* piecesFrom(
  { descriptor, size }: OpenFile,
  from: LogPlace,
): Generator<LogPiece> {
  let { offset, check } = from;
  for (let length = PIECE_BYTES;;) {
    // What comes before is read again with each piece, so that both fit.
    const start = Math.max(0, offset - LAST_BYTES);
    const first = readPart(descriptor, {
      at: 0,
      length: Math.min(FIRST_BYTES, offset),
    });
    const end = Math.min(size, offset + length);
    const bytes = readPart(descriptor, { at: start, length: end - start });
    const before = bytes.subarray(0, offset - start);
    if (checkOf(first, before) !== check) throw new ChangedLog();
    const rows = bytes.subarray(offset - start);
    const whole = rows.lastIndexOf(NEWLINE) + 1;
    if (whole === 0) {
      if (rows.length >= MOST_LINE) {
        throw new SyntaxError("it has a line of more than a million letters");
      }
      // The end of the file, or a line that is longer than a piece.
      if (offset + length >= size || rows.length < length) return;
      length = MOST_LINE;
      continue;
    }
    length = PIECE_BYTES;
    const known = offset - start + whole;
    offset += whole;
    const head = offset - whole >= FIRST_BYTES
      ? first
      : joined(first, rows.subarray(0, whole)).subarray(0, FIRST_BYTES);
    check = checkOf(
      head,
      bytes.subarray(Math.max(0, known - LAST_BYTES), known),
    );
    yield {
      bytes: rows.subarray(0, whole),
      place: { offset, check },
    };
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Returns the place of the first row, of a log with a given header. */
export function startOf(
  { descriptor }: OpenFile,
  { end }: LogHeader,
): LogPlace {
  const bytes = readPart(descriptor, { at: 0, length: end });
  return {
    offset: end,
    check: checkOf(
      bytes.subarray(0, FIRST_BYTES),
      bytes.subarray(Math.max(0, end - LAST_BYTES)),
    ),
  };
}
