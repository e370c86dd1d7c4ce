/**
 * Leagues of agents in games of several seats: everybody plays everybody, and Elo
 * ratings with intervals.
 *
 * @example
 * ```ts
 * import { playLeague } from "@bellman/runs/league";
 * import { assertRejects } from "@std/assert";
 *
 * await assertRejects(() => playLeague([]), Error, "a league of no runs");
 * ```
 *
 * @module
 */
export * from "./league.ts";
