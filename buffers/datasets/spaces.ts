import type { BoxDtype, Space } from "@bellman/types";
import { type Field, type Leaf, makeSchema, type Schema } from "../fields.ts";

/** Spaces of recorded values, such as those of an environment. */
export interface Spaces {
  /** Space of one observation. */
  readonly observationSpace: Space;
  /** Space of one action. */
  readonly actionSpace: Space;
}

/** Numbers of a space other than a dict or a tuple. */
interface Numbers {
  readonly type: Space["type"];
  readonly shape: readonly number[];
  readonly dtype: BoxDtype;
  readonly low: number | readonly number[];
  readonly high: number | readonly number[];
}

/** One array of recorded values. */
export type Part = Leaf & Numbers;

/** Numbers of choices of the parts of an action; undefined where masks forbid none. */
export function choicesOf(space: Space): readonly number[] | undefined {
  if (space.type === "discrete") return [space.n];
  if (space.type === "multiDiscrete") return space.nvec;
  return space.type === "multiBinary" ? new Array(space.n).fill(2) : undefined;
}

/** Returns the arrays of a space, nested as it is; boxes that are not bounded take any number. */
function fieldOf(space: Space, bounded = true): Field {
  const { type } = space, whole = { type, low: 0, dtype: "int32" } as const;
  const field = (numbers: Numbers): Field => numbers;
  switch (space.type) {
    case "tuple":
      return space.spaces.map((it) => fieldOf(it, bounded));
    case "dict":
      return Object.fromEntries(
        Object.entries(space.spaces)
          .map(([key, it]) => [key, fieldOf(it, bounded)]),
      );
    case "discrete": {
      const { n, start: low = 0 } = space;
      return field({ ...whole, shape: [], low, high: low + n - 1 });
    }
    case "multiDiscrete": {
      const high = space.nvec.map((n) => n - 1);
      return field({ ...whole, shape: [high.length], high });
    }
    case "multiBinary":
      return field({ ...whole, shape: [space.n], high: 1, dtype: "uint8" });
    case "box":
      return bounded
        ? space
        : field({ ...space, low: -Infinity, high: Infinity });
  }
}

/** Lists the arrays of recorded steps; actions are within their bounds if these are `bounded`. */
export function partsOf(
  { observationSpace, actionSpace }: Spaces,
  { masked = false, bounded = false } = {},
): { schema: Schema; parts: Part[] } {
  if (observationSpace === undefined || actionSpace === undefined) {
    // As in { ...env, append: true }, where getters of env are lost.
    throw new TypeError(
      "Cannot use episodes without spaces: expected observationSpace and actionSpace",
    );
  }
  const number: Space = {
    type: "box",
    shape: [],
    low: -Infinity,
    high: Infinity,
    dtype: "float64",
  };
  const choices = masked ? choicesOf(actionSpace) : [];
  if (choices === undefined) {
    throw new RangeError(
      `Cannot use masks of actions that are a ${actionSpace.type}: expected none`,
    );
  }
  const n = choices.reduce((sum, it) => sum + it, 0);
  const fields: Record<string, Field> = {
    observations: fieldOf(observationSpace, false),
    actions: fieldOf(actionSpace, bounded),
    rewards: fieldOf(number),
    terminated: fieldOf({ type: "multiBinary", n: 1 }),
    ...masked && { actionMasks: fieldOf({ type: "multiBinary", n }) },
  };
  const schema = makeSchema(fields);
  const parts = schema.leaves.map((leaf) => ({
    ...partAt(fields, leaf.path) as Numbers,
    ...leaf,
  }));
  return { schema, parts };
}

/** Returns what names and places lead to in nested values. */
export function partAt(values: unknown, path: readonly string[]): unknown {
  return path.reduce(
    (it, key) => (it as Record<string, unknown> | undefined)?.[key],
    values,
  );
}

function describe({ type, shape, low, high }: Part): string {
  const size = type === "discrete" ? "" : ` of shape [${shape}]`;
  return type === "box"
    ? `a box${size}`
    : `a ${type} space${size} from ${low} to ${high}`;
}

/** Throws unless recorded values are of some spaces: kinds and shapes, not bounds. */
export function checkFit(recorded: Spaces, wanted: Spaces): void {
  const own = partsOf(recorded).parts;
  for (const part of partsOf(wanted).parts) {
    const { name } = part, found = own.find((it) => it.name === name);
    const [has, expected] = [describe(found ?? part), describe(part)];
    if (found !== undefined && has === expected) continue;
    const problem = found === undefined
      ? `it has ${own.map((it) => it.name).join(", ")}, expected ${name}:`
      : `its ${name} are ${has}, expected`;
    throw new RangeError(`Cannot use the data: ${problem} ${expected}`);
  }
}
