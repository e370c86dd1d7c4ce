import type { SpaceLike } from "@bellman/policies";

/**
 * Arrays that environments take actions in.
 *
 * @example
 * ```ts
 * import { A2C, type ActionArray } from "@bellman/a2c";
 * import { assertEquals } from "@std/assert";
 *
 * const agent = new A2C({
 *   observationSpace: { type: "discrete", n: 3 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 2,
 * });
 * const actions: ActionArray = agent.act(Int32Array.of(0, 1));
 * assertEquals(actions.every((it) => it === 0 || it === 1), true);
 * agent.close();
 * ```
 */
export type ActionArray = Float32Array | Float64Array | Int32Array | Uint8Array;

/**
 * A function from sampled actions to those that the environment takes: its
 * type of array and, for box actions, clipped to the bounds. What was sampled
 * is left as it is, since its probability is what the policy learns from.
 */
export function envActions(
  space: SpaceLike,
): (sampled: ArrayLike<number>) => ActionArray {
  switch (space.type) {
    case "multiBinary":
      return (sampled) => new Uint8Array(sampled);
    case "box":
      return clipper(space);
    default:
      return (sampled) => new Int32Array(sampled);
  }
}

function clipper(
  space: Extract<SpaceLike, { type: "box" }>,
): (sampled: ArrayLike<number>) => ActionArray {
  const ArrayType = ARRAYS[space.dtype];
  const size = space.shape.reduce((product, length) => product * length, 1);
  const bounds = (bound: number | readonly number[]): Float64Array =>
    typeof bound === "number"
      ? new Float64Array(size).fill(bound)
      : Float64Array.from(bound);
  const low = bounds(space.low);
  const high = bounds(space.high);
  const whole = space.dtype === "int32" || space.dtype === "uint8";
  return (sampled) => {
    const actions = new ArrayType(sampled.length);
    for (let i = 0; i < actions.length; i++) {
      const inside = Math.min(
        Math.max(sampled[i], low[i % size]),
        high[i % size],
      );
      actions[i] = whole ? Math.round(inside) : inside;
    }
    return actions;
  };
}

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int32: Int32Array,
  uint8: Uint8Array,
} as const;
