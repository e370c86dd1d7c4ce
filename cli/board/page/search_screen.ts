/// <reference lib="dom" />
import type { SearchDetails, SearchTrial } from "../messages.ts";
import { Chart } from "./chart.ts";
import { Details } from "./details.ts";
import { copyButton, make, setText } from "./dom.ts";
import { sortBy, valueText } from "./data/filters.ts";
import { NONE, number } from "./data/format.ts";
import type { Curve } from "./data/frame.ts";
import type { Wish } from "./data/hub.ts";
import { problemList, progressBar, stateBadge } from "./run_columns.ts";
import { reportLink, section } from "./run_screen.ts";
import { nameOf } from "./data/model.ts";
import type { Board, Screen } from "./screen.ts";
import { type Column, plainTable, sortAfter, Table } from "./table.ts";

/** Draws trials in their order, and the best one so far. */
export function historyOf(trials: readonly SearchTrial[]): Curve[] {
  const dots = (state: SearchTrial["state"], color: number): Curve => {
    const some = trials.filter((it) => it.state === state && it.value !== null);
    return {
      name: state,
      color,
      isDots: true,
      x: some.map((it) => it.number),
      y: some.map((it) => it.value!),
    };
  };
  const best: Curve = { name: "best so far", color: 1, x: [], y: [] };
  for (const { number, state, value } of trials) {
    if (state !== "complete" || value === null) continue;
    const before = best.y.at(-1) ?? value;
    best.x.push(number, number);
    best.y.push(before, Math.max(before, value));
  }
  return [best, dots("complete", 0), dots("pruned", 3)];
}

/** One search. */
export class SearchScreen implements Screen {
  readonly element: HTMLElement;
  readonly #board: Board;
  readonly #id: string;
  readonly #details: Details<SearchDetails>;
  readonly #head = make("h1");
  readonly #state = stateBadge();
  readonly #progress = progressBar();
  readonly #problems = problemList();
  readonly #chart: Chart;
  readonly #scoreName = make("p", { class: "soft" });
  readonly #importances = make("div");
  readonly #best = make("div");
  readonly #table: Table<SearchTrial>;
  #shown: SearchDetails | undefined;

  /** Makes the screen of a search. */
  constructor(board: Board, id: string) {
    this.#board = board;
    this.#id = id;
    this.#details = new Details(
      `/api/searches/${encodeURIComponent(id)}`,
      () => board.refresh(),
    );
    this.#chart = new Chart("Scores", {
      onPoint() {},
      onZoom: (zoom) => board.go({ zoom }, "replace"),
    });
    this.#table = new Table(
      "Trials",
      (id) => board.go({ sort: sortAfter(board.view.sort, id) }),
    );
    this.element = make(
      "div",
      {},
      this.#head,
      make("p", { class: "row" }, this.#state.element, this.#progress.element),
      this.#problems.element,
      section(
        "History",
        make(
          "figure",
          { class: "card" },
          make(
            "figcaption",
            { class: "key" },
            ...["best so far", "complete", "pruned"].map((name, i) =>
              make(
                "span",
                {},
                make("span", { class: `swatch color${[1, 0, 3][i]} dash0` }),
                name,
              )
            ),
          ),
          this.#chart.element,
          this.#scoreName,
        ),
      ),
      this.#importances,
      this.#best,
      section("Trials", this.#table.element),
    );
  }

  get title(): string {
    const found = this.#board.index.searches.get(this.#id);
    return found ? nameOf(found) : "Search";
  }

  show(): Wish[] {
    const { index, isRead, view } = this.#board;
    const summary = index.searches.get(this.#id);
    if (summary === undefined) {
      setText(
        this.#head,
        isRead ? "This search is not there (any more)" : "Reading the folders",
      );
      return [];
    }
    this.#details.refresh(summary);
    const { isRunning, trials, plannedTrials, problems } = summary;
    setText(this.#head, nameOf(summary));
    this.#state.update(isRunning ? "running" : "ended");
    this.#progress.update(trials, plannedTrials);
    this.#problems.update([...problems, this.#details.problem]);
    const { answer } = this.#details;
    if (answer === undefined) return [];
    const scales = { xLabel: "Trial", log: view.log, zoom: view.zoom };
    this.#chart.update(historyOf(answer.trials), scales);
    this.#showTrials(answer);
    if (answer !== this.#shown) this.#showDetails(answer);
    this.#shown = answer;
    return [];
  }

  recolor(): void {
    this.#chart.recolor();
  }

  end(): void {
    this.#chart.end();
    this.#details.end();
  }

  #showTrials({ trials, space }: SearchDetails): void {
    const columns: Column<SearchTrial>[] = [
      {
        id: "trial",
        title: "Trial",
        isNumber: true,
        value: (it) => it.number,
      },
      {
        id: "state",
        title: "State",
        value: ({ state }) => state,
        cell() {
          const { element, update } = stateBadge();
          return {
            element,
            update: ({ state, message }) => update(state, message),
          };
        },
      },
      {
        id: "score",
        title: "Score",
        isNumber: true,
        value: ({ value }) => value,
        text: ({ value }) => number(value),
      },
      ...Object.keys(space).map((key): Column<SearchTrial> => ({
        id: `.${key}`,
        title: key,
        isNumber: trials.some(({ params }) => typeof params[key] === "number"),
        value: ({ params }) => params[key],
        text: ({ params: { [key]: value } }) =>
          value === undefined
            ? NONE
            : typeof value === "number"
            ? number(value)
            : valueText(value),
      })),
    ];
    const { sort } = this.#board.view, id = sort.replace(/^-/, "");
    const by = columns.find((it) => it.id === id);
    // The best first, where no column of this table was chosen.
    const sorted = by === undefined
      ? sortBy(trials, ({ value }) => value, { descending: true })
      : sortBy(trials, by.value, { descending: sort !== id });
    this.#table.show(
      new Map(sorted.map((it) => [String(it.number), it])),
      { columns, sort: by === undefined ? "-score" : sort },
    );
  }

  #showDetails(
    { scoreName, importances, bestText, hasReport }: SearchDetails,
  ): void {
    setText(this.#scoreName, `${scoreName} by trial`);
    const entries = sortBy(Object.entries(importances), ([, it]) => it, {
      descending: true,
    });
    this.#importances.replaceChildren(section(
      "Importances so far",
      entries.length === 0
        ? make("p", {}, "They need 8 complete trials.")
        : plainTable(
          "Part of the scores' ranks that each setting explains",
          ["Setting", "Part", ""],
          entries.map(([key, value]) => [
            key,
            number(value),
            make("meter", { value, max: 1, "aria-label": key }),
          ]),
        ),
    ));
    const path = `/api/searches/${encodeURIComponent(this.#id)}/report`;
    this.#best.replaceChildren(
      ...bestText === null ? [] : [section(
        "Best settings",
        copyButton(() => bestText, "the best settings"),
        make("pre", {}, bestText),
      )],
      ...hasReport ? [make("p", {}, reportLink(path))] : [],
    );
  }
}
