import type { EpisodeStatistics, StateTree, Statistics } from "@bellman/types";

/** One row of a log. */
export interface LogRow {
  /** Environment steps so far, of all environments. */
  readonly step: number;
  /** The numbers to log, in the order in which to show them. */
  readonly statistics: Statistics;
}

/** Ended episode with the step at which it ended. */
export interface LoggedEpisode extends EpisodeStatistics {
  /** Environment steps when the episode ended, of all environments. */
  readonly step: number;
}

/** Image of a run, such as an episode as an animated GIF. */
export interface LoggedImage {
  /** Environment steps so far, of all environments. */
  readonly step: number;
  /** Name with its group, such as `eval/episode`. */
  readonly name: string;
  /** Width in pixels. */
  readonly width: number;
  /** Height in pixels. */
  readonly height: number;
  /** Content of a file that browsers show: PNG, JPEG or GIF. */
  readonly data: Uint8Array;
}

/** Settings of a run by name. */
export type Hyperparameters = Readonly<
  Record<string, string | number | boolean | null>
>;

/** Ends of a run: all was done, or a number was no longer finite. */
export type RunEnd = "success" | "failure";

/**
 * Log of a run; a custom one is an object with `write` and `close`. All methods
 * are synchronous, so that what was logged before a checkpoint is in the file before
 * the checkpoint is.
 */
export interface Logger {
  /** Logs the settings of a run that begins, before its first row. */
  writeHyperparameters?(settings: Hyperparameters): void;
  /** Logs one row. */
  write(row: LogRow): void;
  /** Logs one ended episode. */
  writeEpisode?(episode: LoggedEpisode): void;
  /** Logs one image. The training loop does not: {@link Callback} may. */
  writeImage?(image: LoggedImage): void;
  /** Logs the end of a run, unless it was interrupted and may go on. */
  writeEnd?(status: RunEnd): void;
  /** Brings what was written to the disk. Called before each checkpoint. */
  flush?(): void;
  /** Names the logger in checkpoints; two of one name are numbered in order. */
  readonly name?: string;
  /** State of what was written so far, for the checkpoint that is made now. */
  save?(): StateTree;
  /**
   * Drops what was logged after `step`. Called when a run is resumed from there, with what `save` returned then.
   *
   * @returns One line for people, if what was logged before is no longer there as it was.
   */
  truncate?(step: number, saved?: StateTree): string | void;
  /** Flushes and releases the file. Closing twice is allowed. */
  close(): void;
}

/** A line of a table: name and value; that of a group has no value. */
type Cell = readonly [name: string, value: string];

/** Lists statistics under the names of their groups. */
function cellsOf(statistics: Statistics): Cell[] {
  const groups = Map.groupBy(
    Object.entries(statistics),
    ([name]) => name.slice(0, Math.max(0, name.indexOf("/"))),
  );
  return [...groups].flatMap(([group, entries]): Cell[] => {
    if (group === "") {
      return entries.map(([name, value]) => [name, formatNumber(value)]);
    }
    const lines = entries.map(([name, value]): Cell => [
      `  ${name.slice(group.length + 1)}`,
      formatNumber(value),
    ]);
    return [[group, ""], ...lines];
  });
}

/** Returns the widths of both columns. */
function widthsOf(cells: readonly Cell[]): [number, number] {
  const widest = (column: 0 | 1) =>
    Math.max(0, ...cells.map((cell) => cell[column].length));
  return [widest(0), widest(1)];
}

/** Columns between two parts of a table. */
const gap = 4;

/**
 * Lays a row's statistics out in lines, side by side where there is room. Those
 * that a progress bar shows are left out.
 *
 * @param statistics The row.
 * @param room Columns and lines that it may take.
 */
export function tableLines(
  statistics: Statistics,
  room: { readonly columns: number; readonly rows: number },
): string[] {
  const {
    "time/steps": _steps,
    "time/steps_per_second": _rate,
    ...others
  } = statistics;
  const cells = cellsOf(others);
  const [names, values] = widthsOf(cells);
  const width = names + 2 + values;
  const parts = Math.max(1, Math.floor((room.columns + gap) / (width + gap)));
  const beside = inParts(cells, parts);
  const height = Math.max(...beside.map(({ length }) => length));
  const fits = Math.min(height, Math.max(0, room.rows));
  const lines = Array.from(
    { length: fits },
    (_, row) =>
      beside.map((part) => part[row] ?? ["", ""]).map(([name, value]) =>
        name.padEnd(names) + "  " + value.padStart(values)
      ).join(" ".repeat(gap)).trimEnd().slice(0, room.columns),
  );
  if (fits < height && fits > 0) lines[fits - 1] = "  ...";
  return lines;
}

/** Divides lines into parts of about one height, without the name of a group at an end. */
function inParts(cells: readonly Cell[], parts: number): Cell[][] {
  for (let height = Math.ceil(cells.length / parts);; height++) {
    const divided: Cell[][] = [[]];
    for (const cell of cells) {
      const { length } = divided.at(-1)!;
      const isGroup = cell[1] === "";
      if (length === height || isGroup && length === height - 1) {
        divided.push([]);
      }
      divided.at(-1)!.push(cell);
    }
    if (divided.length <= parts) return divided;
  }
}

/** Formats a number for people: a dash where there is none. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return "-";
  // The sign of a zero means nothing to people.
  if (!Number.isFinite(value)) return String(value).toLowerCase();
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e15) {
    return (value + 0).toLocaleString("en-US");
  }
  if (size >= 1e7 || size < 1e-4) return value.toExponential(3);
  return String(
    Number(value.toPrecision(Math.max(4, Math.floor(Math.log10(size)) + 1))),
  );
}
