/// <reference lib="dom" />
import type { RunDetails, RunSummary, RunVideo } from "../messages.ts";
import { Curves } from "./curves.ts";
import { ordered } from "./data/run_groups.ts";
import { Details } from "./details.ts";
import {
  choice,
  copyButton,
  labelled,
  make,
  setChildren,
  setText,
  setValue,
} from "./dom.ts";
import { flatten, valueText } from "./data/filters.ts";
import { bytes, count, duration, NONE, number } from "./data/format.ts";
import type { Wish } from "./data/hub.ts";
import { problemList, progressBar, stateBadge } from "./run_columns.ts";
import { nameOf } from "./data/model.ts";
import type { Board, Screen } from "./screen.ts";
import { plainTable } from "./table.ts";

/** Charts of a run where none is chosen. */
const CHARTS = 8;

/** Makes a section with its heading. */
export function section(
  title: string,
  ...children: (Node | string)[]
): HTMLElement {
  return make("section", {}, make("h2", {}, title), ...children);
}

/** Makes a list of facts. */
export function facts(
  entries: Readonly<Record<string, Node | string>>,
): HTMLElement {
  return make(
    "dl",
    { class: "facts" },
    ...Object.entries(entries).map(([name, value]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, value))
    ),
  );
}

/** Makes a link to a report, which opens beside the board. */
export function reportLink(path: string): HTMLAnchorElement {
  return make(
    "a",
    { href: path, target: "_blank", rel: "noopener" },
    "Report",
  );
}

/** One run. */
export class RunScreen implements Screen {
  readonly element: HTMLElement;
  readonly #board: Board;
  readonly #id: string;
  readonly #details: Details<RunDetails>;
  readonly #curves: Curves;
  readonly #head = make("h1");
  readonly #state = stateBadge();
  readonly #progress = progressBar();
  readonly #facts = make("div");
  readonly #other: HTMLSelectElement;
  readonly #problems = problemList();
  readonly #differences = make("div");
  readonly #rest = make("div");
  #shownFacts = "";
  #shownDifferences = "";
  #shownRest: unknown;
  #options = "";

