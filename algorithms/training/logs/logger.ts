import type { EpisodeStatistics, StateTree, Statistics } from "@bellman/types";

/** Row of a log. */
export interface LogRow {
  /** Environment steps so far, of all environments. */
  readonly step: number;
  /** Numbers to log, in display order. */
  readonly statistics: Statistics;
}

/** Finished episode with its step. */
export interface LoggedEpisode extends EpisodeStatistics {
  /** Environment steps so far, of all environments. */
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
  /** Content of a PNG, JPEG or GIF file. */
  readonly data: Uint8Array;
}

/** Settings of a run by name. */
export type Hyperparameters = Readonly<
  Record<string, string | number | boolean | null>
>;

/** End of a run: successful, or failed by a number that is not finite. */
export type RunEnd = "success" | "failure";

/**
 * Logger of a run; a custom one needs `write` and `close`. All methods are synchronous,
 * so that logs are on disk before a checkpoint is.
 */
export interface Logger {
  /** Logs the settings of a run, before its first row. */
  writeHyperparameters?(settings: Hyperparameters): void;
  /** Logs a row. */
  write(row: LogRow): void;
  /** Logs a finished episode. */
  writeEpisode?(episode: LoggedEpisode): void;
  /** Logs an image. The training loop does not call it, but a {@link Callback} may. */
  writeImage?(image: LoggedImage): void;
  /** Logs the end of a run, unless it was interrupted and may go on. */
  writeEnd?(status: RunEnd): void;
  /** Flushes to disk. Called before each checkpoint. */
  flush?(): void;
  /** Name in checkpoints; equal names are numbered. */
  readonly name?: string;
  /** Saves the position in the log, for a checkpoint. */
  save?(): StateTree;
  /**
   * Removes rows after `step`. Called when a run resumes, with the result of `save`
   * then.
   *
   * @returns A warning if earlier rows are damaged.
   */
  truncate?(step: number, saved?: StateTree): string | void;
  /** Flushes and closes the file. May be called twice. */
  close(): void;
}

/** Line of a table: name and value; the value of a group's title is empty. */
type Cell = readonly [name: string, value: string];

/** Lists statistics under the titles of their groups. */
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
 * Formats a row's statistics as lines, side by side if there is room. Those that a
 * progress bar shows are left out.
 *
 * @param statistics Statistics of the row.
 * @param room Available columns and lines.
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

/** Divides lines into parts of about equal height, without a group's title at an end. */
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

/** Formats a number for display; a dash for NaN. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return "-";
  // Shows no negative zero.
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
