import { RandomStream } from "@bellman/compute";
import type { RandomSource } from "@bellman/types";
import type { Params, SearchEvent } from "./record.ts";
import type { Dimension, Space } from "./space.ts";

/** Samples the settings of trials from the record so far. */
export interface Sampler {
  /** Name and version. */
  readonly name: string;
  /**
   * Samples a trial: the same one for the same record.
   *
   * @param trial Number of the trial.
   * @param events Events of the record.
   * @returns Settings of the trial; undefined if none are left.
   */
  ask(
    trial: number,
    events: readonly SearchEvent[],
  ): Params | undefined | Promise<Params>;
  /** Frees its resources. */
  close?(): Promise<void>;
}

/** Returns the number of values of a range with steps, and a function for each of them. */
function stepsOf(low: number, high: number, step: number) {
  return {
    // 0.3 / 0.1 is slightly less than 3.
    count: Math.floor((high - low) / step + 1e-9) + 1,
    valueAt: (i: number) => Math.min(low + step * i, high),
  };
}

function drawFrom(random: RandomSource, dimension: Dimension): unknown {
  if (dimension.kind === "choice") {
    return dimension.choices[random.integer(dimension.choices.length)];
  }
  const { kind, low, high, log, step } = dimension;
  if (step !== undefined) {
    const { count, valueAt } = stepsOf(low, high, step);
    return valueAt(random.integer(count));
  }
  if (kind === "int" && !log) return low + random.integer(high - low + 1);
  // Each whole number has an equal share of the log range.
  const [from, to] = kind === "int" ? [low - 0.5, high + 0.5] : [low, high];
  const at = random.uniform();
  const drawn = log ? from * (to / from) ** at : from + (to - from) * at;
  const value = kind === "int" ? Math.round(drawn) : drawn;
  return Math.min(Math.max(value, low), high);
}

/** Samples all settings independently of each other and of earlier trials. */
export function randomSampler(space: Space, seed: number): Sampler {
  const root = new RandomStream(seed);
  return {
    name: "random",
    ask(trial) {
      const random = root.split(`trial ${trial}`);
      return Object.fromEntries(
        Object.entries(space)
          .map(([key, dimension]) => [key, drawFrom(random, dimension)]),
      );
    },
  };
}

/** Lists the grid values of a dimension; undefined for a range without steps. */
function gridValues(dimension: Dimension): unknown[] | undefined {
  if (dimension.kind === "choice") return [...dimension.choices];
  const { kind, low, high, step = kind === "int" ? 1 : undefined, log } =
    dimension;
  if (step === undefined || log) return undefined;
  const { count, valueAt } = stepsOf(low, high, step);
  return Array.from({ length: count }, (_, i) => valueAt(i));
}

/** Counts the combinations of a grid. */
export function gridSize(space: Space): number {
  return Object.values(space)
    .reduce((size, it) => size * (gridValues(it)?.length ?? Infinity), 1);
}

/** Samples every combination once, in random order. */
export function gridSampler(space: Space, seed: number): Sampler {
  const lists = Object.entries(space)
    .map(([key, dimension]) => [key, gridValues(dimension)!] as const);
  const order = Array.from({ length: gridSize(space) }, (_, i) => i);
  const random = new RandomStream(seed).split("grid");
  for (let i = order.length - 1; i > 0; i--) {
    const other = random.integer(i + 1);
    [order[i], order[other]] = [order[other], order[i]];
  }
  return {
    name: "grid",
    ask(trial) {
      // The first trial is the reference.
      let at = order[trial - 1];
      if (at === undefined) return undefined;
      const params: Record<string, unknown> = {};
      for (const [key, values] of lists) {
        params[key] = values[at % values.length];
        at = Math.floor(at / values.length);
      }
      return params;
    },
  };
}
