import {
  builtin,
  namingFile,
  openPlainSync,
  replaceFileSync,
} from "@bellman/files";
import type { Hash } from "node:crypto";
import type { StateTree } from "@bellman/types";

// Looked up on use: browsers have none.
const fs = () => builtin("node:fs");
const paths = () => builtin("node:path");
const newHash = () => builtin("node:crypto").createHash("sha256");

/** Bytes read at once. */
const PIECE_BYTES = 1 << 18;
/** Lines written at once. */
const LINES_AT_ONCE = 4096;

/** Yields the bytes of an open file in pieces; the next piece overwrites the last. */
function* piecesOf(file: number): Generator<Uint8Array> {
  const piece = new Uint8Array(PIECE_BYTES);
  for (let at = 0;;) {
    const read = fs().readSync(file, piece, 0, piece.length, at);
    if (read === 0) return;
    yield piece.subarray(0, read);
    at += read;
  }
}

/**
 * Yields the lines of an open file, without line breaks. An incomplete last line, which
 * is being written, is left out.
 */
export function* linesOf(file: number): Generator<string, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for (const piece of piecesOf(file)) {
    const lines = decoder.decode(piece, { stream: true }).split("\n");
    lines[0] = rest + lines[0];
    rest = lines.pop()!;
    yield* lines;
  }
}

/** Counts the lines of an open file without decoding them. */
export function countLines(file: number): number {
  let count = 0;
  for (const piece of piecesOf(file)) count += newlinesOf(piece).length;
  return count;
}

/** Finds the line breaks. */
function newlinesOf(piece: Uint8Array): number[] {
  const ends = [];
  const newline = 10;
  for (let at = piece.indexOf(newline); at >= 0;) {
    ends.push(at);
    at = piece.indexOf(newline, at + 1);
  }
  return ends;
}

/** Yields lines as bytes, many at once. */
function* bytesOf(lines: Iterable<string>): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  let some: string[] = [];
  const text = () => encoder.encode(some.map((line) => line + "\n").join(""));
  for (const line of lines) {
    some.push(line);
    if (some.length < LINES_AT_ONCE) continue;
    yield text();
    some = [];
  }
  yield text();
}

/** Options of {@link AppendFile.truncate}. */
export interface LineTruncation {
  /** Result of {@link AppendFile.save} at the checkpoint. */
  saved?: StateTree;
  /** Header if none was saved. */
  header: string;
  /** Step of a line; NaN if the line is damaged. */
  stepOf: (line: string) => number;
  /** Returns a line in the columns of the saved header. */
  narrow: (line: string) => string;
}

/**
 * Text file of lines that is appended to; only a piece of it is in memory at a time. On
 * opening, an incomplete last line of a process that died is cut off.
 */
export class AppendFile {
  #path: string;
  #file: number | undefined;
  #hash!: Hash;
  #lines!: number;

  constructor(path: string) {
    this.#path = path;
    fs().mkdirSync(paths().dirname(path), { recursive: true });
    this.#file = openPlainSync(path, "append");
    this.#cut();
  }

  /** Appends a line. */
  append(line: string): void {
    const bytes = new TextEncoder().encode(`${line}\n`);
    namingFile(this.#path, () => fs().writeFileSync(this.#opened(), bytes));
    this.#hash.update(`${line}\n`);
    this.#lines++;
  }

  /** Yields the lines, even if the file was removed meanwhile. */
  lines(): Generator<string, undefined> {
    return linesOf(this.#opened());
  }

  /** Replaces the whole content atomically. */
  replace(lines: Iterable<string>): void {
    replaceFileSync(this.#path, this.#bytesThenClosed(lines));
    this.#file = openPlainSync(this.#path, "append");
    this.#cut();
  }

  /** Windows cannot replace an open file, from which the lines may come. */
  *#bytesThenClosed(lines: Iterable<string>): Generator<Uint8Array> {
    yield* bytesOf(lines);
    fs().closeSync(this.#opened());
    this.#file = undefined;
  }

  /** Saves header, number of lines and hash of the content, for checkpoints. */
  save(header: string): StateTree {
    return {
      header,
      lines: this.#lines,
      sha256: this.#hash.copy().digest("hex"),
    };
  }

  /**
   * Removes the lines after a step. With the result of `save` at that step the old
   * content is restored exactly; if that is impossible, the readable lines are kept and
   * a warning is returned.
   */
  truncate(step: number, options: LineTruncation): string | undefined {
    const { saved, stepOf, narrow } = options;
    const { header = options.header, lines: count, sha256 } = (saved ?? {}) as {
      header?: string;
      lines?: number;
      sha256?: string;
    };
    if (count !== undefined) {
      const then = () => firstOf(this.lines(), { count, header, narrow });
      if (hashOf(bytesOf(then())) === sha256) {
        this.replace(then());
        return undefined;
      }
    }
    const lineCount = this.#lines;
    this.replace(keptOf(this.lines(), {
      header,
      narrow,
      isKept: (line) => stepOf(line) <= step,
    }));
    if (count === undefined) return undefined;
    const kept = this.#lines - 1;
    return kept === 0 && lineCount <= 1
      ? `${this.#path} is gone or empty: it begins anew after step ${step}`
      : `${this.#path} is damaged: up to step ${step}, ${kept} of its ${
        count - 1
      } rows can be read and are kept`;
  }

  flush(): void {
    namingFile(this.#path, () => fs().fsyncSync(this.#opened()));
  }

  close(): void {
    if (this.#file === undefined) return;
    this.flush();
    fs().closeSync(this.#file);
    this.#file = undefined;
  }

  /** Cuts off an incomplete last line. */
  #cut(): void {
    const file = this.#opened();
    this.#hash = newHash();
    this.#lines = 0;
    let at = 0, end = 0;
    for (const piece of piecesOf(file)) {
      const ends = newlinesOf(piece);
      this.#lines += ends.length;
      if (ends.length > 0) end = at + ends.at(-1)! + 1;
      at += piece.length;
    }
    fs().ftruncateSync(file, end);
    for (const piece of piecesOf(file)) this.#hash.update(piece);
  }

  #opened(): number {
    if (this.#file === undefined) {
      throw new TypeError(`Cannot write to ${this.#path}: it is closed`);
    }
    return this.#file;
  }
}

function hashOf(pieces: Iterable<Uint8Array>): string {
  const hash = newHash();
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

/** Yields a header and the first lines in its columns. */
function* firstOf(
  lines: Iterable<string>,
  { count, header, narrow }: {
    count: number;
    header: string;
    narrow: (line: string) => string;
  },
): Generator<string> {
  let at = 0;
  for (const line of lines) {
    if (at >= count) return;
    yield at++ === 0 ? header : narrow(line);
  }
}

/** Yields a header and the lines to keep. */
function* keptOf(
  lines: Iterable<string>,
  { header, narrow, isKept }: {
    header: string;
    narrow: (line: string) => string;
    isKept: (line: string) => boolean;
  },
): Generator<string> {
  yield header;
  for (const line of lines) if (isKept(line)) yield narrow(line);
}
