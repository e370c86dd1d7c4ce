import { builtin, isColorUnwanted, platform } from "@bellman/files";
import {
  formatNumber,
  type Logger,
  type LogRow,
  tableLines,
} from "./logs/logger.ts";

/** Progress of a run. */
export interface ProgressState {
  /** Environment steps taken. */
  readonly step: number;
  /** Environment steps of the whole run. */
  readonly totalTimesteps: number;
  /** Environment steps at the start of this process: 0, or those of the resumed checkpoint. */
  readonly startStep: number;
  /** Mean return of the last episodes, NaN if there is none. */
  readonly meanReturn: number;
}

/**
 * Progress display. Called after each step, so it must return at once if there is
 * nothing to show.
 */
export interface ProgressReporter {
  /** Shows the progress, if it is time to. */
  update(state: ProgressState): void;
  /** Clears the bar, so that other text can be written. */
  clear?(): void;
  /** Shows the final progress and leaves it on the screen. */
  finish(state: ProgressState): void;
}

/** Size of a terminal in characters. */
export interface ScreenSize {
  /** Characters in a line. */
  readonly columns: number;
  /** Lines. */
  readonly rows: number;
}

/**
 * Progress display of a run, for the option `progress` of `train` and, for the table
 * and evaluations, among its `loggers`.
 */
export interface ProgressDisplay extends ProgressReporter, Logger {
  /** Clears bar and table until they are shown again. */
  clear(): void;
  /**
   * Prints lines that stay on the screen, above table and bar.
   *
   * @param text Lines; the final line break may be missing.
   * @param write Writes them while no bar is shown; the display's `write` by default.
   */
  print(text: string, write?: (text: string) => void): void;
}

/** Options of {@link createProgress}. */
export interface ProgressOptions {
  /** Writes text, for example to standard error. */
  write: (text: string) => void;
  /** True for a terminal: shows a bar on one line, otherwise plain lines. */
  isTerminal: boolean;
  /**
   * Writes the lines about evaluations, if they do not go to the bar's terminal.
   *
   * @default write
   */
  writeEvaluations?: (text: string) => void;
  /**
   * Use colour in a terminal.
   *
   * @default true, unless the environment variable NO_COLOR is set
   */
  color?: boolean;
  /**
   * Describes the speed in more detail than the total rate, such as for each worker.
   *
   * @default none
   */
  speed?: () => string;
  /**
   * Size of the terminal; called before each update.
   *
   * @default () => ({ columns: 80, rows: 24 })
   */
  size?: () => ScreenSize;
  /**
   * Clock in milliseconds.
   *
   * @default () => performance.now()
   */
  now?: () => number;
}

/**
 * Milliseconds between updates of the bar, until the first plain line, and between
 * plain lines.
 */
const barInterval = 100;
const firstLineAfter = 1_000;
const lineInterval = 10_000;
/** Milliseconds between two tables. */
const tableInterval = 2_000;
/**
 * Number of evaluations in a row that a terminal shows, and milliseconds before it
 * shows one more.
 */
const evaluationLines = 4;
const evaluationInterval = 12_000;
/** Minimum milliseconds over which the rate is measured. */
const rateWindow = 10_000;

/**
 * Makes a progress display: steps, percentage, steps per second, time left, mean
 * return. In a terminal it is a bar on the last line, elsewhere a plain line after a
 * second and then every ten.
 *
 * As a logger it also shows a line for each evaluation and, in a terminal, a table of
 * the latest statistics above the bar, at most every two seconds. A terminal skips
 * evaluations that come too fast to read.
 *
 * @param options Output, colours and size.
 * @returns A progress display and logger.
 *
 * @example
 * ```ts
 * import { createProgress } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * let text = "";
 * let time = 0;
 * const progress = createProgress({
 *   write: (more) => text += more,
 *   isTerminal: false,
 *   now: () => time,
 * });
 * const run = { totalTimesteps: 200_000, startStep: 0, meanReturn: 187.25 };
 * progress.update({ ...run, step: 0 });
 * time = 10_000;
 * progress.update({ ...run, step: 50_000 });
 * assertEquals(
 *   text,
 *   " 25%  50,000/200,000 steps  5,000/s  0:30 left  return 187.3\n",
 * );
 * ```
 */
