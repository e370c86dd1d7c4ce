import type { BoxArray, Space } from "@bellman/types";
import { ActionPlane } from "./_action_plane.ts";
import {
  barPlot,
  contourPlot,
  curvePlot,
  type PlotForm,
  type StateValues,
} from "./_q_plots.ts";
import { escapeMarkup, heading, image, inWords } from "./image.ts";

/** One observation, as the environment gives it. */
export type PlottedObservation = BoxArray | readonly number[];

/** Agent with a Q function, as {@link QFPolicyPlotter} sees it. */
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
    act(observations: unknown): ArrayLike<number>;
    close?(): void;
  };
}

/** Options of `QFPolicyPlotter`. */
export interface QFPolicyPlotterOptions {
  /** Space of one action: box with finite bounds, or discrete. */
  readonly actionSpace: Space;
  /** Observations as the environment gives them, one for each panel; copied. */
  readonly observations: readonly PlottedObservation[];
  /**
   * Box actions: NaN for the one or two numbers that vary along the axes, and
   * what the others are, in the environment's units.
   *
   * @default the first two vary, the others are in the middle of their bounds
   */
  readonly defaultAction?: readonly number[];
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
   * About how many contours there are; they lie at round numbers.
   *
   * @default 20
   */
  readonly levels?: number;
  /**
   * Seed of the samples: a whole number of at least 0.
   *
   * @default 0
   */
  readonly seed?: number;
  /**
   * Heading of the image.
   *
   * @default "Q values and sampled actions"
   */
  readonly title?: string;
}

/**
 * Draws the Q values of actions in a few states, and the actions that the policy
 * takes there: contours of Q over two numbers of a box action with samples of the
 * policy as dots, a curve of Q over one number with a histogram of the samples,
 * or a bar for each discrete action with its share of them.
 *
 * The images need no other file and no script, carry colours for light and dark
 * surroundings, and say in words what they show. Axes are in the environment's
 * units. Drawing changes nothing of the agent and uses a random stream of its
 * own: the same agent is drawn the same.
 *
 * Source: `QFPolicyPlotter` of haarnoja/sac (sac/misc/plotter.py).
 *
 * @example
 * ```ts
 * import { QFPolicyPlotter } from "@bellman/training/plots";
 * import { assert, assertEquals } from "@std/assert";
 *
 * // An agent that values actions near its observation, and always takes it.
 * const agent = {
 *   qValues: ([x]: ArrayLike<number>, actions: ArrayLike<number>) =>
 *     Array.from(actions, (action) => -((action - x) ** 2)),
 *   policy: () => ({ act: (batch: unknown) => batch as Float64Array }),
 * };
 * const box = { type: "box", shape: [1], low: -1, high: 1 } as const;
 * const plotter = new QFPolicyPlotter(agent, {
 *   actionSpace: { ...box, dtype: "float32" },
 *   observations: [[-0.5], [0], [0.5]],
 *   samples: 20,
 * });
 * const svg = plotter.draw();
 * assert(svg.startsWith("<svg"));
 * assertEquals(svg.match(/: Q from .*; the samples' mean is /g)?.length, 3);
 * ```
 */
export class QFPolicyPlotter {
  readonly #agent: PlottedAgent;
  readonly #observations: readonly PlottedObservation[];
  readonly #samples: number;
  readonly #seed: number;
  readonly #title: string;
  readonly #form: PlotForm;

  /**
   * Creates a plotter; nothing is asked of the agent yet.
   *
   * @param agent Agent whose Q function and policy are drawn.
   * @param options Action space, observations, range and detail.
   * @throws {TypeError} If the actions are neither box nor discrete, or options
   * of box actions are given for discrete ones.
   * @throws {RangeError} If a number is out of its range.
   */
  constructor(agent: PlottedAgent, options: QFPolicyPlotterOptions) {
    const { actionSpace, observations, samples = 100, seed = 0 } = options;
    const { title = "Q values and sampled actions" } = options;
    if (observations.length === 0) {
      throw new RangeError(
        "Cannot plot Q values for 0 observations: expected at least one",
      );
    }
    checkCount("samples", samples, 1);
    checkCount("seed", seed, 0);
    this.#agent = agent;
    this.#form = formOf(actionSpace, options);
    this.#observations = observations.map((it) => it.slice());
    this.#samples = samples;
    this.#seed = seed;
    this.#title = title;
  }

  /**
   * Draws the agent as it is now.
   *
   * @returns The text of an SVG image, a panel for each observation.
   */
  draw(): string {
    const names = namesOf(this.#observations);
    const panels = this.#ask().map((state, i) => ({
      name: names[i],
      description: this.#form.describe(state),
      state,
    }));
    return drawSheet(panels, this.#form, this.#title);
  }

  /** Asks the agent about each observation. */
  #ask(): StateValues[] {
    const actor = this.#agent.policy({
      numEnvs: this.#samples,
      seed: this.#seed,
    });
    try {
      return this.#observations.map((observation) => ({
        values: this.#form.actions.flatMap((actions) =>
          Array.from(this.#agent.qValues(observation, actions))
        ),
        // Copied, as an actor may write the next actions to the same array.
        samples: Array.from(actor.act(repeated(observation, this.#samples))),
      }));
    } finally {
      actor.close?.();
    }
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

function formOf(space: Space, options: QFPolicyPlotterOptions): PlotForm {
  const { gridSize = 50, levels = 20, defaultAction } = options;
  checkCount("gridSize", gridSize, 2);
  checkCount("levels", levels, 1);
  if (space.type === "box") {
    const plane = new ActionPlane(space, defaultAction);
    return plane.axes.length === 1
      ? curvePlot(plane, gridSize)
      : contourPlot(plane, { gridSize, levels });
  }
  if (space.type !== "discrete") {
    throw new TypeError(
      `Cannot plot Q values of actions of type ${space.type}: expected box or discrete`,
    );
  }
  if (defaultAction !== undefined) {
    throw new TypeError(
      "Cannot plot discrete actions with defaultAction: expected none, as all actions are drawn",
    );
  }
  return barPlot(space);
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
  /** Description in words. */
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
