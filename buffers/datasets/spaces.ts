import type { Space } from "@bellman/types";

/** Spaces of recorded values, such as those of an environment. */
export interface Spaces {
  /** Space of one observation. */
  readonly observationSpace: Space;
  /** Space of one action. */
  readonly actionSpace: Space;
}

/** Describes a space by its kind and shape, for messages. */
export function shapeOf(space: Space): string {
  switch (space.type) {
    case "box":
      return `a box of shape [${space.shape}]`;
    case "discrete": {
      const { start = 0 } = space;
      return `a discrete space from ${start} to ${start + space.n - 1}`;
    }
    case "multiDiscrete":
      return `a multiDiscrete space of [${space.nvec}]`;
    case "multiBinary":
      return `a multiBinary space of ${space.n}`;
    case "dict":
      return `a dict of ${Object.keys(space.spaces).join(", ")}`;
    case "tuple":
      return `a tuple of ${space.spaces.length}`;
  }
}

/** Says where recorded values are not of some spaces, with both shapes; undefined if they are. */
export function misfit(recorded: Spaces, wanted: Spaces): string | undefined {
  return misfitOf(
    "observations",
    recorded.observationSpace,
    wanted.observationSpace,
  ) ?? misfitOf("actions", recorded.actionSpace, wanted.actionSpace);
}

function misfitOf(
  name: string,
  recorded: Space,
  wanted: Space,
): string | undefined {
  const parts = wanted.type === "dict" || wanted.type === "tuple"
    ? Object.entries<Space>({ ...wanted.spaces })
    : [];
  const own: Record<string, Space> = {
    ...(recorded as { spaces?: Record<string, Space> }).spaces,
  };
  const isNest = parts.length > 0 && recorded.type === wanted.type &&
    parts.every(([key]) => Object.hasOwn(own, key));
  if (!isNest) {
    const [found, expected] = [shapeOf(recorded), shapeOf(wanted)];
    return found === expected
      ? undefined
      : `its ${name} are ${found}, expected ${expected}`;
  }
  for (const [key, inner] of parts) {
    const problem = misfitOf(`${name}.${key}`, own[key], inner);
    if (problem !== undefined) return problem;
  }
}
