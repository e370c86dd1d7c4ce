import { drawable } from "@bellman/statistics";
import type { BoxArray, Space } from "@bellman/types";
import * as Plot from "@observablehq/plot";
import {
  axis,
  chart,
  classes,
  escapeMarkup,
  finiteExtent,
  type Frame,
  heading,
  image,
  inWords,
  type LegendEntry,
  numberAxis,
  placesIn,
} from "./image.ts";
import { mean } from "../episodes.ts";

/** Observation, as the environment returns it. */
export type PlottedObservation = BoxArray | readonly number[];

/** Agent with a Q-function, for {@link plotQValues}. */
export interface PlottedAgent {
  /**
   * Estimates Q-values in one state.
   *
   * @param observation Observation, as the environment returns it.
   * @param actions Box actions `[count, ...]` in [-1, 1], row-major; empty for discrete
   * actions.
   * @returns Q-values `[count]`; of all discrete actions.
   */
  qValues(
    observation: PlottedObservation,
    actions: ArrayLike<number>,
  ): ArrayLike<number>;
  /**
   * Makes an actor that samples actions.
   *
   * @param options Number of observations at once, and seed.
   * @returns The actor; its actions are the environment's.
   */
  policy(options: { numEnvs: number; seed: number }): {
    act(observations: unknown, actionMasks?: Uint8Array): ArrayLike<number>;
    close?(): void;
  };
}

/** Options of {@link plotQValues}. */
export interface QValuePlotOptions {
  /** Action space: box, with finite bounds of its first dimension, or discrete. */
  readonly actionSpace: Space;
  /** Observations, one for each panel, as the environment returns them. */
  readonly observations: readonly PlottedObservation[];
  /**
   * Action mask for each observation, if the environment has some.
   *
   * @default none
   */
  readonly actionMasks?: readonly Uint8Array[];
  /**
   * Number of sampled actions for each observation.
   *
   * @default 100
   */
  readonly samples?: number;
  /**
   * Grid points along the axis, for box actions.
   *
   * @default 50
   */
  readonly gridSize?: number;
  /**
   * Heading of the image.
   *
   * @default "Q values and sampled actions"
   */
  readonly title?: string;
}

/**
 * Draws Q-values in a few states with the policy's actions: for box actions a curve
 * over the first action dimension, others at the middle of their bounds, and a
 * histogram of samples; for discrete actions a bar for each with its share of samples.
 *
 * The image needs no other file and no script, and includes colours for light and dark
 * backgrounds and a description. Axes are in the environment's units. The agent stays
 * unchanged, and a random stream of its own makes the image reproducible.
 *
 * Source: `QFPolicyPlotter` of haarnoja/sac (sac/misc/plotter.py).
 *
 * @param agent Agent to plot.
 * @param options Action space, observations, number of samples.
 * @returns Text of an SVG image with a panel for each observation.
 * @throws {TypeError} If the actions are neither box nor discrete.
 * @throws {RangeError} If a number is out of its range.
 *
 * @example
 * ```ts
 * import { plotQValues } from "@bellman/training/plots";
 * import { assert, assertEquals } from "@std/assert";
 *
 * // An agent that values actions near its observation, and always takes it.
 * const agent = {
 *   qValues: (x: ArrayLike<number>, actions: ArrayLike<number>) =>
 *     Array.from(actions, (action) => -((action - x[0]) ** 2)),
 *   policy: () => ({ act: (batch: ArrayLike<number>) => batch }),
 * };
 * const box = { type: "box", shape: [1], low: -1, high: 1 } as const;
 * const svg = plotQValues(agent, {
 *   actionSpace: { ...box, dtype: "float32" },
 *   observations: [[-0.5], [0], [0.5]],
 *   samples: 20,
 * });
 * assert(svg.startsWith("<svg"));
 * assertEquals(svg.match(/: Q from .*; the samples' mean is /g)?.length, 3);
 * ```
 */
export function plotQValues(
  agent: PlottedAgent,
  options: QValuePlotOptions,
): string {
  const { observations, actionMasks, samples = 100 } = options;
  const { title = "Q values and sampled actions" } = options;
  if (observations.length === 0) {
    throw new RangeError(
      "Cannot plot Q values for 0 observations: expected at least one",
    );
  }
  checkCount("samples", samples, 1);
  const along = alongOf(options), names = namesOf(observations);
  const actor = agent.policy({ numEnvs: samples, seed: 0 });
  try {
    const panels = observations.map((observation, i) => {
      const masks = actionMasks && repeated(actionMasks[i], samples);
      const batch = repeated(observation, samples);
      const state = {
        values: Array.from(agent.qValues(observation, along.actions)),
        // Copied, as an actor may reuse the array for its next actions.
        samples: Array.from(actor.act(batch, masks as Uint8Array)),
      };
      return { name: names[i], description: describe(along, state), state };
    });
    return drawSheet(panels, along, title);
  } finally {
    actor.close?.();
  }
}

