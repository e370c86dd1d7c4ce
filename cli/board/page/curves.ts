/// <reference lib="dom" />
import type { RunSummary } from "../messages.ts";
import { Panel } from "./panel.ts";
import {
  button,
  choice,
  Kept,
  labelled,
  make,
  menu,
  setAttributes,
  setValue,
} from "./dom.ts";
import { count, statisticText } from "./data/format.ts";
import type { View } from "./data/address.ts";
import type { Line } from "./data/groups.ts";
import {
  CurveMaker,
  type Group,
  groupsOf,
  ordered,
} from "./data/run_groups.ts";
import { type Wish, wishKey } from "./data/hub.ts";
import type { Board } from "./screen.ts";

/** Charts at a time: more are not asked for. */
const MOST_CHARTS = 16;

/** Curves of some runs, with what they are drawn by. */
export class Curves {
  readonly element: HTMLElement;
  readonly #board: Board;
  readonly #x: HTMLSelectElement;
  readonly #curves: HTMLSelectElement;
  readonly #by = make("input", {
    placeholder: "all but the seed",
    autocomplete: "off",
    spellcheck: "false",
  });
  readonly #smooth = make("input", {
    type: "range",
    min: 0,
    max: 0.3,
    step: 0.01,
  });
  readonly #log = make("input", { type: "checkbox" });
  readonly #whole: HTMLButtonElement;
  readonly #choices = make("div", { class: "choices" });
  readonly #options: Kept<
    { element: HTMLLabelElement; field: HTMLInputElement }
  >;
  readonly #grid = make("div", { class: "charts" });
  readonly #panels = new Kept<Panel>(this.#grid);
  readonly #maker = new CurveMaker();
  /** What was asked for before: drawn until the new points are there. */
  #before = { key: "", x: "" };
  #now = { key: "", x: "" };
  #shown: readonly string[] = [];

  readonly #isSingle: boolean;

  /**
   * Makes them without runs.
   *
   * @param board The board.
   * @param options True to draw single runs, whatever the view says.
   */
  constructor(
    board: Board,
    { isSingle = false }: { isSingle?: boolean } = {},
  ) {
    this.#board = board;
    this.#isSingle = isSingle;
    this.#options = new Kept(this.#choices);
    this.#x = choice(
      { steps: "Steps", time: "Time", episodes: "Episodes" },
      (x) => board.go({ x, zoom: null }),
    );
    this.#curves = choice(
      { mean: "Means of groups", iqm: "IQM of groups", runs: "Single runs" },
      (curves) => board.go({ curves }),
    );
    this.#by.addEventListener("change", () =>
      board.go({
        by: this.#by.value.split(/[\s,]+/).filter((it) => it !== ""),
      }));
    this.#smooth.addEventListener(
      "input",
      () => board.go({ smooth: Number(this.#smooth.value) }, "replace"),
    );
    this.#log.addEventListener(
      "change",
      () => board.go({ log: this.#log.checked }),
    );
    this.#whole = button("Show all", () => board.go({ zoom: null }));
    this.element = make(
      "section",
      { "aria-label": "Curves" },
      make(
        "div",
        { class: "controls" },
        menu("Charts", this.#choices),
        labelled("Over", this.#x),
        ...isSingle ? [] : [
          labelled("Draw", this.#curves),
          labelled("Groups by", this.#by),
        ],
        labelled("Smoothing", this.#smooth),
        labelled("Logarithmic", this.#log, { class: "check" }),
        this.#whole,
      ),
      this.#grid,
    );
  }

  /**
   * Shows the curves of some runs.
   *
   * @param runs The runs.
   * @param charts Statistics where the view names none of its own.
   * @returns What is to be asked for.
   */
  show(runs: readonly RunSummary[], charts: readonly string[]): Wish[] {
    const view = this.#view;
    const all = ordered(runs.flatMap(({ statistics }) => statistics));
    const chosen = view.charts ?? charts;
    this.#shown = chosen.slice(0, MOST_CHARTS);
    this.#showControls(all);
    const statistics = this.#shown.filter((it) => all.includes(it));
    const wish = this.#wish(runs, statistics);
    const key = wishKey(wish);
    if (key !== this.#now.key) {
      this.#before = this.#now;
      this.#now = { key, x: view.x };
    }
    const groups = groupsOf(runs, view);
    this.#panels.show(
      statistics,
      (it) => this.#panel(it),
      (panel) => panel.end(),
    ).forEach((panel, i) => {
      const curves = groups.map((group, place) =>
        this.#maker.of(JSON.stringify([statistics[i], place]), {
          lines: this.#lines(group, statistics[i]),
          group,
          view,
        })
      ).filter(({ x }) => x.length > 0);
      panel.update(curves, view);
    });
    return statistics.length > 0 && runs.length > 0 ? [wish] : [];
  }

  get #view(): Readonly<View> {
    const { view } = this.#board;
    return this.#isSingle ? { ...view, curves: "runs" } : view;
  }

  /** Draws again in other colours. */
  recolor(): void {
    for (const { chart } of this.#panels.values) chart.recolor();
  }

  /** Ends all charts. */
  end(): void {
    for (const panel of this.#panels.values) panel.end();
  }

  #panel(statistic: string): Panel {
    const panel: Panel = new Panel(statistic, {
      onPoint: (x) => {
        for (const it of this.#panels.values) it.point(x, it === panel);
      },
      onZoom: (zoom) => this.#board.go({ zoom }, "replace"),
    });
    return panel;
  }

  #lines({ runs }: Group, statistic: string): Line[] {
    const { points, view } = this.#board;
    const isSame = this.#before.x === view.x;
    return runs.flatMap(({ id }) => {
      const known = points.of(this.#now.key, id) ??
        (isSame ? points.of(this.#before.key, id) : undefined);
      return known?.curves[statistic] ?? [];
    });
  }

  #wish(runs: readonly RunSummary[], statistics: readonly string[]): Wish {
    const view = this.#view;
    const isSingle = view.curves === "runs" || runs.length === 1;
    const usual = isSingle ? 1000 : 400;
    return {
      statistics,
      x: view.x,
      thinning: isSingle ? "extremes" : "means",
      points: Math.min(10_000, usual * this.#detail(runs)),
      runs: runs.map(({ id }) => id),
    };
  }

  /** Returns how many more points a part needs than the whole, a power of two. */
  #detail(runs: readonly RunSummary[]): number {
    const { zoom, x } = this.#board.view;
    if (zoom === null || x === "episodes") return 1;
    const ends = runs.map((it) => x === "steps" ? it.step : it.seconds ?? 0);
    const part = Math.max(0, ...ends) / (zoom[1] - zoom[0]);
    return part > 1 ? 2 ** Math.min(5, Math.ceil(Math.log2(part))) : 1;
  }

  #showControls(all: readonly string[]): void {
    const { view } = this.#board;
    setValue(this.#x, view.x);
    setValue(this.#curves, view.curves);
    setValue(this.#by, view.by.join(", "));
    setValue(this.#smooth, String(view.smooth));
    this.#log.checked = view.log;
    this.#whole.disabled = view.zoom === null;
    setAttributes(this.#smooth, {
      "aria-valuetext": `${count(100 * view.smooth)} percent of the points`,
    });
    this.#options.show(all, (name) => {
      const field = make("input", { type: "checkbox", value: name });
      field.addEventListener("change", () => this.#toggle(name, field.checked));
      const element = labelled(statisticText(name), field, {
        class: "check",
        title: name,
      });
      return { element, field };
    });
    for (const { field } of this.#options.values) {
      field.checked = this.#shown.includes(field.value);
    }
  }

  #toggle(name: string, isOn: boolean): void {
    const rest = this.#shown.filter((it) => it !== name);
    this.#board.go({ charts: isOn ? [...rest, name] : rest });
  }
}
