import type { BoxDtype, Space } from "@bellman/types";
import {
  box,
  discrete,
  multiBinary,
  multiDiscrete,
} from "../spaces/constructors.ts";

/** A bound as JSON has it: infinities are texts. */
type Bound = number | string;

/** A space as a host describes it. */
export type HostSpace =
  | { type: "discrete"; n: number; start?: number }
  | {
    type: "box";
    shape: number[];
    low: Bound | Bound[];
    high: Bound | Bound[];
    dtype: BoxDtype;
  }
  | { type: "multiDiscrete"; nvec: number[] }
  | { type: "multiBinary"; n: number }
  | { type: "dict" | "tuple"; spaces: [name: string, space: HostSpace][] };

const INFINITIES: Readonly<Record<string, number>> = {
  inf: Infinity,
  "-inf": -Infinity,
};

function boundOf(bound: Bound | Bound[]): number | number[] {
  const one = (it: Bound) => typeof it === "number" ? it : INFINITIES[it];
  return Array.isArray(bound) ? bound.map(one) : one(bound);
}

/** The space that a host describes. */
export function readSpace(space: HostSpace): Space {
  switch (space.type) {
    case "discrete":
      return discrete(space.n, { start: space.start });
    case "box": {
      const { shape, dtype } = space;
      const low = boundOf(space.low), high = boundOf(space.high);
      return box({ shape, low, high, dtype });
    }
    case "multiDiscrete":
      return multiDiscrete(space.nvec);
    case "multiBinary":
      return multiBinary(space.n);
    case "dict":
      // In the order in which the parts travel.
      return {
        type: "dict",
        spaces: Object.fromEntries(
          space.spaces.map(([name, inner]) => [name, readSpace(inner)]),
        ),
      };
    case "tuple":
      return {
        type: "tuple",
        spaces: space.spaces.map(([, inner]) => readSpace(inner)),
      };
  }
}
