import { formatDuration } from "@bellman/training";
import { type CommandIo, printable } from "@bellman/runs/program";
import { type ExperimentProgress, keyOf } from "@bellman/experiments";

function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** Describes how far all cells are: `13 of 60 cells finished, 12:30 left`. */
export function progressLine(
  { cells, running, secondsLeft }: ExperimentProgress,
): string {
  const of = (state: string) => cells.filter((it) => it.state === state).length;
  const active = [...running].length;
  return [
    `${of("finished")} of ${cells.length} cells finished`,
    active > 0 ? `${active} running` : "",
    of("failed") > 0 ? `${of("failed")} failed` : "",
    secondsLeft ? `${formatDuration(secondsLeft)} left` : "",
  ].filter((it) => it !== "").join(", ");
}

/** Draws a line for each variant in each environment, and one for all cells. */
export function boardLines(
  state: ExperimentProgress,
  { columns, rows }: { columns: number; rows: number },
): string[] {
  const running = Map.groupBy(state.running, ({ cell }) => keyOf(cell));
  const groups = [...Map.groupBy(state.cells, keyOf)];
  const table = groups.map(([key, cells]) => {
    const finished = cells.filter((it) => it.last !== null);
    const failed = cells.filter((it) => it.state === "failed").length;
    const active = running.get(key) ?? [];
    const rate = active.reduce((sum, it) => sum + it.rate, 0);
    const mean = finished.reduce((sum, it) => sum + it.last!.meanReturn, 0) /
      finished.length;
    return [
      key,
      `${finished.length}/${cells.length}`,
      active.length > 0
        ? `${active.length} running${rate > 0 ? `, ${count(rate)}/s` : ""}`
        : "",
      failed > 0 ? `${failed} failed` : "",
      finished.length > 0 ? `mean ${mean.toFixed(1)}` : "",
    ];
  });
  // Those that run are shown first where there is room for some alone.
  const room = Math.max(1, rows - 3);
  const shown = table.length <= room ? table : [
    ...table.filter((row) => row[2] !== ""),
    ...table.filter((row) => row[2] === ""),
  ].slice(0, room - 1);
  const widths = shown[0].map((_, i) =>
    Math.max(...shown.map((row) => row[i].length))
  );
  const hidden = table.length - shown.length;
  return [
    ...shown.map((row) =>
      row.map((cell, i) => cell.padEnd(widths[i])).filter((_, i) =>
        widths[i] > 0
      ).join("  ").trimEnd()
    ),
    ...hidden > 0 ? [`and ${hidden} more`] : [],
    progressLine(state),
    // The last column is left free: some terminals wrap there.
  ].map((line) => line.slice(0, columns - 1));
}

/** Milliseconds between two drawings. */
const INTERVAL_MS = 1_000;

/**
 * Shows an experiment: in a terminal a table that stays below what is printed,
 * elsewhere the printed lines alone.
 */
export class Board {
  readonly #io: CommandIo;
  #stateOf: (() => ExperimentProgress) | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #height = 0;

  /**
   * Makes one that shows nothing yet.
   *
   * @param io Where to.
   */
  constructor(io: CommandIo) {
    this.#io = io;
  }

  /**
   * Begins to show an experiment.
   *
   * @param stateOf Returns its present state.
   */
  begin(stateOf: () => ExperimentProgress): void {
    this.#stateOf = stateOf;
    if (!this.#io.errIsTerminal) return;
    this.#timer = setInterval(() => this.#draw(), INTERVAL_MS);
  }

  /** Prints a line that stays, by the stream that it belongs to. */
  print(line: string, write: (text: string) => void): void {
    this.#clear();
    write(`${line}\n`);
    if (this.#timer !== undefined) this.#draw();
  }

  /** Shows the last state and leaves it. */
  close(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#draw();
    this.#height = 0;
  }

  #write(text: string): void {
    (this.#io.raw ?? this.#io).err(text);
  }

  #clear(): void {
    if (this.#height > 0) this.#write(`\x1b[${this.#height}A\r\x1b[J`);
    this.#height = 0;
  }

  #draw(): void {
    const size = this.#io.size?.() ?? { columns: 80, rows: 24 };
    const lines = boardLines(this.#stateOf!(), size).map(printable);
    const up = this.#height > 0 ? `\x1b[${this.#height}A\r` : "";
    this.#write(`${up}${lines.map((it) => `${it}\x1b[K\n`).join("")}\x1b[J`);
    this.#height = lines.length;
  }
}
