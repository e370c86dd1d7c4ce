import { seedBand, type SeedCenter } from "@bellman/statistics";
import type { ShownFolder } from "../answers.ts";
import type { View } from "./address.ts";
import {
  differing,
  flatten,
  PASSED_OVER,
  type Settings,
  valueText,
} from "./filters.ts";

/** Points of a run or a group, with the bounds of a group's band. */
export interface Line {
  x: number[];
  y: number[];
  low?: number[];
  high?: number[];
}

/** Curve of a chart. */
export interface Curve extends Line {
  readonly name: string;
  /** Index of the colour; higher ones than the last are dashed. */
  readonly color: number;
}

/** Runs drawn as one curve. */
export interface Group {
  name: string;
  color: number;
  environment: string;
  runs: readonly ShownFolder[];
}

/** Number of chart colours in the style sheet. */
export const COLORS = 6;
/** Number of groups from which on bands have fewer points. */
const MANY = 10;

/** Names a folder: by its path, or by the root. */
export function nameOf(
  { name, root }: { readonly name: string; readonly root: string },
): string {
  return name || root;
}

/** Compares names, with numbers by value. */
export function byName(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

const ORDER = [
  /^rollout\/return_mean$/,
  /^eval\/return_mean$/,
  /(^|\/)self_play\//,
  /^train\/.*loss/,
  /^train\//,
  /^rollout\//,
  /^eval\//,
];

/** Sorts statistics by relevance. */
export function ordered(statistics: Iterable<string>): string[] {
  const rank = (name: string) => {
    const place = ORDER.findIndex((it) => it.test(name));
    return place < 0 ? ORDER.length : place;
  };
  return [...new Set(statistics)].sort((a, b) => rank(a) - rank(b));
}

/** Makes the key of a run's group: its settings but the seed, or only the given ones. */
function groupOf(settings: Settings, by: readonly string[]): string {
  const flat = flatten(settings);
  const keys = by.length > 0 ? by : Object.keys(flat)
    .filter((key) => key !== "seed" && !PASSED_OVER.test(key)).sort();
  return JSON.stringify(keys.map((key) => [key, flat[key] ?? null]));
}

/**
 * Groups the runs of each environment by settings. A group's name is its difference
 * from other groups in the environment.
 */
export function groupsOf(
  runs: readonly ShownFolder[],
  { curves, by }: Pick<View, "curves" | "by">,
): Group[] {
  const tasks = Map.groupBy(runs, ({ environment }) => environment);
  const groups = [...tasks].sort(([a], [b]) => byName(a, b))
    .flatMap(([environment, task]) => {
      const flat = task.map(({ settings }) => flatten(settings));
      const varied = by.length > 0 ? by : ["algorithm", ...differing(flat)];
      const groups = Map.groupBy(task, ({ settings }) => groupOf(settings, by));
      return [...groups.values()].map((runs) => ({
        name: titleOf(runs[0], varied) || nameOf(runs[0]),
        environment,
        runs,
      }));
    });
  // The same colour in all environments.
  const names = [...new Set(groups.map(({ name }) => name))].sort(byName);
  const sorted = groups.map((it) => ({ ...it, color: names.indexOf(it.name) }))
    .sort((a, b) => a.color - b.color);
  if (curves === "runs") {
    const isFew = runs.length <= COLORS * 4;
    let place = 0;
    return sorted.flatMap(({ runs, environment, color }) =>
      runs.map((run) => ({
        name: nameOf(run),
        environment,
        runs: [run],
        color: isFew ? place++ : color,
      }))
    );
  }
  return sorted.map(({ name, runs, ...it }) => ({
    ...it,
    runs,
    name: runs.length > 1 ? `${name} (${runs.length} runs)` : name,
  }));
}

function titleOf(
  { settings }: ShownFolder,
  keys: readonly string[],
): string {
  const flat = flatten(settings);
  return keys.filter((key) => key !== "seed" && flat[key] !== undefined)
    .map((key) =>
      key === "algorithm"
        ? valueText(flat[key])
        : `${key}=${valueText(flat[key])}`
    ).join(" ");
}

/** Smooths a line: each point becomes a mean of neighbours, a fraction of all from 0 to 1. */
export function smooth(line: Line, part: number): Line {
  const { x, y } = line, last = y.length - 1;
  const reach = Math.round(y.length * part / 2);
  if (reach === 0) return line;
  const sums = [0];
  for (const it of y) sums.push(sums[sums.length - 1] + it);
  const means = y.map((_, i) => {
    // Symmetrically, so that the ends stay in place.
    const near = Math.min(reach, i, last - i);
    return (sums[i + near + 1] - sums[i - near]) / (2 * near + 1);
  });
  return { x, y: means };
}

/** Computes curves from points, only when they change. */
export class CurveMaker {
  readonly #made = new Map<
    string,
    { lines: readonly Line[]; about: string; curve: Curve }
  >();

  /**
   * Aggregates the lines of a group's runs.
   *
   * @param key Name of the chart.
   * @param lines Lines of the runs that have points.
   * @param about Group, view, and number of groups.
   */
  of(
    key: string,
    lines: readonly Line[],
    { group, view, groups }: { group: Group; view: View; groups: number },
  ): Curve {
    const { name, color } = group, { curves, smooth: part } = view;
    const places = groups > MANY ? 100 : 300;
    const about = JSON.stringify([name, color, curves, part, places]);
    const known = this.#made.get(key);
    if (
      known?.about === about && known.lines.length === lines.length &&
      known.lines.every((it, i) => it === lines[i])
    ) return known.curve;
    const smoothed = lines.map((it) => smooth(it, part));
    const center: SeedCenter = curves === "iqm" ? "iqm" : "mean";
    const line = lines.length > 1
      ? seedBand(smoothed, { center, places })
      : smoothed[0] ?? { x: [], y: [] };
    const { x, y, low, high }: Line = line;
    const curve = { name, color, x, y, low, high };
    this.#made.set(key, { lines, about, curve });
    return curve;
  }
}
