import type {
  BoxArray,
  RenderOptions,
  RgbImage,
  Space,
  SpaceValue,
  StateTree,
} from "@bellman/types";
import type { SeededRandom } from "../random.ts";
import { allocateArray, elementCount, isArrayOf } from "../spaces/arrays.ts";
import { discrete } from "../spaces/constructors.ts";
import { sample } from "../spaces/values.ts";
import { renderBars, ToyEnv, type ToyRules } from "./toy_env.ts";

/** Settings of {@linkcode IdentityEnv}. */
export interface IdentityOptions {
  /**
   * Space of actions and observations, any but a dict or a tuple.
   *
   * @default discrete(2)
   */
  actionSpace?: Space;
}

function checkLeaf(space: Space): Space {
  if (space.type === "dict" || space.type === "tuple") {
    throw new TypeError(
      `Cannot make an identity environment of a ${space.type} space: expected a discrete, box, multiDiscrete or multiBinary one`,
    );
  }
  return space;
}

function identityRules(space: Space): ToyRules {
  let target: SpaceValue = space.type === "discrete"
    ? space.start ?? 0
    : allocateArray(space, elementCount(space));
  const begin = (random: SeededRandom): SpaceValue => {
    target = sample(space, random);
    return copyOf(target);
  };
  return {
    observationSpace: space,
    actionSpace: space,
    begin,
    advance: (action, random) => {
      const reward = rewardOf(space, action, target);
      const observation = begin(random);
      return { observation, reward, terminated: false, truncated: false };
    },
    saveRules: () => copyOf(target) as StateTree,
    loadRules: (state) => {
      const isValue = space.type === "discrete"
        ? typeof state === "number"
        : isArrayOf(space, state);
      if (!isValue) {
        throw new TypeError(
          `Cannot restore IdentityEnv: its snapshot is of another space than ${space.type}`,
        );
      }
      target = copyOf(state as SpaceValue);
    },
    draw: (options) => drawValue(space, target, options),
  };
}

/** Draws a value as bars, a discrete one as the marked bar of all. */
function drawValue(
  space: Space,
  value: SpaceValue,
  options?: RenderOptions,
): RgbImage {
  if (space.type === "discrete") {
    const at = (value as number) - (space.start ?? 0);
    const heights = Array(space.n).fill(0.1).with(at, 1);
    return renderBars(heights, { ...options, marked: at });
  }
  const numbers = Array.from(value as BoxArray);
  const most = Math.max(1, ...numbers.map(Math.abs));
  return renderBars(numbers.map((it) => it / most), options);
}

/**
 * Shows a value that the action should repeat, a new one in each step: the least
 * that a policy must be able to learn. The reward is 1 if the action
 * equals it, else 0; of a box, minus the squared distance. No episode ends.
 *
 * @example
 * ```ts
 * import { IdentityEnv, multiDiscrete } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new IdentityEnv({ actionSpace: multiDiscrete([3, 4]) });
 * const shown = env.reset({ seed: 0 });
 * assertEquals(env.step(shown).reward, 1);
 * ```
 */
export class IdentityEnv extends ToyEnv {
  /**
   * Makes an environment that has not been reset.
   *
   * @param options Space of actions and observations.
   * @throws {TypeError} If the space is a dict or a tuple.
   */
  constructor(options: IdentityOptions = {}) {
    super(identityRules(checkLeaf(options.actionSpace ?? discrete(2))));
  }
}

function copyOf(value: SpaceValue): SpaceValue {
  return typeof value === "number" ? value : (value as BoxArray).slice();
}

function rewardOf(
  space: Space,
  action: SpaceValue,
  target: SpaceValue,
): number {
  if (typeof action === "number") return Number(action === target);
  const given = action as BoxArray, wanted = target as BoxArray;
  let distance = 0;
  for (let i = 0; i < wanted.length; i++) {
    distance += (given[i] - wanted[i]) ** 2;
  }
  return space.type === "box" ? -distance : Number(distance === 0);
}
