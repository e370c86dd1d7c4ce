/**
 * Contextual bandits: which action to take in a context, learned from rewards, and what
 * another policy would have earned, from the log. Plain TypeScript without tensors and
 * permissions, for Deno, Node and browsers.
 *
 * @example
 * ```ts
 * import { Bandit, linear, thompson } from "@bellman/bandits";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const bandit = new Bandit({
 *   actions: ["short", "long"],
 *   features: (it: { isPhone: boolean }) => [1, Number(it.isPhone)],
 *   model: linear(),
 *   explore: thompson(),
 * });
 * const { id, action, propensity } = bandit.decide({ isPhone: true });
 * assert(bandit.actions.includes(action));
 * assertEquals(propensity, 0.5);
 * assert(bandit.reward(id, 1));
 * ```
 *
 * @module
 */
export * from "./bandit.ts";
export * from "./explore/rules.ts";
export * from "./models/arms.ts";
export {
  type ForgettingOptions,
  linear,
  type LinearOptions,
} from "./models/linear.ts";
export type { Model, Prediction } from "./models/model.ts";
export type { RidgeSettings } from "./models/ridge.ts";
export * from "./evaluation/cross_fit.ts";
export * from "./evaluation/estimates.ts";
export * from "./evaluation/replay.ts";
export type { LoggedDecision } from "./logs/decision.ts";
export * from "./logs/dsjson.ts";
export * from "./logs/jsonl.ts";
