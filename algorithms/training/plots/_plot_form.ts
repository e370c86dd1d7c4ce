import { finiteExtent, type Frame, inWords, label } from "./svg.ts";

/** Q values and actions in one state. */
export interface StateValues {
  /** Q of the actions that the form asks for. */
  readonly values: ArrayLike<number>;
  /** Actions of the policy, as the environment takes them, row-major. */
  readonly samples: ArrayLike<number>;
}

/** A sign and what it stands for. */
export interface LegendEntry {
  readonly text: string;
  /** Draws the sign into a small frame. */
  draw(frame: Frame): string;
}

/** A way to draw Q and the policy in one state. */
export interface PlotForm {
  /** The actions whose values are drawn, a call of `qValues` for each. */
  readonly actions: readonly Float32Array[];
  /** Pixels that it needs right of its frame. */
  readonly margin: number;
  /** Signs and their meaning. */
  readonly legend: readonly LegendEntry[];
  /** Draws a state. */
  draw(frame: Frame, state: StateValues): string;
  /** Says of a state what can be seen. */
  describe(state: StateValues): string;
}

/** The position of the largest number. */
export function largest(values: ArrayLike<number>): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) {
    if (values[i] > values[best] || Number.isNaN(values[best])) best = i;
  }
  return best;
}

/** The mean of one number of rows. */
export function meanOf(
  rows: ArrayLike<number>,
  { size, index }: { size: number; index: number },
): number {
  let sum = 0;
  for (let i = index; i < rows.length; i += size) sum += rows[i];
  return sum * size / rows.length;
}

/** Describes Q; the place is that of the largest value. */
export function valuesInWords(
  values: ArrayLike<number>,
  placeOf: (best: number) => string,
): string {
  const extent = finiteExtent(values);
  if (extent === undefined) return NOT_FINITE;
  const [low, high] = extent.map((it) => inWords(it));
  return `Q from ${low} to ${high}, highest at ${placeOf(largest(values))}`;
}

/** Stands for a drawing of values that are not finite. */
export function notFinite({ left, top, width, height }: Frame): string {
  const middle = { x: left + width / 2, y: top + height / 2 };
  return label(NOT_FINITE, { ...middle, style: "qp-text qp-middle" });
}

const NOT_FINITE = "Q is not finite";
