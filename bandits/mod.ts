/**
 * Contextual bandits.
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