/** Length of the longest name that fits above a panel. */
const longestName = 36;

/** Names panels by their observation if that is short, else by number. */
function namesOf(observations: readonly PlottedObservation[]): string[] {
  const names = observations.map((values) =>
    values.length > 4
      ? undefined
      : `Observation (${Array.from(values, (n) => inWords(n, 3)).join(", ")})`
  );
  return names.every((it) => it !== undefined && it.length <= longestName)
    ? names as string[]
    : names.map((_, i) => `Observation ${i + 1} of ${names.length}`);
}

/** Actions along an axis, and how they are drawn. */
interface Along {
  /** Name and ends of the axis. */
  readonly name: string;
  readonly low: number;
  readonly high: number;
  /** Number of discrete actions, each a bar. */
  readonly count?: number;
  /** Actions of the drawn Q-values, row-major, as `qValues` takes them. */
  readonly actions: Float32Array;
  /** Action dimension. */
  readonly size: number;
}

function alongOf(
  { actionSpace: space, gridSize = 50 }: QValuePlotOptions,
): Along {
  checkCount("gridSize", gridSize, 2);
  if (space.type === "discrete") {
    const { n, start = 0 } = space;
    const [low, high] = [start - 0.5, start + n - 0.5];
    const actions = new Float32Array();
    return { name: "action", low, high, count: n, actions, size: 1 };
  }
  if (space.type !== "box") {
    throw new TypeError(
      `Cannot plot Q values of actions of type ${space.type}: expected box or discrete`,
    );
  }
  const { shape } = space;
  const size = shape.reduce((product, length) => product * length, 1);
  if (size === 0) {
    throw new RangeError(
      "Cannot plot actions of 0 numbers: expected at least one",
    );
  }
  const [low, high] = [space.low, space.high]
    .map((bound) => typeof bound === "number" ? bound : bound[0]);
  if (!Number.isFinite(high - low)) {
    throw new RangeError(
      `Cannot plot actions between ${low} and ${high}: expected finite bounds`,
    );
  }
  // In [-1, 1], with the other dimensions in the middle.
  const actions = new Float32Array(gridSize * size);
  for (let i = 0; i < gridSize && low < high; i++) {
    actions[i * size] = 2 * i / (gridSize - 1) - 1;
  }
  const place = shape.map(() => 0).join(", ");
  const name = shape.length === 0 ? "action" : `action[${place}]`;
  return { name, low, high, actions, size };
}

function checkCount(name: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new RangeError(
    `Cannot plot Q values with ${name} = ${value}: expected a whole number of at least ${least}`,
  );
}

/** Repeats an observation, as a batch. */
function repeated(
  observation: PlottedObservation,
  times: number,
): PlottedObservation {
  const length = observation.length * times;
  // Images are large enough for their type to matter.
  const batch = observation instanceof Uint8Array
    ? new Uint8Array(length)
    : new Float64Array(length);
  for (let i = 0; i < times; i++) {
    batch.set(observation, i * observation.length);
  }
  return batch;
}

/** Q-values and actions in one state. */
interface StateValues {
  readonly values: readonly number[];
  /** Sampled actions, as the environment takes them, row-major. */
  readonly samples: readonly number[];
}

/** Panel of the image. */
interface Panel {
  readonly name: string;
  /** Alternative text. */
  readonly description: string;
  readonly state: StateValues;
}

const PANELS_IN_ROW = 3;
/** Pixels of a panel, and of its name. */
const CELL = { width: 330, height: 360, name: 30 };

/** Draws panels side by side under a heading and a legend, as one image. */
function drawSheet(
  panels: readonly Panel[],
  along: Along,
  title: string,
): string {
  const width = Math.max(2, Math.min(panels.length, PANELS_IN_ROW)) *
    CELL.width;
  const legend: LegendEntry[] = [
    { text: "Q", sign: along.count === undefined ? "line" : "box", color: Q },
    { text: "samples of the policy", sign: "box", color: POLICY },
  ];
  const head = heading({ title, legend, width });
  const placeOf = placesIn(PANELS_IN_ROW, CELL, head.height);
  const drawn = panels.map(({ name, description, state }, i) => {
    const place = placeOf(i), top = place.top + CELL.name;
    const frame = { ...place, top, height: CELL.height - 40 };
    return `<g class="bp-panel"><title>${escapeMarkup(description)}</title>
<text class="bp-text bp-name" x="${frame.left + 62}" y="${top - 8}">${
      escapeMarkup(name)
    }</text>${drawState(frame, along, state)}</g>`;
  });
  const description = panels
    .map((it) => `${it.name}: ${it.description}.`).join("\n");
  const rows = Math.ceil(panels.length / PANELS_IN_ROW);
  const height = head.height + rows * CELL.height;
  return image({ width, height, title, description }, head.markup, ...drawn);
}

