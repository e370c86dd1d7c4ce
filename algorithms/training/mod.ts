/**
 * The training loop.
 *
 * @module
 */
export * from "./algorithm.ts";
export * from "./callback.ts";
export * from "./checkpoint_store.ts";
export * from "./evaluate.ts";
export * from "./logger.ts";
export * from "./progress.ts";
export * from "./state_tree.ts";
export * from "./train_options.ts";