  /** Makes the screen of a run. */
  constructor(board: Board, id: string) {
    this.#board = board;
    this.#id = id;
    this.#details = new Details(
      `/api/runs/${encodeURIComponent(id)}`,
      () => board.refresh(),
    );
    this.#curves = new Curves(board, { isSingle: true });
    this.#other = choice({ "": "none" }, (other) => board.go({ other }));
    this.element = make(
      "div",
      {},
      this.#head,
      make("p", { class: "row" }, this.#state.element, this.#progress.element),
      this.#problems.element,
      this.#facts,
      make(
        "div",
        { class: "controls" },
        labelled("Compare with", this.#other, { class: "wide" }),
      ),
      this.#curves.element,
      this.#differences,
      this.#rest,
    );
  }

  get title(): string {
    const run = this.#board.index.runs.get(this.#id);
    return run ? nameOf(run) : "Run";
  }

  show(): Wish[] {
    const { index: { runs }, view, isRead } = this.#board;
    const run = runs.get(this.#id), other = runs.get(view.other);
    if (run === undefined) {
      setText(
        this.#head,
        isRead ? "This run is not there (any more)" : "Reading the folders",
      );
      return [];
    }
    this.#details.refresh(run);
    setText(this.#head, nameOf(run));
    this.#state.update(run.state);
    this.#progress.update(run.step, run.totalSteps);
    const { reason = "", problems } = run;
    this.#problems.update([reason, ...problems, this.#details.problem]);
    this.#showFacts(run);
    this.#showOptions();
    this.#showDifferences(run, other);
    this.#showDetails();
    const shown = other === undefined ? [run] : [run, other];
    return this.#curves.show(
      shown,
      ordered(run.statistics.filter((it) => !it.startsWith("time/")))
        .slice(0, CHARTS),
    );
  }

  recolor(): void {
    this.#curves.recolor();
  }

  end(): void {
    this.#curves.end();
    this.#details.end();
  }

  #showFacts(run: RunSummary): void {
    const evaluation = (it: RunSummary["lastEvaluation"]) =>
      it === null ? NONE : `${number(it.value)} at ${count(it.step)}`;
    const entries: Record<string, string> = {
      "Algorithm": run.algorithm || NONE,
      "Environment": run.environment || NONE,
      "Seed": String(run.seed ?? NONE),
      "Return of 100 episodes": number(run.return),
      "Last evaluation": evaluation(run.lastEvaluation),
      "Best evaluation": evaluation(run.bestEvaluation),
      "Steps a second": count(run.stepsPerSecond),
      "Training time": duration(run.seconds),
      "Time left": duration(run.secondsLeft),
      "Begun": run.begun === null
        ? NONE
        : new Date(run.begun).toLocaleString("en-GB"),
    };
    const text = JSON.stringify(entries);
    if (text === this.#shownFacts) return;
    this.#shownFacts = text;
    setChildren(this.#facts, [facts(entries)]);
  }

  #showOptions(): void {
    const { index: { runs }, view } = this.#board;
    const others = [...runs.values()].filter(({ id }) => id !== this.#id)
      .sort((a, b) =>
        nameOf(a).localeCompare(nameOf(b), "en", { numeric: true })
      );
    const text = JSON.stringify(others.map((it) => [it.id, nameOf(it)]));
    if (text !== this.#options) {
      this.#options = text;
      this.#other.replaceChildren(
        make("option", { value: "" }, "none"),
        ...others.map((it) => make("option", { value: it.id }, nameOf(it))),
      );
    }
    setValue(this.#other, runs.has(view.other) ? view.other : "");
  }

  #showDifferences(run: RunSummary, other: RunSummary | undefined): void {
    const text = JSON.stringify([run.settings, other?.id, other?.settings]);
    if (text === this.#shownDifferences) return;
    this.#shownDifferences = text;
    if (other === undefined) return this.#differences.replaceChildren();
    const [own, theirs] = [run, other].map((it) => flatten(it.settings));
    const shown = (value: unknown) =>
      value === undefined ? NONE : valueText(value);
    const rows = [...new Set([...Object.keys(own), ...Object.keys(theirs)])]
      .sort().map((key) => [key, shown(own[key]), shown(theirs[key])])
      .filter(([, one, two]) => one !== two);
    this.#differences.replaceChildren(section(
      "Differences",
      rows.length === 0
        ? make("p", {}, "Both have the same settings.")
        : plainTable(
          "Settings that differ between the runs",
          ["Setting", nameOf(run), nameOf(other)],
          rows,
        ),
    ));
  }

  #showDetails(): void {
    const { answer } = this.#details;
    if (answer === this.#shownRest || answer === undefined) return;
    const open = [...this.#rest.querySelectorAll("details[open]")]
      .map((it) => it.id);
    this.#shownRest = answer;
    this.#rest.replaceChildren(...detailSections(this.#id, answer));
    for (const it of this.#rest.querySelectorAll("details")) {
      if (open.includes(it.id)) it.open = true;
    }
  }
}

function detailSections(id: string, details: RunDetails): HTMLElement[] {
  const { commands, changedSettings, configText, disk, videos } = details;
  const path = `/api/runs/${encodeURIComponent(id)}`;
  const { evaluations, checkpoints, resumes, hasReport } = details;
  const total = Object.values(disk).reduce((sum, it) => sum + it, 0);
  return [
    ...videos.length === 0 ? [] : [section("Videos", videoList(path, videos))],
    ...evaluations === null ? [] : [section(
      "Evaluations",
      plainTable(
        "Evaluations",
        ["Policy", "Step", "Mean return", "Deviation"],
        [
          ["last", evaluations.last],
          ["best", evaluations.best],
        ].map(([name, it]) => {
          const { step, meanReturn, stdReturn } = it as typeof evaluations.last;
          return [
            name as string,
            count(step),
            number(meanReturn),
            number(stdReturn),
          ];
        }),
      ),
    )],
    section(
      "Settings",
      changedSettings === null
        ? make("p", {}, "The defaults of this algorithm are not known here.")
        : plainTable(
          "Settings that differ from the defaults",
          ["Setting", "Value", "Default"],
          changedSettings.map((it) => [
            it.key,
            valueText(it.value),
            valueText(it.default),
          ]),
        ),
      make(
        "details",
        { id: "config" },
        make("summary", {}, "Whole configuration"),
        copyButton(() => configText, "the configuration"),
        make("pre", {}, configText),
      ),
    ),
    section(
      "Commands",
      make(
        "p",
        { class: "soft" },
        "The board starts nothing: these are for a terminal.",
      ),
      make(
        "dl",
        { class: "commands" },
        ...Object.entries(commands).map(([name, command]) =>
          make(
            "div",
            {},
            make("dt", {}, name),
            make(
              "dd",
              {},
              make("code", {}, command),
              copyButton(() => command, `the command: ${name}`),
            ),
          )
        ),
      ),
    ),
    section(
      "Folder",
      facts({
        "On disk": bytes(total),
        "Checkpoints": count(checkpoints.length),
        "Resumes after a crash": count(resumes),
        ...hasReport && { "Curves and videos": reportLink(`${path}/report`) },
      }),
      plainTable(
        "Sizes of files",
        ["File", "Size"],
        Object.entries(disk).filter(([, size]) => size > 0)
          .map(([name, size]) => [name, bytes(size)]),
      ),
    ),
  ];
}

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Shows videos: those that move where motion is wanted, others as links. */
function videoList(path: string, videos: readonly RunVideo[]): HTMLElement {
  return make(
    "div",
    { class: "videos" },
    ...videos.map(({ id, title, bytes: size, changed }) => {
      const src = `${path}/videos/${encodeURIComponent(id)}?changed=${changed}`;
      const link = make(
        "a",
        { href: src, target: "_blank", rel: "noopener" },
        `${title} (${bytes(size)})`,
      );
      const figure = make("figure", { class: "card" }, link);
      if (isStill()) return figure;
      const image = make("img", { src, alt: title, loading: "lazy" });
      // A film is no image; its link stays.
      image.addEventListener("error", () => image.remove());
      figure.prepend(image);
      return figure;
    }),
  );
}
