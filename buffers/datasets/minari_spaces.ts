import type { BoxDtype, Space } from "@bellman/types";

type Numbers = number | readonly Numbers[];

/** Space as Minari's metadata describe it. */
interface MinariSpace {
  readonly type: string;
  readonly dtype?: string;
  readonly subspaces?: Readonly<Record<string, MinariSpace>> | MinariSpace[];
  readonly shape?: readonly number[];
  readonly [name: string]: unknown;
}

/** Types of boxes that are held in others. */
const DTYPES: Readonly<Record<string, BoxDtype>> = {
  float16: "float32",
  float32: "float32",
  float64: "float64",
  uint8: "uint8",
  bool: "uint8",
};

/** Nests a bound of a box, as NumPy shows an array of its shape. */
function nested(
  bound: number | readonly number[],
  [length, ...shape]: readonly number[],
): Numbers {
  if (length === undefined) return typeof bound === "number" ? bound : bound[0];
  return Array.from({ length }, (_, i) => {
    if (typeof bound === "number") return nested(bound, shape);
    const size = bound.length / length;
    return nested(bound.slice(i * size, (i + 1) * size), shape);
  });
}

function mapParts<T, R>(parts: Readonly<Record<string, T>>, map: (it: T) => R) {
  return Object.fromEntries(
    Object.entries(parts).map(([key, it]) => [key, map(it)]),
  );
}

function describe(space: Space): MinariSpace {
  switch (space.type) {
    case "box": {
      const { dtype, shape } = space;
      const [low, high] = [space.low, space.high].map((it) =>
        nested(it, shape)
      );
      return { type: "Box", dtype, shape, low, high };
    }
    case "discrete":
      return {
        type: "Discrete",
        dtype: "int64",
        start: space.start ?? 0,
        n: space.n,
      };
    case "multiDiscrete": {
      const { nvec } = space, start = nvec.map(() => 0);
      return { type: "MultiDiscrete", dtype: "int64", nvec, start };
    }
    case "multiBinary":
      return { type: "MultiBinary", n: space.n };
    case "tuple":
      return { type: "Tuple", subspaces: space.spaces.map(describe) };
    case "dict":
      return { type: "Dict", subspaces: mapParts(space.spaces, describe) };
  }
}

/** Writes a space as Minari's metadata have it: JSON, with Python's infinities. */
export function toMinariSpace(space: Space): string {
  const text = JSON.stringify(
    describe(space),
    (_, value) =>
      value === Infinity || value === -Infinity ? `${value}!` : value,
  );
  return text.replaceAll(/"(-?Infinity)!"/g, "$1");
}

/** Reads a space of Minari's metadata; throws where there is none like it. */
export function fromMinariSpace(text: string): Space {
  if (typeof text !== "string") {
    throw new SyntaxError(
      `its spaces are ${text}, expected texts observation_space and action_space`,
    );
  }
  const infinity = /(?<=[[,:]\s*-?)Infinity(?=\s*[\],}])/g;
  return spaceOf(JSON.parse(text.replaceAll(infinity, "1e999")));
}

function spaceOf(space: MinariSpace): Space {
  const { type, dtype = "", shape = [], subspaces = {} } = space;
  const list = (name: string) => [space[name] ?? []].flat(Infinity) as number[];
  const bound = (name: string) => {
    const [first, ...others] = list(name);
    return others.every((it) => it === first) ? first : [first, ...others];
  };
  // The values of texts are left out, too.
  const parts = Object.entries(subspaces).filter(([, it]) =>
    it.type !== "Text"
  );
  const spaces = mapParts(Object.fromEntries(parts), spaceOf);
  const start = list("start"), [n] = list("n");
  switch (type) {
    case "Box":
      return {
        type: "box",
        shape,
        low: bound("low"),
        high: bound("high"),
        dtype: DTYPES[dtype] ?? "int32",
      };
    case "Discrete":
      return { type: "discrete", n, ...start[0] && { start: start[0] } };
    case "MultiDiscrete":
      if (start.every((it) => it === 0)) {
        return { type: "multiDiscrete", nvec: list("nvec") };
      }
      throw new RangeError(
        `Cannot read a MultiDiscrete space that starts at [${start}]: expected zeros`,
      );
    case "MultiBinary": {
      const n = list("n").reduce((product, it) => product * it, 1);
      return { type: "multiBinary", n };
    }
    case "Tuple":
      return { type: "tuple", spaces: Object.values(spaces) };
    case "Dict":
      return { type: "dict", spaces };
  }
  throw new RangeError(
    `Cannot read a space of the kind '${type}': expected Box, Discrete, MultiDiscrete, MultiBinary, Dict or Tuple`,
  );
}