export function createProgress(options: ProgressOptions): ProgressDisplay {
  return new Display(options);
}

/** Milliseconds after which a run is long enough for a bar that nobody asked for. */
const shortRun = 500;

/** Shows a display only if the run is long, for programs with many short ones. */
export function shownIfLong(
  display: ProgressReporter,
  now: () => number,
): ProgressReporter {
  let startedAt: number | undefined, isShown = false;
  return {
    update(state) {
      startedAt ??= now();
      isShown ||= now() - startedAt >= shortRun;
      if (isShown) display.update(state);
    },
    clear: () => display.clear?.(),
    finish(state) {
      if (isShown) display.finish(state);
    },
  };
}

/** Makes a bar on the terminal of standard error; none where that is no terminal. */
export function terminalProgress(
  now: () => number,
): ProgressReporter | undefined {
  if (platform().os === "page") return undefined;
  const { stderr } = builtin("node:process");
  if (!stderr.isTTY) return undefined;
  const { writeSync } = builtin("node:fs");
  return createProgress({
    isTerminal: true,
    now,
    write(text) {
      try {
        writeSync(2, text); // At once: training leaves streams no time.
      } catch {
        // The terminal is closed; training goes on.
      }
    },
    size: () => ({ columns: stderr.columns || 80, rows: stderr.rows || 24 }),
  });
}

/**
 * Calls a function with the progress, ten times a second at most.
 *
 * @param onProgress Receives a copy.
 * @param now Clock in milliseconds.
 */
export function progressCalls(
  onProgress: (state: ProgressState) => void,
  now: () => number,
): ProgressReporter {
  let calledAt = -Infinity;
  const call = (state: ProgressState) => {
    const { step, totalTimesteps, startStep, meanReturn } = state;
    onProgress({ step, totalTimesteps, startStep, meanReturn });
  };
  return {
    update(state) {
      const time = now();
      if (time - calledAt < barInterval) return;
      calledAt = time;
      call(state);
    },
    finish: call,
  };
}

