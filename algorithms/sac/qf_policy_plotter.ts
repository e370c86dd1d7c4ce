import type { ObservationArray } from "@bellman/policies";
import type { Space } from "@bellman/types";
import { ActionPlane } from "./_action_plane.ts";
import { ContourPlot } from "./_contour_plot.ts";
import type { PlotForm, StateValues } from "./_plot_form.ts";
import { inWords } from "./_plot_markup.ts";
import { drawSheet } from "./_plot_sheet.ts";
import { barPlot, curvePlot } from "./_profile_plot.ts";
import type {
  PlottedAgent,
  QFPolicyPlotterOptions,
} from "./qf_policy_plotter_options.ts";

/**
 * Draws what an agent thinks of the actions in a few states, and which it would
 * take: contours of Q over two numbers of a box action with samples of the
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
 * import { QFPolicyPlotter, SAC } from "@bellman/sac";
 * import { assert, assertEquals } from "@std/assert";
 * import * as tf from "@tensorflow/tfjs";
 *
 * await tf.setBackend("cpu");
 * const box = { type: "box", shape: [2], dtype: "float32" } as const;
 * const observationSpace = { ...box, low: -5, high: 5 };
 * const actionSpace = { ...box, low: -1, high: 1 };
 * const agent = new SAC({ observationSpace, actionSpace, numEnvs: 1 }, {
 *   config: { hiddenSizes: [8], bufferSize: 1000 },
 * });
 *
 * const plotter = new QFPolicyPlotter(agent, {
 *   actionSpace,
 *   observations: [[-2.5, 0], [0, 0], [2.5, 2.5]],
 *   samples: 20,
 * });
 * const svg = plotter.draw();
 * assert(svg.startsWith("<svg"));
 * assertEquals(svg.match(/: Q from .*; the samples' mean is /g)?.length, 3);
 * assertEquals(plotter.draw(), svg);
 * agent.close();
 * ```
 */
export class QFPolicyPlotter {
  readonly #agent: PlottedAgent;
  readonly #observations: readonly ObservationArray[];
  readonly #samples: number;
  readonly #seed: number;
  readonly #title: string;
  readonly #form: PlotForm;

  /**
   * Makes a plotter; nothing is asked of the agent yet.
   *
   * @param agent Whose Q function and policy are drawn.
   * @param options Action space, observations, what is drawn and how finely.
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
    const form = this.#form;
    const names = namesOf(this.#observations);
    const states = this.#ask();
    return drawSheet(
      states.map((state, i) => ({
        name: names[i],
        description: form.describe(state),
        draw: (frame) => form.draw(frame, state),
      })),
      { title: this.#title, legend: form.legend, margin: form.margin },
    );
  }

  /** What the agent says of each observation. */
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

/** The longest name that has room over a panel. */
const longestName = 36;

/** Names of panels: the observations where they are short, else their count. */
function namesOf(observations: readonly ObservationArray[]): string[] {
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
  space: Space,
  options: QFPolicyPlotterOptions,
): PlotForm {
  const { gridSize = 50, levels = 20, defaultAction, limits } = options;
  checkCount("gridSize", gridSize, 2);
  checkCount("levels", levels, 1);
  if (space.type === "box") {
    const plane = new ActionPlane(space, { defaultAction, limits });
    return plane.axes.length === 1
      ? curvePlot(plane, gridSize)
      : new ContourPlot(plane, { gridSize, levels });
  }
  if (space.type !== "discrete") {
    throw new TypeError(
      `Cannot plot Q values of actions of type ${space.type}: expected box or discrete`,
    );
  }
  for (const [name, given] of Object.entries({ defaultAction, limits })) {
    if (given === undefined) continue;
    throw new TypeError(
      `Cannot plot discrete actions with ${name}: expected none, as all actions are drawn`,
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

/** An observation several times, as a batch. */
function repeated(
  observation: ObservationArray,
  times: number,
): ObservationArray {
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
