import { closest } from "fastest-levenshtein";
import {
  constant,
  doubleLinearCon,
  doubleMiddleDrop,
  linear,
  middleDrop,
} from "./baselines.ts";
import { cosine } from "./cosine.ts";
import { exponential } from "./exponential.ts";
import type { Schedule } from "./schedule.ts";

/** The names that {@linkcode schedule} knows. */
export type ScheduleName =
  | "constant"
  | "linear"
  | "double_linear_con"
  | "middle_drop"
  | "double_middle_drop"
  | "cosine"
  | "exponential";

const SCHEDULES: Readonly<Record<ScheduleName, Schedule>> = {
  constant,
  linear,
  double_linear_con: doubleLinearCon,
  middle_drop: middleDrop,
  double_middle_drop: doubleMiddleDrop,
  cosine,
  exponential,
};

/** The names that {@linkcode schedule} knows, in a list. */
export const scheduleNames: readonly ScheduleName[] = Object.keys(
  SCHEDULES,
) as ScheduleName[];

/**
 * Finds a schedule by the name that configurations give it.
 *
 * @param name Which one.
 * @returns The schedule.
 * @throws {RangeError} If there is none of that name, with the nearest one.
 * @example
 * ```ts
 * import { linear, schedule } from "@bellman/schedulers";
 * import { assertEquals, assertThrows } from "@std/assert";
 *
 * assertEquals(schedule("linear"), linear);
 * assertThrows(
 *   () => schedule("liner" as "linear"),
 *   RangeError,
 *   "Unknown schedule 'liner': did you mean 'linear'?",
 * );
 * ```
 */
export function schedule(name: ScheduleName): Schedule {
  if (Object.hasOwn(SCHEDULES, name)) return SCHEDULES[name];
  throw new RangeError(
    `Unknown schedule '${name}': did you mean '${
      closest(String(name), scheduleNames)
    }'?`,
  );
}
