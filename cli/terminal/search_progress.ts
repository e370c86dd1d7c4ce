import { formatDuration } from "@bellman/training";
import type { RunEvent } from "@bellman/runs/tasks";
import { type CommandIo, printable } from "@bellman/runs/program";
import {
  bestOf,
  type SearchPlan,
  type Trial,
  type TrialRun,
} from "@bellman/search";

/** Milliseconds between two states of the line that stays. */
const SHOWN_MS = 200;

/** What a search shows of itself. */
export interface SearchProgress {
  /** Output above the line that stays. */
  io: CommandIo;
  /** Prints where the search is when it begins. */
  begin(trials: readonly Trial[], dir: string): void;
  /** Prints a trial that has ended. */
  tell(trial: Trial, trials: readonly Trial[]): void;
  /** Shows how far a run is. */
  show(trial: Trial, run: TrialRun, event: RunEvent): void;
  /** Prints a line. */
  print(text: string): void;
  /** Clears the line that stays. */
  end(): void;
}

/** Formats a number with four digits. */
function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}

function describeTrial(trial: Trial): string {
  const { number, state, value, message, evaluations } = trial;
  const count = evaluations.reduce((sum, it) => sum + it.length, 0);
  const last = evaluations.at(-1)?.at(-1)?.value;
  if (state === "complete") return `Trial ${number}: ${short(value!)}`;
  if (state === "failed") return `Trial ${number} failed: ${message}`;
  return `Trial ${number}: pruned at ${
    short(last!)
  } after ${count} evaluations`;
}

/**
 * Shows the progress of a search: a line for each trial and, on a terminal, one that
 * stays.
 */
export function progressOn(io: CommandIo, plan: SearchPlan): SearchProgress {
  const start = performance.now();
  let ended = 0, shownAt = 0, rest = "";
  const { raw = io } = io;
  const clear = () => {
    if (rest !== "") raw.err("\r\x1b[K");
    rest = "";
  };
  const above = (write: (text: string) => void) => (text: string) => {
    clear();
    write(text);
  };
  const left = (done: number): string => {
    if (ended === 0 || done >= plan.trials) return "";
    const seconds = (performance.now() - start) / 1000 / ended;
    return `, ${formatDuration(seconds * (plan.trials - done))} left`;
  };
  const out = above(io.out);
  return {
    io: { ...io, out, err: above(io.err) },
    begin(trials, dir) {
      const done = trials.filter(({ state }) => state !== "running").length;
      const { algorithm, environments, seeds } = plan;
      out(
        `${done > 0 ? "Resuming" : "Searching"} ${algorithm} on ${
          environments.join(", ")
        }: ${plan.trials} trials of ${seeds} ${seeds === 1 ? "seed" : "seeds"}${
          done > 0 ? `, ${done} of them done` : ""
        }\nFolder: ${dir}\n`,
      );
    },
    tell(trial, trials) {
      ended++;
      const done = trials.filter(({ state }) => state !== "running").length;
      const [best] = bestOf(trials, 1);
      const record = best === undefined
        ? ""
        : ` (best: ${short(best.value!)} of trial ${best.number})`;
      out(
        `${describeTrial(trial)}${record}; ${done} of ${plan.trials}${
          left(done)
        }\n`,
      );
    },
    show({ number }, { environment, seed }, { step }) {
      const now = performance.now();
      if (!io.errIsTerminal || step === undefined || now < shownAt) return;
      shownAt = now + SHOWN_MS;
      const where = plan.environments.length > 1 ? ` on ${environment}` : "";
      const text = `Trial ${number}${where}, seed ${seed}: ${
        step.toLocaleString("en-US")
      } steps`;
      const { columns } = io.size?.() ?? { columns: 80 };
      rest = printable(text).slice(0, columns - 1);
      raw.err(`\r\x1b[K${rest}`);
    },
    print: above(io.err),
    end: clear,
  };
}
