/** Progress of a run. */
export interface ProgressState {
  /** Environment steps taken. */
  readonly step: number;
  /** Environment steps of the whole run. */
  readonly totalTimesteps: number;
  /** Environment steps at which this process began: 0, or those of the checkpoint it resumed. */
  readonly startStep: number;
  /** Mean return of the last episodes, NaN while there is none. */
  readonly meanReturn: number;
}

/**
 * Display of a run's progress. Called after each step, so it must return at once when there is nothing to show.
 */
export interface ProgressReporter {
  /** Shows the state, if it is time to. */
  update(state: ProgressState): void;
  /** Takes the bar away, so that something else can be written. */
  clear?(): void;
  /** Shows the last state and leaves it. */
  finish(state: ProgressState): void;
}

/** Options of {@link createProgress}. */
export interface ProgressOptions {
  /** Takes the text, for example to standard error. */
  write: (text: string) => void;
  /** True where the text goes to a terminal: a bar on one line then, otherwise plain lines. */
  isTerminal: boolean;
  /**
   * Use colour in a terminal.
   *
   * @default true, unless the environment variable NO_COLOR is set
   */
  color?: boolean;
  /**
   * Width of the terminal in characters.
   *
   * @default 80
   */
  columns?: number;
  /**
   * Milliseconds since any fixed moment.
   *
   * @default () => performance.now()
   */
  now?: () => number;
}

/** Milliseconds between two looks of the bar, and between two plain lines. */
const barInterval = 100;
const lineInterval = 10_000;
/** Milliseconds over which the rate is measured, at least. */
const rateWindow = 10_000;

/**
 * Shows the progress of a run: steps, percentage, steps per second, time left, mean
 * return. In a terminal it is a bar that stays on one line; elsewhere a plain
 * line every ten seconds.
 *
 * @param options Output, and its colours and width.
 * @returns A reporter for {@link TrainOptions.progress}.
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
export function createProgress(options: ProgressOptions): ProgressReporter {
  return new Progress(options);
}

class Progress implements ProgressReporter {
  #write: (text: string) => void;
  #now: () => number;
  #color: boolean;
  #columns: number;
  #isTerminal: boolean;
  #samples: { time: number; step: number }[] = [];
  #shown = false;

  constructor(options: ProgressOptions) {
    this.#write = options.write;
    this.#isTerminal = options.isTerminal;
    this.#columns = options.columns ?? 80;
    this.#now = options.now ?? (() => performance.now());
    this.#color = options.isTerminal && (options.color ?? !noColor());
  }

  update(state: ProgressState): void {
    const time = this.#now();
    const last = this.#samples.at(-1);
    if (last === undefined) {
      this.#samples.push({ time, step: state.step });
      return;
    }
    const interval = this.#isTerminal ? barInterval : lineInterval;
    if (time - last.time < interval) return;
    this.#sample(time, state.step);
    this.#show(state);
  }

  clear(): void {
    if (this.#isTerminal && this.#shown) this.#write("\r\x1b[2K");
    this.#shown = false;
  }

  finish(state: ProgressState): void {
    const time = this.#now();
    if (this.#samples.length === 0 || time > this.#samples.at(-1)!.time) {
      this.#sample(time, state.step);
    }
    this.#show(state);
    if (this.#isTerminal) this.#write("\n");
    this.#shown = false;
  }

  #sample(time: number, step: number): void {
    const samples = this.#samples;
    samples.push({ time, step });
    // Two are needed, and those older than the window blur the rate.
    while (samples.length > 2 && time - samples[1].time >= rateWindow) {
      samples.shift();
    }
  }

  #show(state: ProgressState): void {
    const { step, totalTimesteps, meanReturn } = state;
    const fraction = Math.min(1, step / totalTimesteps);
    const rate = this.#rate();
    const left = (totalTimesteps - step) / rate;
    const percent = `${Math.floor(fraction * 100)}%`.padStart(4);
    const details = [
      `${count(step)}/${count(totalTimesteps)} steps`,
      Number.isFinite(rate) ? `${count(rate)}/s` : "",
      step < totalTimesteps && Number.isFinite(left)
        ? `${clock(left)} left`
        : "",
      Number.isFinite(meanReturn) ? `return ${meanReturn.toFixed(1)}` : "",
    ].filter((part) => part !== "").join("  ");
    if (!this.#isTerminal) {
      this.#write(`${percent}  ${details}\n`);
      return;
    }
    // The bar takes what the text leaves, and goes where that is too little.
    const room = this.#columns - 1 - percent.length - details.length - 4;
    const width = Math.min(30, room);
    const text = width < 8
      ? `${percent}  ${details}`.slice(0, this.#columns - 1)
      : `${percent}  ${this.#bar(fraction, width)}  ${details}`;
    this.#write(`\r\x1b[2K${text}`);
    this.#shown = true;
  }

  #bar(fraction: number, width: number): string {
    const full = Math.floor(fraction * width);
    const half = fraction * width - full >= 0.5 && full < width;
    const rest = width - full - +half;
    const done = "━".repeat(full) + (half ? "╸" : "");
    return this.#color
      ? `\x1b[36m${done}\x1b[90m${"━".repeat(rest)}\x1b[0m`
      : done + " ".repeat(rest);
  }

  /** Steps per second over the last seconds. */
  #rate(): number {
    const first = this.#samples[0];
    const last = this.#samples.at(-1)!;
    return (last.step - first.step) / (last.time - first.time) * 1000;
  }
}

function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** Hours, minutes and seconds, as in `1:02:03`. */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = String(whole % 60).padStart(2, "0");
  return hours > 0
    ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}`
    : `${minutes}:${rest}`;
}

/** Deno answers this without a permission. */
function noColor(): boolean {
  return (globalThis as { Deno?: { noColor: boolean } }).Deno?.noColor ?? false;
}
