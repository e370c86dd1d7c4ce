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
