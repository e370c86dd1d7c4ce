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
export * from "./early_stopping.ts";
export * from "./safetensors.ts";
export * from "./train.ts";
export {
  type Divergence,
  isGuardedStatistic,
  TrainingDivergedError,
} from "./divergence.ts";
export * from "./csv_logger.ts";
export * from "./episodes_csv.ts";
export * from "./json_lines_logger.ts";
export * from "./table_logger.ts";
export * from "./tensorboard_logger.ts";
export * from "./progress_bar.ts";
export * from "./read_logs.ts";
export * from "./run_folder.ts";
export * from "./curves.ts";
export * from "./report.ts";
