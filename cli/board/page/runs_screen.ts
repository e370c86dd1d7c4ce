/// <reference lib="dom" />
import type { RunSummary } from "../messages.ts";
import { Curves } from "./curves.ts";
import { Kept, labelled, make, menu, setText, setValue } from "./dom.ts";
import { matcherOf, sortBy } from "./data/filters.ts";
import { count, NONE, number } from "./data/format.ts";
import type { Wish } from "./data/hub.ts";
import {
  differingSettings,
  problemList,
  rowOf,
  type RunRow,
  settingColumn,
  stateBadge,
  usualColumns,
} from "./run_columns.ts";
import { nameOf } from "./data/model.ts";
import type { Board, Screen } from "./screen.ts";
import { type Column, sortAfter, Table } from "./table.ts";

/** Settings that become columns by themselves, at most; others can be chosen. */
const MOST_DIFFERING = 8;

/** Charts where none is chosen. */
export const USUAL_CHARTS: readonly string[] = [
  "rollout/return_mean",
  "eval/return_mean",
];

/** Table of runs with its filter and columns. */
export class RunTable {
  readonly element: HTMLElement;
  readonly #board: Board;
  readonly #usual: readonly Column<RunRow>[];
  readonly #settings = new Map<string, Column<RunRow>>();
  readonly #table: Table<RunRow>;
  readonly #options: Kept<
    { element: HTMLLabelElement; field: HTMLInputElement }
  >;

  /** Makes it without runs. */
  constructor(board: Board) {
    this.#board = board;
    this.#usual = usualColumns(board);
    this.#table = new Table(
      "Runs",
      (id) => board.go({ sort: sortAfter(board.view.sort, id) }),
    );
    const choices = make("div", { class: "choices" });
    this.#options = new Kept(choices);
    this.element = make(
      "section",
      { "aria-label": "Runs" },
      make(
        "div",
        { class: "controls" },
        menu("Columns", choices),
      ),
      this.#table.element,
    );
  }

  /** Shows runs, sorted as the view says. */
  show(runs: readonly RunSummary[]): void {
    const rows = runs.map(rowOf), { sort } = this.#board.view;
    const differing = differingSettings(rows);
    const columns = this.#columns(rows, differing);
    const id = sort.replace(/^-/, "");
    const by = this.#usual.find((it) => it.id === id) ?? this.#setting(id);
    const sorted = sortBy(rows, by.value, { descending: sort !== id });
    this.#table.show(new Map(sorted.map((it) => [it.run.id, it])), {
      columns,
      sort,
    });
  }

  #setting(id: string): Column<RunRow> {
    const key = id.replace(/^\./, "");
    const column = this.#settings.get(key) ?? settingColumn(key);
    this.#settings.set(key, column);
    return column;
  }

  #columns(
    rows: readonly RunRow[],
    differing: readonly string[],
  ): Column<RunRow>[] {
    const { columns, hidden } = this.#board.view;
    const keys = new Set(rows.flatMap((it) => Object.keys(it.settings)));
    for (const { id } of this.#usual) keys.delete(id);
    const best = this.#usual.findIndex(({ id }) => id === "best") + 1;
    const all = [
      ...this.#usual.slice(0, best),
      ...differing.map((key) => this.#setting(key)),
      ...this.#usual.slice(best),
      ...[...keys].filter((key) => !differing.includes(key)).sort()
        .map((key) => this.#setting(key)),
    ];
    const usual = new Set([
      ...this.#usual.map(({ id }) => id),
      ...differing.slice(0, MOST_DIFFERING).map((key) => `.${key}`),
    ]);
    const isShown = ({ id }: Column<RunRow>) =>
      usual.has(id) ? !hidden.includes(id) : columns.includes(id);
    this.#showOptions(all, { usual, isShown });
    return all.filter(isShown);
  }

  #showOptions(
    all: readonly Column<RunRow>[],
    { usual, isShown }: {
      usual: ReadonlySet<string>;
      isShown(column: Column<RunRow>): boolean;
    },
  ): void {
    const titles = new Map(all.map(({ id, title }) => [id, title]));
    const options = this.#options.show([...titles.keys()], (id) => {
      const field = make("input", { type: "checkbox", value: id });
      field.addEventListener("change", () => this.#toggle(id, field));
      return {
        element: labelled(titles.get(id)!, field, { class: "check" }),
        field,
      };
    });
    all.forEach((column, i) => {
      options[i].field.checked = isShown(column);
      options[i].field.dataset.usual = String(usual.has(column.id));
    });
  }

  #toggle(id: string, { checked, dataset }: HTMLInputElement): void {
    const list = dataset.usual === "true" ? "hidden" : "columns";
    const rest = this.#board.view[list].filter((it) => it !== id);
    const isListed = list === "columns" ? checked : !checked;
    this.#board.go({ [list]: isListed ? [...rest, id] : rest });
  }
}

