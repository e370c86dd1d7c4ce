import { assert } from "@std/assert";
import {
  plotQValues,
  type PlottedAgent,
  type QValuePlotOptions,
} from "../plots/q_values/plot_q_values.ts";
import { parseSvg } from "./parse_svg.ts";

/** A place in pixels or in units of actions. */
export type Point = [number, number];
/** An image as a tree. */
export type Drawn = ReturnType<typeof parseSvg>;

/** Bounds that are not those of [-1, 1], nor each other's. */
export const PLANE = {
  type: "box",
  shape: [2],
  low: [-2, 0],
  high: [1, 4],
  dtype: "float32",
} as const;
/** One number. */
export const LINE = { ...PLANE, shape: [1], low: -2, high: 2 } as const;
/** Discrete actions that are not counted from 0. */
export const THREE = { type: "discrete", n: 3, start: 5 } as const;

/** Observations: one. */
export const ONE: readonly number[][] = [[0.25, -1, 3]];

/** From [-1, 1] to the bounds of a box. */
function toEnv(unit: number, low: number, high: number): number {
  return low + (unit + 1) / 2 * (high - low);
}

/** An agent with a Q function of actions in the units of `PLANE`. */
export function planeAgent(
  q: (x: number, y: number) => number,
  samples: readonly Point[] = [[0, 1]],
): PlottedAgent {
  return {
    qValues: (_, actions) =>
      Float64Array.from({ length: actions.length / 2 }, (_, i) =>
        q(
          toEnv(actions[2 * i], -2, 1),
          toEnv(actions[2 * i + 1], 0, 4),
        )),
    policy: ({ numEnvs }) => ({
      act: () =>
        Float32Array.from(
          { length: 2 * numEnvs },
          (_, i) => samples[(i >> 1) % samples.length][i % 2],
        ),
    }),
  };
}

/** The same of one number from -2 to 2; samples in order. */
export function lineAgent(
  q: (x: number) => number,
  samples: readonly number[] = [0],
): PlottedAgent {
  return {
    qValues: (_, actions) =>
      Float64Array.from(actions, (it) => q(toEnv(it, -2, 2))),
    policy: ({ numEnvs }) => ({
      act: () => Float32Array.from({ length: numEnvs }, (_, i) => samples[i]),
    }),
  };
}

/** An agent with values for actions from 5 on. */
export function discreteAgent(
  values: readonly number[],
  samples: readonly number[] = [5],
): PlottedAgent {
  return {
    qValues: () => values,
    policy: ({ numEnvs }) => ({
      act: () => Int32Array.from({ length: numEnvs }, (_, i) => samples[i]),
    }),
  };
}

/** Draws an agent of `PLANE`, if nothing else is said. */
export function draw(
  agent: PlottedAgent,
  options: Partial<QValuePlotOptions> = {},
): Drawn {
  const svg = plotQValues(agent, {
    actionSpace: PLANE,
    observations: ONE,
    samples: 1,
    ...options,
  });
  assert(!/NaN|Infinity|undefined/.test(svg), svg);
  return parseSvg(svg);
}
