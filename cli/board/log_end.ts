import { type InsideFile, readPart, withInside } from "./inside.ts";
import { cellsOf, numberIn, readHeader, STEPS } from "./log_file.ts";
import type { EvaluationPoint } from "./messages.ts";

/** Last values of a run's log. */
export interface LogEnd {
  /** Names of its columns. */
  statistics: string[];
  step: number;
  return: number | null;
  stepsPerSecond: number | null;
  seconds: number | null;
  lastEvaluation: EvaluationPoint | null;
  /** Best one of those that were looked at. */
  bestEvaluation: EvaluationPoint | null;
  /** True where all rows were looked at. */
  isWhole: boolean;
}

/** Columns of the values. */
const COLUMNS = {
  step: STEPS,
  return: "rollout/return_mean",
  stepsPerSecond: "time/steps_per_second",
  seconds: "time/seconds",
} as const;
type Name = keyof typeof COLUMNS;
const EVALUATION = "eval/return_mean";

/** Bytes that are looked at: more where evaluations are rare. */
const BLOCK_BYTES = 1 << 16, MOST_BYTES = 1 << 20;

/**
 * Reads the last values of a log, of which no more than its end is read.
 *
 * @throws {Error} If it cannot be read, or is no log.
 */
export function readLogEnd(log: InsideFile): LogEnd | undefined {
  return withInside(log, (file) => {
    const header = readHeader(file);
    if (header === undefined) return undefined;
    const end = new EndReader(header.columns);
    let bytes: Uint8Array, at: number;
    for (let length = BLOCK_BYTES;; length *= 4) {
      at = Math.max(header.end, file.size - length);
      bytes = readPart(file.descriptor, { at, length: file.size - at });
      const lines = new TextDecoder().decode(bytes).split("\n").slice(0, -1);
      // A row that begins before is left out.
      const isWhole = at === header.end;
      end.read(isWhole ? lines : lines.slice(1), { isWhole });
      if (isWhole || end.isFound || length >= MOST_BYTES) return end.values();
    }
  });
}

class EndReader {
  readonly #columns: string[];
  readonly #places: Readonly<Record<Name, number>>;
  readonly #evaluation: number;
  #found: Record<Name, number | null> = none();
  #last: EvaluationPoint | null = null;
  #best: EvaluationPoint | null = null;
  #isWhole = false;

  constructor(columns: string[]) {
    this.#columns = columns;
    const place = (name: Name) => columns.indexOf(COLUMNS[name]);
    this.#places = {
      step: place("step"),
      return: place("return"),
      stepsPerSecond: place("stepsPerSecond"),
      seconds: place("seconds"),
    };
    this.#evaluation = columns.indexOf(EVALUATION);
  }

  /** True where nothing more can be found in earlier rows. */
  get isFound(): boolean {
    const isThere = (name: Name) =>
      this.#places[name] < 0 || this.#found[name] !== null;
    return (["step", "stepsPerSecond", "seconds"] as const).every(isThere) &&
      (this.#evaluation < 0 || this.#last !== null);
  }

  read(lines: readonly string[], { isWhole }: { isWhole: boolean }): void {
    this.#found = none();
    this.#isWhole = isWhole;
    this.#last = this.#best = null;
    for (let i = lines.length - 1; i >= 0; i--) {
      if (lines[i] === "") continue;
      this.#take(cellsOf(lines[i]));
    }
  }

  /** Takes a row, the last one first. */
  #take(cells: readonly string[]): void {
    const step = numberIn(cells[this.#places.step]);
    for (const name of Object.keys(COLUMNS) as Name[]) {
      if (this.#found[name] !== null) continue;
      const value = numberIn(cells[this.#places[name]]);
      if (Number.isFinite(value)) this.#found[name] = value;
    }
    const value = numberIn(cells[this.#evaluation]);
    if (!Number.isFinite(value) || !Number.isFinite(step)) return;
    this.#last ??= { step, value };
    // Of equal ones the first is the best.
    if (this.#best === null || value >= this.#best.value) {
      this.#best = { step, value };
    }
  }

  values(): LogEnd {
    const { step, ...rest } = this.#found;
    return {
      statistics: this.#columns,
      ...rest,
      step: step ?? 0,
      lastEvaluation: this.#last,
      bestEvaluation: this.#best,
      isWhole: this.#isWhole,
    };
  }
}

function none(): Record<Name, number | null> {
  return { step: null, return: null, stepsPerSecond: null, seconds: null };
}