/** All runs: filter, curves and table; above them experiments and searches. */
export class RunsScreen implements Screen {
  readonly element: HTMLElement;
  readonly title = "Runs";
  readonly #board: Board;
  readonly #filter = make("input", {
    type: "search",
    placeholder: "words, gamma=0.99, env=Cart*, numEnvs>=8",
    autocomplete: "off",
    spellcheck: "false",
  });
  readonly #found = make("p", { class: "soft", role: "status" });
  readonly #notices = problemList();
  readonly #groups = make("div", { class: "cards" });
  readonly #cards: Kept<Card>;
  readonly #curves: Curves;
  readonly #table: RunTable;

  /** Makes the screen. */
  constructor(board: Board) {
    this.#board = board;
    this.#curves = new Curves(board);
    this.#table = new RunTable(board);
    this.#cards = new Kept(this.#groups);
    this.#filter.addEventListener(
      "input",
      () => board.go({ filter: this.#filter.value }, "replace"),
    );
    this.element = make(
      "div",
      {},
      make("h1", { class: "unseen" }, "Runs"),
      this.#notices.element,
      this.#groups,
      make(
        "div",
        { class: "controls", role: "search" },
        labelled("Filter", this.#filter, { class: "wide" }),
        this.#found,
      ),
      this.#curves.element,
      this.#table.element,
    );
  }

  show(): Wish[] {
    const { index, view, isRead } = this.#board;
    const all = [...index.runs.values()];
    const matches = matcherOf(view.filter);
    const runs = all.filter((run) => matches(rowOf(run)))
      .sort((a, b) => a.id < b.id ? -1 : 1);
    setValue(this.#filter, view.filter);
    setText(
      this.#found,
      !isRead
        ? "Reading the folders"
        : all.length === 0
        ? "No runs yet: they appear here when they begin"
        : runs.length === all.length
        ? `${count(all.length)} runs`
        : `${count(runs.length)} of ${count(all.length)} runs`,
    );
    this.#notices.update(index.notices);
    this.#showCards();
    const wishes = this.#curves.show(runs, USUAL_CHARTS);
    this.#table.show(runs);
    return wishes;
  }

  recolor(): void {
    this.#curves.recolor();
  }

  end(): void {
    this.#curves.end();
  }

  #showCards(): void {
    const { experiments, searches } = this.#board.index;
    const byName = (a: Named, b: Named) =>
      nameOf(a).localeCompare(nameOf(b), "en", { numeric: true });
    const cards = [
      ...[...experiments.values()].sort(byName).map((it) => ({
        page: "experiment" as const,
        id: it.id,
        name: nameOf(it),
        root: it.root,
        isRunning: it.isRunning,
        text: [
          `Experiment: ${count(it.finished)} of ${count(it.cells)} cells`,
          it.failed > 0 ? `${count(it.failed)} failed` : "",
        ].filter((text) => text !== "").join(", "),
      })),
      ...[...searches.values()].sort(byName).map((it) => ({
        page: "search" as const,
        id: it.id,
        name: nameOf(it),
        root: it.root,
        isRunning: it.isRunning,
        text: `Search: ${count(it.trials)}${
          it.plannedTrials === null ? "" : ` of ${count(it.plannedTrials)}`
        } trials, best ${it.best === null ? NONE : number(it.best)}`,
      })),
    ];
    const times = Map.groupBy(cards, ({ name }) => name);
    const shown = this.#cards.show(cards.map(({ id }) => id), makeCard);
    cards.forEach(({ page, id, name, root, isRunning, text }, i) => {
      const { link, about, state } = shown[i];
      setText(link, times.get(name)!.length > 1 ? `${root}/${name}` : name);
      link.href = this.#board.link({ page, id });
      setText(about, text);
      state.update(isRunning ? "running" : "ended");
    });
  }
}

type Named = Parameters<typeof nameOf>[0];

interface Card {
  element: HTMLElement;
  link: HTMLAnchorElement;
  about: HTMLElement;
  state: ReturnType<typeof stateBadge>;
}

function makeCard(): Card {
  const link = make("a", { class: "name" }), about = make("span");
  const state = stateBadge();
  const element = make("div", { class: "card" }, link, about, state.element);
  return { element, link, about, state };
}
