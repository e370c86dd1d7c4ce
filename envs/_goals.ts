import type { BoxArray, Env, GoalFunctions, Space } from "@bellman/types";
import { faultOf, isThenable } from "./env_data_error.ts";
import { elementCount } from "./spaces/arrays.ts";

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

const shown = (value: unknown) =>
  isThenable(value) ? "a promise" : faultOf("", value, "").got;

/** Describes what is wrong with the results of a function of goals, if anything is. */
export function goalFault(
  name: GoalFunctionName,
  results: unknown,
  count: number,
): string | undefined {
  const of = `${name} of ${count} rows gives`;
  if (isThenable(results)) {
    return `${of} a promise, expected ${count} numbers: it must not be async`;
  }
  const { length } = (results ?? {}) as ArrayLike<unknown>;
  if (typeof results !== "object" || length === undefined) {
    return `${of} ${shown(results)}, expected ${count} numbers`;
  }
  if (length !== count) return `${of} ${length} numbers`;
  const all = results as ArrayLike<unknown>;
  for (let row = 0; row < count; row++) {
    const value = all[row];
    // An end may be true or false.
    if (Number.isFinite(value) || typeof value === "boolean") continue;
    return `${of} ${shown(value)} in row ${row}, expected finite numbers`;
  }
}

/** Returns an environment's functions of goals, which throw where their results are none. */
export function checkedGoals(env: Env): GoalFunctions {
  const { spaces } = env.observationSpace as { spaces?: Record<string, Space> };
  const space = spaces?.achieved_goal;
  return askingGoals(goalFunctionsOf(env), (name, achieved, desired) => {
    const results = env[name]!(achieved, desired);
    const rows = space ? achieved.length / elementCount(space) : results.length;
    const fault = goalFault(name, results, rows);
    if (fault === undefined) return results;
    const { id = "the environment" } = env.spec ?? {};
    throw new TypeError(`Cannot use the goals of ${id}: ${fault}`);
  });
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
