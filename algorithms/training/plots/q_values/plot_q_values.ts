import type { BoxArray, Space } from "@bellman/types";
import { ActionPlane } from "./action_plane.ts";
import {
  barPlot,
  contourPlot,
  curvePlot,
  type PlotForm,
  type StateValues,
} from "./forms.ts";
import { escapeMarkup, heading, image, inWords } from "../image.ts";

/** One observation, as the environment gives it. */
export type PlottedObservation = BoxArray | readonly number[];

/** Agent with a Q function, as {@link plotQValues} sees it. */
export interface PlottedAgent {
  /**
   * Estimates values of actions in one state.
   *
   * @param observation One observation, as the environment gives it.
   * @param actions Box actions `[count, ...]` in [-1, 1], row-major; empty for
   * discrete actions.
   * @returns Values `[count]`; of discrete actions, all of them.
   */
  qValues(
    observation: PlottedObservation,
    actions: ArrayLike<number>,
  ): ArrayLike<number>;
  /**
   * Makes an actor that samples.
   *
   * @param options Number of observations that it acts on at once, and its seed.
   * @returns The actor: its actions are those that the environment takes.
   */
  policy(options: { numEnvs: number; seed: number }): {
    act(observations: unknown, actionMasks?: Uint8Array): ArrayLike<number>;
    close?(): void;
  };
}

/** Options of {@link plotQValues}. */
export interface QValuePlotOptions {
  /** Space of one action: box with finite bounds, or discrete. */
  readonly actionSpace: Space;
  /** Observations as the environment gives them, one for each panel. */
  readonly observations: readonly PlottedObservation[];
  /**
   * Masks of the actions in each of them, where the environment masks actions.
   *
   * @default none
   */
  readonly actionMasks?: readonly Uint8Array[];
  /**
   * Actions that are sampled of the policy for each observation.
   *
   * @default 100
   */
  readonly samples?: number;
  /**
   * Box actions: points along each axis where Q is estimated.
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
 * Draws the Q values of actions in a few states, and the actions that the policy
 * takes there: contours of Q over the first two numbers of a box action with
 * samples of the policy as dots, a curve of Q over a single number with a
 * histogram of the samples, or a bar for each discrete action with its share of
 * them.
 *
 * The image needs no other file and no script, carries colours for light and dark
 * surroundings, and describes what it shows. Axes are in the environment's
 * units. Drawing changes nothing of the agent and uses a random stream of its
 * own: the same agent is drawn the same.
 *
 * Source: `QFPolicyPlotter` of haarnoja/sac (sac/misc/plotter.py).
 *
 * @param agent Agent whose Q function and policy are drawn.
 * @param options Action space, observations and detail.
 * @returns The text of an SVG image, a panel for each observation.
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
 *   qValues: ([x]: ArrayLike<number>, actions: ArrayLike<number>) =>
 *     Array.from(actions, (action) => -((action - x) ** 2)),
 *   policy: () => ({ act: (batch: unknown) => batch as Float64Array }),
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
  const form = formOf(options), names = namesOf(observations);
  const actor = agent.policy({ numEnvs: samples, seed: 0 });
  try {
    const panels = observations.map((observation, i) => {
      const masks = actionMasks && repeated(actionMasks[i], samples);
      const batch = repeated(observation, samples);
      const state = {
        values: form.actions.flatMap((actions) =>
          Array.from(agent.qValues(observation, actions))
        ),
        // Copied, as an actor may write the next actions to the same array.
        samples: Array.from(actor.act(batch, masks as Uint8Array)),
      };
      return { name: names[i], description: form.describe(state), state };
    });
    return drawSheet(panels, form, title);
  } finally {
    actor.close?.();
  }
}

/** Length of the longest name that has room over a panel. */
const longestName = 36;

/** Names panels: by the observations where they are short, else their count. */
function namesOf(observations: readonly PlottedObservation[]): string[] {
  const names = observations.map((it) =>
    it.length > 4
      ? undefined
      : `Observation (${Array.from(it, (n) => inWords(n, 3)).join(", ")})`
  );
  return names.every((it) => it !== undefined && it.length <= longestName)
    ? names as string[]
    : names.map((_, i) => `Observation ${i + 1} of ${names.length}`);
}

function formOf(
  { actionSpace: space, gridSize = 50 }: QValuePlotOptions,
): PlotForm {
  checkCount("gridSize", gridSize, 2);
  if (space.type === "box") {
    const plane = new ActionPlane(space);
    return plane.axes.length === 1
      ? curvePlot(plane, gridSize)
      : contourPlot(plane, gridSize);
  }
  if (space.type === "discrete") return barPlot(space);
  throw new TypeError(
    `Cannot plot Q values of actions of type ${space.type}: expected box or discrete`,
  );
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

/** Panel of a sheet. */
interface Panel {
  readonly name: string;
  /** Description for readers of the text. */
  readonly description: string;
  readonly state: StateValues;
}

const PANELS_IN_ROW = 3;
/** Pixels of a panel, and of the name above it. */
const CELL = { width: 330, height: 360, name: 30 };

/** Draws panels side by side under a heading and a legend, as one image. */
function drawSheet(
  panels: readonly Panel[],
  form: PlotForm,
  title: string,
): string {
  const width = Math.max(2, Math.min(panels.length, PANELS_IN_ROW)) *
    CELL.width;
  const head = heading({ title, legend: form.legend, width });
  const rows = Math.ceil(panels.length / PANELS_IN_ROW);
  const drawn = panels.map(({ name, description, state }, i) => {
    const left = (i % PANELS_IN_ROW) * CELL.width;
    const row = Math.floor(i / PANELS_IN_ROW);
    const top = head.height + row * CELL.height + CELL.name;
    const frame = { left, top, width: CELL.width, height: CELL.height - 40 };
    return `<g class="bp-panel"><title>${escapeMarkup(description)}</title>
<text class="bp-text bp-name" x="${left + 62}" y="${top - 8}">${
      escapeMarkup(name)
    }</text>${form.draw(frame, state)}</g>`;
  });
  const description = panels
    .map((it) => `${it.name}: ${it.description}.`).join("\n");
  const height = head.height + rows * CELL.height;
  return image({ width, height, title, description }, head.markup, ...drawn);
}
