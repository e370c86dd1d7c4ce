import { sampleEfficiency, studentInterval } from "@bellman/statistics";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";
import { flatten, type Settings, valueText } from "./filters.ts";

/** Points of a run or of a group, with the edges of a group's band. */
export interface Line {
  x: number[];
  y: number[];
  low?: number[];
  high?: number[];
}

/** Centre of a group: its mean with Student's interval, or its interquartile mean with a bootstrapped one. */
export type Center = "mean" | "iqm";

/** Places of a group's line. */
export const PLACES = 100;
/** Resamples of a bootstrapped band: more are not seen. */
export const RESAMPLES = 500;

/** Settings that the runs of a group may differ in. */
const NO_SETTINGS: ReadonlySet<string> = new Set(["seed"]);

/** Names the group of a run: its settings but the seed, or the given ones alone. */
export function groupOf(
  settings: Settings,
  by: readonly string[] = [],
): string {
  const flat = flatten(settings);
  const keys = by.length > 0
    ? by
    : Object.keys(flat).filter((key) => !NO_SETTINGS.has(key)).sort();
  return JSON.stringify(keys.map((key) => [key, flat[key] ?? null]));
}

/** Names groups by the settings in which they differ. */
export function groupTitle(
  settings: Settings,
  differing: readonly string[],
): string {
  const rest = differing.filter((key) =>
    settings[key] !== undefined && !NO_SETTINGS.has(key) &&
    key !== "algorithm" && key !== "env"
  );
  return [
    settings.algorithm,
    settings.env,
    ...rest.map((key) => `${key}=${valueText(settings[key])}`),
  ].filter((it) => it !== undefined).join(" ");
}

/** Reads the heights of a line at rising places by straight lines; NaN beyond its ends. */
export function heightsAt({ x, y }: Line, places: readonly number[]): number[] {
  const last = x.length - 1;
  let next = 0;
  return places.map((at) => {
    // Rounding must not lose the ends.
    const slack = 1e-9 * Math.abs(at);
    if (last < 0 || at < x[0] - slack || at > x[last] + slack) return NaN;
    while (next <= last && x[next] <= at) next++;
    if (next === 0) return y[0];
    if (next > last) return y[last];
    const part = (at - x[next - 1]) / (x[next] - x[next - 1]);
    return y[next - 1] * (1 - part) + y[next] * part;
  });
}

/** Keeps the points whose numbers are finite and whose places rise. */
export function finiteLine({ x, y }: Line): Line {
  const kept: Line = { x: [], y: [] };
  for (let i = 0; i < x.length; i++) {
    if (!Number.isFinite(x[i]) || !Number.isFinite(y[i])) continue;
    if (x[i] <= (kept.x.at(-1) ?? -Infinity)) continue;
    kept.x.push(x[i]);
    kept.y.push(y[i]);
  }
  return kept;
}

/**
 * Sums up the runs of a group at common places, each from its first to its last
 * point.
 *
 * @param lines Runs with rising places.
 * @param options The centre.
 * @returns The line; without a band where there is one run.
 */
export function groupLine(
  lines: readonly Line[],
  { center }: { center: Center },
): Line {
  const runs = lines.filter(({ x }) => x.length > 0);
  if (runs.length <= 1) return runs[0] ?? { x: [], y: [] };
  const from = Math.min(...runs.map(({ x }) => x[0]));
  const to = Math.max(...runs.map(({ x }) => x[x.length - 1]));
  const count = from === to ? 1 : PLACES;
  const places = Array.from(
    { length: count },
    (_, i) => from + (to - from) * i / Math.max(1, count - 1),
  );
  const heights = runs.map((run) => heightsAt(run, places));
  const line = { x: [], y: [], low: [], high: [] } as Required<Line>;
  for (const stretch of stretchesOf(heights, places)) {
    addStretch(line, stretch, center);
  }
  return line;
}

/** Neighbouring places that the same runs reach. */
interface Stretch {
  x: number[];
  /** Heights, `[runs][places]`. */
  runs: number[][];
}

function stretchesOf(
  heights: readonly number[][],
  places: readonly number[],
): Stretch[] {
  const found: Stretch[] = [];
  let before = "";
  places.forEach((at, i) => {
    const there = heights.filter((run) => !Number.isNaN(run[i]));
    const name = heights.map((run) => Number.isNaN(run[i]) ? 0 : 1).join("");
    if (there.length === 0) return;
    if (name !== before) found.push({ x: [], runs: there.map(() => []) });
    before = name;
    const { x, runs } = found[found.length - 1];
    x.push(at);
    there.forEach((run, k) => runs[k].push(run[i]));
  });
  return found;
}

function addStretch(
  line: Required<Line>,
  { x, runs }: Stretch,
  center: Center,
): void {
  line.x.push(...x);
  if (center === "iqm") {
    const { values, intervals } = iqmOf(runs);
    x.forEach((_, i) => {
      line.y.push(values[i]);
      line.low.push(intervals?.[i][0] ?? values[i]);
      line.high.push(intervals?.[i][1] ?? values[i]);
    });
    return;
  }
  x.forEach((_, i) => {
    const { mean, interval } = studentInterval(runs.map((run) => run[i]));
    line.y.push(mean);
    line.low.push(interval?.[0] ?? mean);
    line.high.push(interval?.[1] ?? mean);
  });
}

/** Computes interquartile means with their bootstrapped intervals, always of the same resamples. */
function iqmOf(runs: readonly number[][]) {
  const generator = xoroshiro128plus(0);
  return sampleEfficiency(runs.map((run) => [run]), {
    random: { uniform: () => uniformFloat64(generator) },
    resamples: RESAMPLES,
  });
}

/** Replaces each height by a mean of those near it: of a part of all, from 0 to 1. */
export function smooth(line: Line, part: number): Line {
  const { x, y } = line, last = y.length - 1;
  const reach = Math.round(y.length * part / 2);
  if (reach === 0) return line;
  const sums = [0];
  for (const it of y) sums.push(sums[sums.length - 1] + it);
  const means = y.map((_, i) => {
    // Evenly on both sides, so that the ends stay in their places.
    const near = Math.min(reach, i, last - i);
    return (sums[i + near + 1] - sums[i - near]) / (2 * near + 1);
  });
  return { x, y: means };
}