/** Pixels of the axes in a frame. */
const MARGINS = { marginLeft: 62, marginRight: 16, marginBottom: 40 };
/** Colours of Q-values and policy. */
const [Q, POLICY] = [0, 1];
/** Bins of a histogram over an action dimension. */
const BINS = 40;
/** Fraction of a frame for Q-values, above the histogram. */
const UPPER_PART = 0.62;
const NOT_FINITE = "Q is not finite";

/** Returns the position of one of several values on the axis. */
function placeOn({ low, high, count }: Along, i: number, of: number): number {
  return count === undefined
    ? low + i / (of - 1) * (high - low)
    : low + 0.5 + i;
}

/** Computes the fraction of samples in each bin. */
function sharesOf(
  { low, high, count = BINS, size }: Along,
  samples: readonly number[],
): number[] {
  const shares = Array<number>(count).fill(0);
  for (let i = 0; i < samples.length; i += size) {
    const bin = Math.floor((samples[i] - low) / (high - low) * count);
    shares[Math.min(Math.max(bin, 0), count - 1)] += size / samples.length;
  }
  return shares;
}

/** Draws bars side by side along the axis. */
function bars({ low, high }: Along, heights: readonly number[], look: {
  base: number;
  inset: number;
  color: number;
}): Plot.Markish {
  const edge = (i: number) => low + i / heights.length * (high - low);
  return Plot.rectY(heights, {
    x1: (_, i) => edge(i),
    x2: (_, i) => edge(i + 1),
    y1: look.base,
    y2: (height) => height,
    insetLeft: look.inset,
    insetRight: look.inset,
    className: classes(look.color, "bp-fill"),
  });
}

/** Draws Q-values above, samples below. */
function drawState(
  frame: Frame,
  along: Along,
  { values: qValues, samples }: StateValues,
): string {
  const { name, low, high, count } = along, isBars = count !== undefined;
  const values = qValues.map((it) => Number.isFinite(it) ? drawable(it) : it);
  const extent = finiteExtent(values);
  const y = numberAxis("Q", extent ?? [0, 1], { room: 0.06 });
  // Bars start at 0, or at the edge if 0 is out of sight.
  const base = Math.min(Math.max(0, y.domain[0]), y.domain[1]);
  const curve = isBars
    ? bars(along, values, { base, inset: 3, color: Q })
    : Plot.lineY(values, {
      x: (_, i) => placeOn(along, i, values.length),
      className: classes(Q, "bp-line"),
      strokeWidth: 2,
    });
  const domain = [low, high];
  const x = {
    ...axis(name, domain),
    domain,
    ...(isBars && { ticks: Math.min(count, 10), tickFormat: "d" }),
  };
  const height = Math.round(UPPER_PART * frame.height);
  const lower = {
    ...frame,
    top: frame.top + height,
    height: frame.height - height,
  };
  const shares = sharesOf(along, samples), inset = isBars ? 3 : 0.25;
  return chart({ ...frame, height }, {
    ...MARGINS,
    marginBottom: 6,
    x: { ...x, axis: null },
    y: { ...y, grid: true },
    marks: [
      curve,
      extent === undefined
        ? Plot.text([NOT_FINITE], { frameAnchor: "middle" })
        : null,
    ],
  }) + chart(lower, {
    ...MARGINS,
    x,
    y: {
      ...axis("samples", [1]),
      domain: [0, Math.max(...shares) || 1],
      nice: 2,
      ticks: 2,
      tickFormat: "~%",
      grid: true,
    },
    marks: [bars(along, shares, { base: 0, inset, color: POLICY })],
  });
}

/** Describes a state: range of Q-values, best action, and samples. */
function describe(along: Along, { values, samples }: StateValues): string {
  const shares = sharesOf(along, samples), most = largest(shares);
  const firsts = samples.filter((_, i) => i % along.size === 0);
  const sampled = along.count === undefined
    ? `the samples' mean is ${inWords(mean(firsts))}`
    : `${inWords(100 * shares[most])}% of the samples are action ${
      placeOn(along, most, along.count)
    }`;
  const extent = finiteExtent(values);
  if (extent === undefined) return `${NOT_FINITE}; ${sampled}`;
  const [low, high] = extent.map((it) => inWords(it));
  const best = inWords(placeOn(along, largest(values), values.length));
  return `Q from ${low} to ${high}, highest at ${along.name} = ${best}; ${sampled}`;
}

/** Finds the index of the largest value; NaN is lowest. */
function largest(values: readonly number[]): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) {
    if (values[i] > values[best] || Number.isNaN(values[best])) best = i;
  }
  return best;
}
