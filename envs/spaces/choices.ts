import type { Space } from "@bellman/types";

/**
 * Lists the numbers of choices of the parts of an action, in the order of action
 * masks: one of a discrete action, one for each number of a multi-discrete one, and
 * two for each bit.
 *
 * @param space Space of actions.
 * @returns The numbers; undefined where actions are boxes, dicts or tuples.
 * @example
 * ```ts
 * import { actionChoices, discrete, multiBinary } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(actionChoices(discrete(3)), [3]);
 * assertEquals(actionChoices(multiBinary(2)), [2, 2]);
 * ```
 */
export function actionChoices(space: Space): number[] | undefined {
  switch (space.type) {
    case "discrete":
      return [space.n];
    case "multiDiscrete":
      return [...space.nvec];
    case "multiBinary":
      return new Array(space.n).fill(2);
  }
}
