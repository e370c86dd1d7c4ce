import type { BoxArray, GoalFunctions } from "@bellman/types";

/** Name of a function of goals. */
export type GoalFunctionName = keyof GoalFunctions;

/** Names of all functions of goals. */
export const GOAL_FUNCTIONS: readonly GoalFunctionName[] = [
  "computeReward",
  "computeTerminated",
];

/** Parts of an observation with goals. */
export const GOAL_PARTS = [
  "observation",
  "achieved_goal",
  "desired_goal",
] as const;

/** Lists the functions of goals that an environment has. */
export function goalFunctionsOf(env: GoalFunctions): GoalFunctionName[] {
  return GOAL_FUNCTIONS.filter((name) => env[name] !== undefined);
}

/** Makes functions of goals that ask elsewhere. */
export function askingGoals(
  names: readonly GoalFunctionName[] | undefined,
  ask: (
    name: GoalFunctionName,
    achieved: BoxArray,
    desired: BoxArray,
  ) => ArrayLike<number>,
): GoalFunctions {
  return Object.fromEntries((names ?? []).map((name) => [
    name,
    (achieved: BoxArray, desired: BoxArray) => ask(name, achieved, desired),
  ]));
}
