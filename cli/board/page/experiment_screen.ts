/// <reference lib="dom" />
import type {
  ExperimentCell,
  ExperimentDetails,
  RunSummary,
} from "../messages.ts";
import { Curves } from "./curves.ts";
import { Details } from "./details.ts";
import { make, setText } from "./dom.ts";
import { count, NONE, number } from "./data/format.ts";
import type { Wish } from "./data/hub.ts";
import { problemList, progressBar, stateBadge } from "./run_columns.ts";
import { reportLink, section } from "./run_screen.ts";
import { RunTable, USUAL_CHARTS } from "./runs_screen.ts";
import { nameOf } from "./data/model.ts";
import type { Board, Screen } from "./screen.ts";
import { plainTable } from "./table.ts";

/** One experiment. */
export class ExperimentScreen implements Screen {
  readonly element: HTMLElement;
  readonly #board: Board;
  readonly #id: string;
  readonly #details: Details<ExperimentDetails>;
  readonly #curves: Curves;
  readonly #table: RunTable;
  readonly #head = make("h1");
  readonly #state = stateBadge();
  readonly #progress = progressBar();
  readonly #problems = problemList();
  readonly #grid = make("div");
  readonly #results = make("div");
  #shownGrid = "";
  #shownResults: unknown;

  /** Makes the screen of an experiment. */
  constructor(board: Board, id: string) {
    this.#board = board;
    this.#id = id;
    this.#details = new Details(
      `/api/experiments/${encodeURIComponent(id)}`,
      () => board.refresh(),
    );
    this.#curves = new Curves(board);
    this.#table = new RunTable(board);
    this.element = make(
      "div",
      {},
      this.#head,
      make("p", { class: "row" }, this.#state.element, this.#progress.element),
      this.#problems.element,
      this.#grid,
      this.#curves.element,
      this.#results,
      section("Runs", this.#table.element),
    );
  }

  get title(): string {
    const found = this.#board.index.experiments.get(this.#id);
    return found ? nameOf(found) : "Experiment";
  }

  show(): Wish[] {
    const { index, isRead } = this.#board;
    const summary = index.experiments.get(this.#id);
    if (summary === undefined) {
      setText(
        this.#head,
        isRead
          ? "This experiment is not there (any more)"
          : "Reading the folders",
      );
      return [];
    }
    const runs = [...index.runs.values()]
      .filter(({ experiment }) => experiment === this.#id)
      .sort((a, b) => a.id < b.id ? -1 : 1);
    const { isRunning, finished, cells, problems } = summary;
    // Cells that begin change no count of the summary.
    const states = runs.map(({ state }) => state).join();
    this.#details.refresh(JSON.stringify([summary, states]));
    setText(this.#head, nameOf(summary));
    this.#state.update(isRunning ? "running" : "ended");
    this.#progress.update(finished, cells);
    this.#problems.update([...problems, this.#details.problem]);
    this.#showGrid();
    this.#showResults();
    this.#table.show(runs);
    return this.#curves.show(runs, USUAL_CHARTS);
  }

  recolor(): void {
    this.#curves.recolor();
  }

  end(): void {
    this.#curves.end();
    this.#details.end();
  }

  #showGrid(): void {
    const { answer } = this.#details;
    if (answer === undefined) return;
    const { runs } = this.#board.index;
    const cells = answer.cells.map((it) => ({
      ...it,
      summary: runs.get(it.run ?? ""),
    }));
    const text = JSON.stringify(
      cells.map(({ summary, ...it }) => [it, summary?.state, summary?.step]),
    );
    if (text === this.#shownGrid) return;
    this.#shownGrid = text;
    const environments = [...new Set(cells.map((it) => it.environment))];
    const variants = Map.groupBy(cells, ({ variant }) => variant);
    this.#grid.replaceChildren(section(
      "Cells",
      plainTable(
        "Cells of the experiment",
        ["Variant", ...environments],
        [...variants].map(([variant, own]) => [
          variant,
          ...environments.map((environment) =>
            make(
              "ul",
              { class: "cells" },
              ...own.filter((it) => it.environment === environment)
                .map((it) => this.#cell(it, it.summary)),
            )
          ),
        ]),
      ),
    ));
  }

  #cell(
    { seed, state, run, last, message }: ExperimentCell,
    summary: RunSummary | undefined,
  ): HTMLElement {
    const shown = state === "unfinished" ? summary?.state ?? state : state;
    const badge = stateBadge();
    badge.update(shown, message);
    const part = summary?.totalSteps
      ? `${count(Math.floor(100 * summary.step / summary.totalSteps))} %`
      : NONE;
    const name = `seed ${seed}`;
    return make(
      "li",
      {},
      run === null
        ? name
        : make("a", { href: this.#board.link({ page: "run", id: run }) }, name),
      badge.element,
      state === "finished" ? number(last) : state === "unfinished" ? part : "",
    );
  }

  #showResults(): void {
    const { answer } = this.#details;
    if (answer === undefined || answer === this.#shownResults) return;
    this.#shownResults = answer;
    const { tables, figures, notices, hasReport, summary } = answer;
    const path = `/api/experiments/${encodeURIComponent(this.#id)}`;
    this.#results.replaceChildren(
      ...figures.map(({ name, title, caption }) =>
        section(
          title,
          make(
            "figure",
            { class: "card" },
            make("img", {
              src: `${path}/figures/${
                encodeURIComponent(name)
              }?finished=${summary.finished}`,
              alt: title,
            }),
            make("figcaption", {}, caption),
          ),
        )
      ),
      ...tables.map(({ title, caption, columns, rows }) =>
        section(
          title,
          plainTable(title, columns, rows),
          make("p", { class: "soft" }, caption),
        )
      ),
      ...notices.map((it) => make("p", { class: "soft" }, it)),
      ...hasReport ? [make("p", {}, reportLink(`${path}/report`))] : [],
    );
  }
}
