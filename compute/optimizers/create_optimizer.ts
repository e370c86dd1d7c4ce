import { closest } from "fastest-levenshtein";
import { adam, type AdamOptions, adamTf1 } from "./adam.ts";
import type { Optimizer } from "./optimizer.ts";
import {
  rmsprop,
  type RmspropOptions,
  rmspropTf1,
  type RmspropTf1Options,
} from "./rmsprop.ts";
import { sgd, type SgdOptions } from "./sgd.ts";

/** The names that {@linkcode createOptimizer} knows. */
export type OptimizerName =
  | "rmsprop_tf1"
  | "rmsprop"
  | "adam_tf1"
  | "adam"
  | "sgd";

/** Settings of any optimizer; each takes those that are its own. */
export type OptimizerSettings =
  & RmspropTf1Options
  & RmspropOptions
  & AdamOptions
  & SgdOptions;

const OPTIMIZERS: Readonly<
  Record<OptimizerName, (settings: OptimizerSettings) => Optimizer>
> = { rmsprop_tf1: rmspropTf1, rmsprop, adam_tf1: adamTf1, adam, sgd };

/**
 * Makes an optimizer by name.
 *
 * @param name Name of the optimizer.
 * @param settings Its settings; those of other optimizers are left alone.
 * @returns The optimizer.
 * @throws {RangeError} If no optimizer has that name; the message has the
 * nearest.
 * @example
 * ```ts
 * import { createOptimizer } from "@bellman/compute";
 * import { assertThrows } from "@std/assert";
 *
 * createOptimizer("adam", { beta1: 0.5 });
 * assertThrows(
 *   () => createOptimizer("adm" as "adam"),
 *   RangeError,
 *   "Unknown optimizer 'adm': did you mean 'adam'?",
 * );
 * ```
 */
export function createOptimizer(
  name: OptimizerName,
  settings: OptimizerSettings = {},
): Optimizer {
  if (Object.hasOwn(OPTIMIZERS, name)) return OPTIMIZERS[name](settings);
  throw new RangeError(
    `Unknown optimizer '${name}': did you mean '${
      closest(name, Object.keys(OPTIMIZERS))
    }'?`,
  );
}
