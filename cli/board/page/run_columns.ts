/// <reference lib="dom" />
import type { RunSummary } from "../messages.ts";
import { make, setAttributes, setText } from "./dom.ts";
import {
  differing,
  type Filtered,
  flatten,
  valueText,
} from "./data/filters.ts";
import { count, duration, NONE, number } from "./data/format.ts";
import { nameOf } from "./data/model.ts";
import type { Board } from "./screen.ts";
import type { Column } from "./table.ts";

/** A run with what it is filtered and sorted by. */
export interface RunRow extends Filtered {
  run: RunSummary;
}

const rows = new WeakMap<RunSummary, RunRow>();

/** Returns what a run is filtered by. */
export function rowOf(run: RunSummary): RunRow {
  const known = rows.get(run);
  if (known !== undefined) return known;
  const { name, root, state, algorithm, environment } = run;
  const made = {
    run,
    text: [name, root, state, algorithm, environment].join(" "),
    settings: {
      ...flatten(run.settings),
      state,
      algorithm,
      env: environment,
      ...run.seed !== null && { seed: run.seed },
    },
  };
  rows.set(run, made);
  return made;
}

/** Settings that have columns of their own. */
const KNOWN: ReadonlySet<string> = new Set([
  "algorithm",
  "env",
  "seed",
  "state",
]);

/** Makes the element of a state. */
export function stateBadge(): {
  element: HTMLElement;
  update(state: string, reason?: string): void;
} {
  const element = make("span", { class: "state" });
  return {
    element,
    update(state, reason) {
      setText(element, state);
      setAttributes(element, { "data-state": state, title: reason });
    },
  };
}

/** Makes the list of what is wrong. */
export function problemList(): {
  element: HTMLElement;
  update(lines: readonly string[]): void;
} {
  const element = make("ul", { class: "problems", role: "status" });
  let last = "";
  return {
    element,
    update(lines) {
      const shown = lines.filter((it) => it !== "");
      if (shown.join("\n") === last) return;
      last = shown.join("\n");
      element.replaceChildren(...shown.map((it) => make("li", {}, it)));
    },
  };
}

/** Makes the element of a number with its part of a whole. */
export function progressBar(): {
  element: HTMLElement;
  update(step: number, total: number | null): void;
} {
  const bar = make("progress", { max: 1, "aria-label": "Steps done" });
  const text = make("span");
  return {
    element: make("span", { class: "progress" }, bar, text),
    update(step, total) {
      bar.hidden = total === null;
      setAttributes(bar, { value: Math.min(1, step / (total || 1)) });
      setText(
        text,
        total === null ? count(step) : `${count(step)} of ${count(total)}`,
      );
    },
  };
}

/** Lists the usual columns. */
export function usualColumns(board: Board): Column<RunRow>[] {
  const value = (
    id: string,
    title: string,
    get: (run: RunSummary) => number | null | undefined,
    text: (value: number | null | undefined) => string = number,
  ): Column<RunRow> => ({
    id,
    title,
    isNumber: true,
    value: ({ run }) => get(run),
    text: ({ run }) => text(get(run)),
  });
  return [
    {
      id: "state",
      title: "State",
      value: ({ run }) => run.state,
      cell() {
        const { element, update } = stateBadge();
        return {
          element,
          update: ({ run }) =>
            update(
              run.state,
              [run.reason, ...run.problems].filter(Boolean).join("\n"),
            ),
        };
      },
    },
    {
      id: "name",
      title: "Run",
      value: ({ run }) => nameOf(run),
      cell() {
        const element = make("a", { class: "name" });
        return {
          element,
          update({ run }) {
            const { id } = run, name = nameOf(run);
            setText(element, name);
            setAttributes(element, {
              href: board.link({ page: "run", id }),
              title: `${run.root}/${run.name}`,
            });
          },
        };
      },
    },
    {
      id: "algorithm",
      title: "Algorithm",
      value: ({ run }) => run.algorithm || undefined,
    },
    {
      id: "env",
      title: "Environment",
      value: ({ run }) => run.environment || undefined,
    },
    value("seed", "Seed", ({ seed }) => seed, (it) => String(it ?? NONE)),
    {
      ...value("steps", "Steps", ({ step }) => step),
      cell() {
        const { element, update } = progressBar();
        return {
          element,
          update: ({ run }) => update(run.step, run.totalSteps),
        };
      },
    },
    value("return", "Return", (run) => run.return),
    value("last", "Last evaluation", (run) => run.lastEvaluation?.value),
    value("best", "Best evaluation", (run) => run.bestEvaluation?.value),
    value("speed", "Steps a second", (run) => run.stepsPerSecond, count),
    value("left", "Time left", ({ secondsLeft }) => secondsLeft, duration),
    value(
      "age",
      "Age",
      ({ begun }) => begun === null ? null : -begun,
      (it) =>
        typeof it === "number" ? duration((Date.now() + it) / 1000) : NONE,
    ),
  ];
}

/** Makes the column of a setting. */
export function settingColumn(key: string): Column<RunRow> {
  return {
    id: `.${key}`,
    title: key,
    value: ({ settings }) => settings[key],
    text: ({ settings }) =>
      settings[key] === undefined ? NONE : valueText(settings[key]),
  };
}

/** Lists the settings in which runs differ, but those with columns of their own. */
export function differingSettings(runs: readonly RunRow[]): string[] {
  return differing(runs.map(({ settings }) => settings))
    .filter((key) => !KNOWN.has(key));
}
