import { closeSync } from "node:fs";
import {
  type InsideFile,
  type OpenFile,
  openInside,
  readPart,
} from "./inside.ts";
import {
  cellsOf,
  ChangedLog,
  type LogHeader,
  type LogPlace,
  numberAt,
  numberIn,
  parsePlace,
  piecesFrom,
  placeText,
  readHeader,
  startOf,
  STEPS,
} from "./log_file.ts";
import type { CurveAxis, CurveRequest, CurvesUpdate } from "./messages.ts";
import { Thinner } from "./thinning.ts";

/** Columns of the horizontal axes. */
const AXES: Readonly<Record<CurveAxis, string>> = {
  steps: STEPS,
  time: "time/seconds",
  episodes: "time/episodes",
};

/** Bytes before a place in which the last time or number of episodes is looked for. */
const LOOK_BACK = 1 << 14;

const QUOTE = 34, COMMA = 44, NEWLINE = 10;

/** New points of a run, without the names that a stream gives them. */
export type NewPoints = Pick<CurvesUpdate, "isWhole" | "position" | "curves">;

/** Curves that are wanted of a log. */
export type CurveChoice = Omit<CurveRequest, "runs">;

/** Milliseconds of work after which others have a turn. */
const WORK_MS = 8;

/** Gives way to other work of the event loop, where some has been done for a while. */
export class Turns {
  #since = performance.now();

  /** Lets others have a turn, if it is time. */
  async take(): Promise<void> {
    if (performance.now() - this.#since < WORK_MS) return;
    await new Promise<void>((resolve) => setTimeout(resolve));
    this.#since = performance.now();
  }
}

/**
 * Reads the points of a run's curves that follow a position.
 *
 * @param log The run's log.
 * @param choice Statistics and axis.
 * @param options Position up to which the points are known, empty for none, and what
 * gives way to other work.
 * @returns The points; undefined where there are no new ones.
 * @throws {Error} If the log cannot be read.
 */
export async function readCurves(
  log: InsideFile,
  choice: CurveChoice,
  { position, turns }: { position: string; turns: Pick<Turns, "take"> },
): Promise<NewPoints | undefined> {
  const place = parsePlace(position);
  for (const from of place === undefined ? [undefined] : [place, undefined]) {
    const file = openInside(log);
    try {
      const points = await pointsFrom(file, { choice, from, turns });
      const isEmptied = points === undefined && from !== place;
      return isEmptied ? EMPTIED : points;
    } catch (error) {
      if (!(error instanceof ChangedLog)) throw error;
      // It was cut back: all of it is read.
    } finally {
      closeSync(file.descriptor);
    }
  }
  // It was cut back while it was read: the next look reads what it has become.
  return undefined;
}

/** What is left of a log that was emptied. */
const EMPTIED: NewPoints = { isWhole: true, position: "", curves: {} };

async function pointsFrom(
  file: OpenFile,
  { choice, from, turns }: {
    choice: CurveChoice;
    from: LogPlace | undefined;
    turns: Pick<Turns, "take">;
  },
): Promise<NewPoints | undefined> {
  if (from !== undefined && from.offset > file.size) throw new ChangedLog();
  const header = readHeader(file);
  if (header === undefined) {
    if (from !== undefined) throw new ChangedLog();
    return undefined;
  }
  const start = from ?? startOf(file, header);
  const reader = new PointReader(header, choice);
  if (from !== undefined) reader.lookBack(file, start);
  let { place }: { place: LogPlace } = { place: start };
  for (const piece of piecesFrom(file, start)) {
    reader.read(piece.bytes);
    place = piece.place;
    await turns.take();
  }
  if (from !== undefined && place === start) return undefined;
  return {
    isWhole: from === undefined,
    position: placeText(place),
    curves: reader.curves(),
  };
}

/** Takes the wanted cells of rows. */
class PointReader {
  readonly #axis: number;
  readonly #isCarried: boolean;
  /** Places of the axis and the statistics among the columns, rising. */
  readonly #wanted: readonly number[];
  /** Values of a row at these places, and the one of the axis among them. */
  readonly #values: Float64Array;
  readonly #axisAt: number;
  readonly #curves: readonly { name: string; at: number; thinner: Thinner }[];
  #x = NaN;

  constructor(
    { columns }: LogHeader,
    { statistics, x, points, thinning }: CurveChoice,
  ) {
    this.#axis = columns.indexOf(AXES[x]);
    this.#isCarried = x !== "steps";
    const found = [...new Set(statistics)]
      .map((name) => ({ name, place: columns.indexOf(name) }))
      .filter(({ place }) => place >= 0);
    const places = new Set([this.#axis, ...found.map(({ place }) => place)]);
    this.#wanted = [...places].sort((a, b) => a - b);
    this.#values = new Float64Array(this.#wanted.length);
    this.#axisAt = this.#wanted.indexOf(this.#axis);
    this.#curves = found.map(({ name, place }) => ({
      name,
      at: this.#wanted.indexOf(place),
      thinner: new Thinner(points, thinning),
    }));
  }

  /** Finds the time or the episodes of the row before a place. */
  lookBack({ descriptor }: OpenFile, { offset }: LogPlace): void {
    if (!this.#isCarried || this.#axis < 0) return;
    const at = Math.max(0, offset - LOOK_BACK);
    const bytes = readPart(descriptor, { at, length: offset - at });
    const lines = new TextDecoder().decode(bytes).split("\n").slice(1, -1);
    const found = lines.map((line) => numberIn(cellsOf(line)[this.#axis]))
      .findLast(Number.isFinite);
    if (found !== undefined) this.#x = found;
  }

  /** Takes whole lines. */
  read(bytes: Uint8Array): void {
    if (this.#axis < 0 || this.#curves.length === 0) return;
    if (bytes.includes(QUOTE)) this.#readQuoted(bytes);
    else this.#readPlain(bytes);
  }

  /** Takes lines without quotes, of which the cells that are wanted alone are read. */
  #readPlain(bytes: Uint8Array): void {
    const values = this.#values, wanted = this.#wanted;
    let column = 0, next = 0, start = 0;
    values.fill(NaN);
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte !== COMMA && byte !== NEWLINE) continue;
      if (column === wanted[next]) {
        // Most cells of evaluations are empty.
        if (at > start) values[next] = numberAt(bytes, start, at);
        next++;
      }
      start = at + 1;
      column++;
      if (byte === COMMA && next < wanted.length) continue;
      if (byte === COMMA) { while (bytes[at] !== NEWLINE) at++; }
      this.#take(values);
      values.fill(NaN);
      start = at + 1;
      column = next = 0;
    }
  }

  #readQuoted(bytes: Uint8Array): void {
    const lines = new TextDecoder().decode(bytes).split("\n").slice(0, -1);
    for (const line of lines) {
      const cells = cellsOf(line);
      this.#take(this.#wanted.map((place) => numberIn(cells[place])));
    }
  }

  /** Takes the values of a row, in the order of {@linkcode #wanted}. */
  #take(values: ArrayLike<number>): void {
    const x = values[this.#axisAt];
    // An evaluation has no time of its own: it follows the row before.
    if (Number.isFinite(x)) this.#x = x;
    else if (!this.#isCarried) return;
    if (!Number.isFinite(this.#x)) return;
    for (const { at, thinner } of this.#curves) {
      const y = values[at];
      if (Number.isFinite(y)) thinner.add(this.#x, y);
    }
  }

  curves(): NewPoints["curves"] {
    return Object.fromEntries(
      this.#curves.map(({ name, thinner }) => [name, thinner.points()] as const)
        .filter(([, { x }]) => x.length > 0),
    );
  }
}
