import { createOptimizer, type Optimizer } from "@bellman/compute";
import type { A2CConfig } from "./config.ts";

/** The optimizer of a configuration, or the two of separate objectives. */
export function optimizersOf(
  config: A2CConfig,
): { optimizer: Optimizer; valueOptimizer?: Optimizer } {
  const { useRmsprop } = config;
  const name = useRmsprop === null
    ? config.optimizer
    : useRmsprop
    ? "rmsprop_tf1"
    : "adam";
  const make = () =>
    createOptimizer(name, {
      decay: config.rmspropDecay,
      epsilon: config.rmspropEpsilon,
    });
  if (config.objective === "shared") return { optimizer: make() };
  return { optimizer: make(), valueOptimizer: make() };
}
