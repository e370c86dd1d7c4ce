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
   * Describes the speed in more detail than the total rate, such as by worker.
   *
   * @default none
   */
  speed?: () => string;
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
  const { write, isTerminal, columns = 80 } = options;
  const { now = () => performance.now() } = options;
  const isColored = isTerminal && (options.color ?? !noColor());
  const samples: Sample[] = [];
  let isShown = false;

  function sample(time: number, step: number): void {
    samples.push({ time, step });
    // Two are needed, and those older than the window blur the rate.
    while (samples.length > 2 && time - samples[1].time >= rateWindow) {
      samples.shift();
    }
  }

  function show(state: ProgressState): void {
    const fraction = Math.min(1, state.step / state.totalTimesteps);
    const percent = `${Math.floor(fraction * 100)}%`.padStart(4);
    const speed = options.speed?.() ?? "";
    const details = detailsOf(state, { rate: rateOf(samples), speed });
    if (!isTerminal) return write(`${percent}  ${details}\n`);
    // The bar takes what the text leaves, and goes where that is too little.
    const room = columns - 1 - percent.length - details.length - 4;
    const width = Math.min(30, room);
    const text = width < 8
      ? `${percent}  ${details}`.slice(0, columns - 1)
      : `${percent}  ${bar(fraction, width, isColored)}  ${details}`;
    write(`\r\x1b[2K${text}`);
    isShown = true;
  }

  return {
    update(state) {
      const time = now();
      const last = samples.at(-1);
      if (last === undefined) return sample(time, state.step);
      const interval = isTerminal ? barInterval : lineInterval;
      if (time - last.time < interval) return;
      sample(time, state.step);
      show(state);
    },
    clear() {
      if (isTerminal && isShown) write("\r\x1b[2K");
      isShown = false;
    },
    finish(state) {
      const time = now();
      if (samples.length === 0 || time > samples.at(-1)!.time) {
        sample(time, state.step);
      }
      show(state);
      if (isTerminal) write("\n");
      isShown = false;
    },
  };
}

interface Sample {
  readonly time: number;
  readonly step: number;
}

/** Steps per second between the first sample and the last. */
function rateOf(samples: readonly Sample[]): number {
  const first = samples[0], last = samples.at(-1)!;
  return (last.step - first.step) / (last.time - first.time) * 1000;
}

function detailsOf(
  state: ProgressState,
  { rate, speed }: { rate: number; speed: string },
): string {
  const { step, totalTimesteps, meanReturn } = state;
  const left = (totalTimesteps - step) / rate;
  return [
    `${count(step)}/${count(totalTimesteps)} steps`,
    Number.isFinite(rate) ? `${count(rate)}/s` : "",
    speed,
    step < totalTimesteps && Number.isFinite(left) ? `${clock(left)} left` : "",
    Number.isFinite(meanReturn) ? `return ${meanReturn.toFixed(1)}` : "",
  ].filter((part) => part !== "").join("  ");
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
