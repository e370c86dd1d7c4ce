import type { BoxDtype, BoxSpace, Space } from "@bellman/types";

/** Space as Minari's metadata describe it. */
interface MinariSpace {
  type: string;
  dtype?: string;
  shape?: number[];
  low?: Numbers;
  high?: Numbers;
  n?: number | number[];
  start?: Numbers;
  nvec?: Numbers;
  subspaces?: Record<string, MinariSpace> | MinariSpace[];
}

type Numbers = number | Numbers[];

/** Types of boxes that are held in others. */
const DTYPES: Readonly<Record<string, BoxDtype>> = {
  float16: "float32",
  float32: "float32",
  float64: "float64",
  uint8: "uint8",
  bool: "uint8",
};

/** Cuts a list into nested ones, as NumPy shows an array of a shape. */
function nested(numbers: readonly number[], shape: readonly number[]): Numbers {
  if (shape.length === 0) return numbers[0];
  const size = numbers.length / shape[0];
  return Array.from(
    { length: shape[0] },
    (_, i) => nested(numbers.slice(i * size, (i + 1) * size), shape.slice(1)),
  );
}

function boundsOf({ shape, low, high }: BoxSpace) {
  const size = shape.reduce((product, it) => product * it, 1);
  const all = (bound: number | readonly number[]) =>
    nested(
      typeof bound === "number" ? new Array(size).fill(bound) : bound,
      shape,
    );
  return { low: all(low), high: all(high) };
}

function describe(space: Space): MinariSpace {
  switch (space.type) {
    case "box": {
      const { dtype, shape } = space;
      return { type: "Box", dtype, shape: [...shape], ...boundsOf(space) };
    }
    case "discrete": {
      const { n, start = 0 } = space;
      return { type: "Discrete", dtype: "int64", start, n };
    }
    case "multiDiscrete": {
      const nvec = [...space.nvec], start = nvec.map(() => 0);
      return { type: "MultiDiscrete", dtype: "int64", nvec, start };
    }
    case "multiBinary":
      return { type: "MultiBinary", n: space.n };
    case "tuple":
      return { type: "Tuple", subspaces: space.spaces.map(describe) };
    case "dict": {
      const parts = Object.entries(space.spaces)
        .map(([key, inner]) => [key, describe(inner)] as const);
      return { type: "Dict", subspaces: Object.fromEntries(parts) };
    }
  }
}

/** Writes a space as Minari's metadata have it: JSON, with Python's infinities. */
export function toMinariSpace(space: Space): string {
  const text = JSON.stringify(
    describe(space),
    (_, value) =>
      Math.abs(value) === Infinity && typeof value === "number"
        ? `${value}!`
        : value,
  );
  return text.replaceAll(/"(-?Infinity)!"/g, "$1");
}

/** Reads a space of Minari's metadata; throws where there is none like it. */
export function fromMinariSpace(text: string): Space {
  const json = text.replaceAll(
    /(?<=[[,:]\s*-?)Infinity(?=\s*[\],}])/g,
    "1e999",
  );
  return spaceOf(JSON.parse(json));
}

function spaceOf(space: MinariSpace): Space {
  const { type, dtype = "", shape = [], subspaces = {} } = space;
  const list = (numbers: Numbers | undefined) =>
    ([numbers ?? []] as unknown[]).flat(Infinity) as number[];
  const bound = (numbers: Numbers | undefined) => {
    const [first, ...others] = list(numbers);
    return others.every((it) => it === first) ? first : list(numbers);
  };
  switch (type) {
    case "Box":
      return {
        type: "box",
        shape,
        low: bound(space.low),
        high: bound(space.high),
        dtype: DTYPES[dtype] ?? "int32",
      };
    case "Discrete":
      return {
        type: "discrete",
        n: Number(space.n),
        ...space.start && { start: Number(space.start) },
      };
    case "MultiDiscrete":
      if (list(space.start).every((it) => it === 0)) {
        return { type: "multiDiscrete", nvec: list(space.nvec) };
      }
      throw new RangeError(
        `Cannot read a MultiDiscrete space that starts at [${
          list(space.start)
        }]: expected zeros`,
      );
    case "MultiBinary":
      return {
        type: "multiBinary",
        n: list(space.n).reduce((product, it) => product * it, 1),
      };
    case "Tuple":
    case "Dict": {
      // The values of texts are left out, too.
      const parts = Object.entries(subspaces)
        .filter(([, it]) => it.type !== "Text")
        .map(([key, inner]) => [key, spaceOf(inner)] as const);
      return type === "Tuple"
        ? { type: "tuple", spaces: parts.map(([, inner]) => inner) }
        : { type: "dict", spaces: Object.fromEntries(parts) };
    }
  }
  throw new RangeError(
    `Cannot read a space of the kind '${type}': expected Box, Discrete, MultiDiscrete, MultiBinary, Dict or Tuple`,
  );
}