/** Bar and table on the last lines of a terminal. */
class Display implements ProgressDisplay {
  readonly #options: ProgressOptions;
  readonly #isColored: boolean;
  readonly #now: () => number;
  readonly #samples: Sample[] = [];
  /** Latest row of an update, and the row in the table. */
  #newest: LogRow | undefined;
  #table: LogRow | undefined;
  #tableAt = -Infinity;
  /** Progress that the bar shows. */
  #state: ProgressState | undefined;
  /** Widths of the lines on the screen; the bar is the last. */
  #shown: readonly number[] = [];
  /** Number of evaluations that may still be shown, and the time when it last grew. */
  #allowed = evaluationLines;
  #allowedAt: number;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#isColored = options.isTerminal &&
      (options.color ?? !isColorUnwanted());
    this.#now = options.now ?? (() => performance.now());
    this.#allowedAt = this.#now();
  }

  update(state: ProgressState): void {
    const time = this.#now(), last = this.#samples.at(-1);
    const { isTerminal } = this.#options;
    if (last !== undefined) {
      const lineAfter = this.#samples.length === 1
        ? firstLineAfter
        : lineInterval;
      if (time - last.time < (isTerminal ? barInterval : lineAfter)) return;
    }
    this.#sample(time, state.step);
    // A plain line shows the rate, which needs two samples; the bar appears at once.
    if (isTerminal || last !== undefined) this.#show(state);
  }

  write(row: LogRow): void {
    const { isTerminal, write, writeEvaluations = write } = this.#options;
    if ("eval/return_mean" in row.statistics) {
      const line = evaluationLine(row);
      if (writeEvaluations !== write) writeEvaluations(line);
      else if (!isTerminal) write(line);
      else if (this.#allows()) this.print(line);
      return;
    }
    this.#newest = row;
    const time = this.#now();
    if (!isTerminal || time - this.#tableAt < tableInterval) return;
    this.#tableAt = time;
    this.#table = row;
    if (this.#shown.length > 0) this.#draw();
  }

  print(text: string, write = this.#options.write): void {
    const lines = text.replace(/\n$/, "");
    if (this.#shown.length === 0) write(`${lines}\n`);
    else this.#draw(lines.split("\n"));
  }

  clear(): void {
    if (this.#shown.length === 0) return;
    this.#options.write(`${this.#home()}\x1b[J`);
    this.#shown = [];
  }

  finish(state: ProgressState): void {
    const time = this.#now(), last = this.#samples.at(-1);
    if (last === undefined || time > last.time) this.#sample(time, state.step);
    this.#table = this.#newest;
    this.#show(state);
    if (this.#options.isTerminal) this.#options.write("\n");
    this.#shown = [];
  }

  /** Does nothing: the caller owns the output. */
  close(): void {}

  #sample(time: number, step: number): void {
    const samples = this.#samples;
    samples.push({ time, step });
    // At least two samples are needed; those older than the window blur the rate.
    while (samples.length > 2 && time - samples[1].time >= rateWindow) {
      samples.shift();
    }
  }

  #allows(): boolean {
    const more = Math.floor(
      (this.#now() - this.#allowedAt) / evaluationInterval,
    );
    this.#allowed = Math.min(evaluationLines, this.#allowed + more);
    this.#allowedAt += more * evaluationInterval;
    if (this.#allowed === 0) return false;
    this.#allowed--;
    return true;
  }

  #show(state: ProgressState): void {
    this.#state = state;
    if (this.#options.isTerminal) this.#draw();
    else this.#options.write(`${this.#line(Infinity).text}\n`);
  }

  /** Redraws table and bar, below lines that stay. */
  #draw(lasting: readonly string[] = []): void {
    const { columns, rows } = this.#size();
    // The last column stays free: some terminals wrap there.
    const room = { columns: columns - 1, rows: rows - 2 };
    const table = this.#table === undefined
      ? []
      : tableLines(this.#table.statistics, room);
    const bar = this.#line(room.columns);
    const above = [...lasting, ...table].map((line) => `${line}\x1b[K\n`).join(
      "",
    );
    const down =
      lasting.reduce((sum, it) => sum + linesOf(it.length, columns), 0) +
      table.length + 1 - this.#height();
    const up = down + this.#height() - 1;
    // The new bar is drawn first if it is below the old one, so that one is always
    // visible.
    const text = down < 0 || up >= rows
      ? `${this.#home()}${above}${bar.text}\x1b[K\x1b[J`
      : "\n".repeat(down) + `\r${bar.text}\x1b[K` +
        (up > 0 ? `\r\x1b[${up}A${above}` : "");
    this.#shown = [...table.map(({ length }) => length), bar.width];
    this.#options.write(text);
  }

  /** Counts the lines on the screen; a terminal that became narrower has wrapped some. */
  #height(): number {
    const { columns } = this.#size();
    const lines = this.#shown.map((width) => linesOf(width, columns));
    return Math.max(1, lines.reduce((sum, it) => sum + it, 0));
  }

  /** Moves the cursor to the start of table and bar. */
  #home(): string {
    const up = this.#height() - 1;
    return up > 0 ? `\r\x1b[${up}A` : "\r";
  }

  #size(): ScreenSize {
    return this.#options.size?.() ?? { columns: 80, rows: 24 };
  }

  /** Formats percentage, bar and details for a number of columns. */
  #line(columns: number): { text: string; width: number } {
    const state = this.#state!;
    const fraction = Math.min(1, state.step / state.totalTimesteps);
    const details = detailsOf(state, {
      rate: rateOf(this.#samples),
      speed: this.#options.speed?.() ?? "",
    });
    const percent = `${Math.floor(fraction * 100)}%`.padStart(4);
    const text = () => Object.values(details).filter((it) => it !== "");
    const plain = () => [percent, ...text()].join("  ");
    if (columns === Infinity) return { text: plain(), width: 0 };
    // The least important details are dropped first.
    for (const key of ["speed", "rate", "steps", "left"] as const) {
      if (columns - plain().length - 2 >= leastBar) break;
      details[key] = "";
    }
    const room = Math.min(30, columns - plain().length - 2);
    if (room < leastBar) {
      const cut = plain().slice(0, Math.max(0, columns));
      return { text: cut, width: cut.length };
    }
    const drawn = bar(fraction, room, this.#isColored);
    return {
      text: [percent, drawn, ...text()].join("  "),
      width: plain().length + 2 + room,
    };
  }
}

/** Columns of the narrowest bar. */
const leastBar = 8;

/** Counts the lines that a text of this width takes. */
function linesOf(width: number, columns: number): number {
  return Math.max(1, Math.ceil(width / Math.max(1, columns)));
}

/** Describes an evaluation in one line. */
function evaluationLine({ step, statistics }: LogRow): string {
  const stat = (name: string) => formatNumber(statistics[`eval/${name}`]);
  const cut = statistics["eval/episodes_cut"] > 0
    ? `, ${stat("episodes_cut")} episodes cut`
    : "";
  return `Evaluation at step ${count(step)}: return ${stat("return_mean")} ± ${
    stat("return_std")
  }, from ${stat("return_min")} to ${stat("return_max")}${cut}\n`;
}

interface Sample {
  readonly time: number;
  readonly step: number;
}

/** Computes the steps per second between the first and last sample. */
function rateOf(samples: readonly Sample[]): number {
  const first = samples[0], last = samples.at(-1)!;
  return (last.step - first.step) / (last.time - first.time) * 1000;
}

function detailsOf(
  state: ProgressState,
  { rate, speed }: { rate: number; speed: string },
): Record<"steps" | "rate" | "speed" | "left" | "return", string> {
  const { step, totalTimesteps, meanReturn } = state;
  const left = (totalTimesteps - step) / rate;
  return {
    steps: `${count(step)}/${count(totalTimesteps)} steps`,
    rate: Number.isFinite(rate) ? `${count(rate)}/s` : "",
    speed,
    left: step < totalTimesteps && Number.isFinite(left)
      ? `${formatDuration(left)} left`
      : "",
    return: Number.isFinite(meanReturn)
      ? `return ${
        Math.abs(meanReturn) < 1e9
          ? meanReturn.toFixed(1)
          : meanReturn.toExponential(2)
      }`
      : "",
  };
}

function bar(fraction: number, width: number, isColored: boolean): string {
  const full = Math.floor(fraction * width);
  const half = fraction * width - full >= 0.5 && full < width;
  const rest = width - full - +half;
  const done = "━".repeat(full) + (half ? "╸" : "");
  return isColored
    ? `\x1b[36m${done}\x1b[90m${"━".repeat(rest)}\x1b[0m`
    : done + " ".repeat(rest);
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/**
 * Formats a duration in hours, minutes and seconds, rounded up.
 *
 * @param seconds The duration.
 * @returns Text such as `1:02:03` or `2:03`.
 *
 * @example
 * ```ts
 * import { formatDuration } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals([3723, 122.5].map(formatDuration), ["1:02:03", "2:03"]);
 * ```
 */
export function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = String(whole % 60).padStart(2, "0");
  return hours > 0
    ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}`
    : `${minutes}:${rest}`;
}
