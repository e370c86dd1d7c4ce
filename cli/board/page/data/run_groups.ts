import type { RunSummary } from "../../messages.ts";
import type { View } from "./address.ts";
import { nameOf } from "./model.ts";
import { differing, flatten, valueText } from "./filters.ts";
import { COLORS, type Curve } from "./frame.ts";
import {
  finiteLine,
  groupLine,
  groupOf,
  groupTitle,
  type Line,
  smooth,
} from "./groups.ts";

/** Runs that are drawn as one curve. */
export interface Group {
  name: string;
  color: number;
  runs: readonly RunSummary[];
}

/** Puts statistics in the order in which they matter. */
export function ordered(statistics: Iterable<string>): string[] {
  const rank = (name: string) => {
    const place = ORDER.findIndex((it) => it.test(name));
    return place < 0 ? ORDER.length : place;
  };
  return [...new Set(statistics)].sort((a, b) => rank(a) - rank(b));
}

const ORDER = [
  /^rollout\/return_mean$/,
  /^eval\/return_mean$/,
  /^train\/.*loss/,
  /^train\//,
  /^rollout\//,
  /^eval\//,
];

/** Names the groups of runs. */
export function groupsOf(
  runs: readonly RunSummary[],
  { curves, by }: Pick<View, "curves" | "by">,
): Group[] {
  const grouped = [
    ...Map.groupBy(runs, ({ settings }) => groupOf(settings, by)).values(),
  ];
  const titles = by.length > 0
    ? new Map(grouped.map((runs) => [runs, titleBy(runs[0], by)]))
    : titlesOf(grouped);
  const titled = grouped.map((runs) => {
    return { name: titles.get(runs) || nameOf(runs[0]), runs };
  }).sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  if (curves === "runs") {
    const isFew = runs.length <= COLORS * 4;
    let place = 0;
    return titled.flatMap(({ runs }, i) =>
      runs.map((run) => ({
        name: nameOf(run),
        runs: [run],
        color: isFew ? place++ : i,
      }))
    );
  }
  return titled.map((it, color) => ({
    ...it,
    name: it.runs.length > 1 ? `${it.name} (${it.runs.length} runs)` : it.name,
    color,
  }));
}

function titleBy({ settings }: RunSummary, by: readonly string[]): string {
  const flat = flatten(settings);
  return by.map((key) => `${key}=${valueText(flat[key])}`).join(" ");
}

/** Names groups by the settings that tell them from others of their task. */
function titlesOf(
  groups: readonly RunSummary[][],
): Map<readonly RunSummary[], string> {
  const tasks = Map.groupBy(
    groups,
    ([{ algorithm, environment }]) => JSON.stringify([algorithm, environment]),
  );
  return new Map([...tasks.values()].flatMap((own) => {
    const keys = differing(own.flat().map(({ settings }) => flatten(settings)));
    return own.map((runs): [readonly RunSummary[], string] => [
      runs,
      groupTitle(flatten(runs[0].settings), keys),
    ]);
  }));
}

/** Computes curves out of points, each again only when its points change. */
export class CurveMaker {
  #smooth = 0;
  #lines = new WeakMap<Line, Line>();
  readonly #made = new Map<
    string,
    { lines: readonly Line[]; curve: Curve; about: string }
  >();

  of(
    key: string,
    { lines, group, view }: {
      lines: readonly Line[];
      group: Group;
      view: View;
    },
  ): Curve {
    if (view.smooth !== this.#smooth) this.#lines = new WeakMap();
    this.#smooth = view.smooth;
    const about = `${view.curves} ${view.smooth} ${group.name} ${group.color}`;
    const known = this.#made.get(key);
    if (
      known?.about === about && known.lines.length === lines.length &&
      known.lines.every((it, i) => it === lines[i])
    ) return known.curve;
    const center = view.curves === "iqm" ? "iqm" : "mean";
    const line = groupLine(lines.map((it) => this.#prepared(it)), { center });
    const curve = { ...line, name: group.name, color: group.color };
    this.#made.set(key, { lines, curve, about });
    return curve;
  }

  #prepared(line: Line): Line {
    const known = this.#lines.get(line);
    if (known !== undefined) return known;
    const made = smooth(finiteLine(line), this.#smooth);
    this.#lines.set(line, made);
    return made;
  }
}
