import type { StateTree, Statistics } from "@bellman/types";
import type { TrainContext } from "./callbacks.ts";
import type { EvaluationResult } from "./evaluate.ts";
import type { LoggedEpisode, Logger } from "./logs/logger.ts";
import {
  evaluationRow,
  nextMultiple,
  saveLogs,
  truncateLogs,
  updateRow,
} from "./training_state.ts";
import type { TrainOptions } from "./train_options.ts";

/** Rows of a run where nothing is said. */
const ROWS = 100;
/** Steps between rows of a run without an end. */
const STEPS = 10_000;

/** Logs of a run: a row at each interval of steps, one at the end. */
export class RunLog {
  readonly #loggers: readonly Logger[];
  readonly #interval: number;
  /** Step of the last row of an update; -1 before the first. */
  #loggedAt = -1;
  /** Statistics of the last update. */
  #statistics: Statistics = {};

  constructor(
    { loggers = [], logInterval, totalTimesteps }: TrainOptions,
  ) {
    this.#loggers = loggers;
    const part = Math.ceil(totalTimesteps / ROWS);
    this.#interval = logInterval ?? (Number.isFinite(part) ? part : STEPS);
  }

  begin({ hyperparameters = {} }: TrainOptions): void {
    if (Object.keys(hyperparameters).length === 0) return;
    for (const logger of this.#loggers) {
      logger.writeHyperparameters?.(hyperparameters);
    }
  }

  episode(episode: LoggedEpisode): void {
    for (const logger of this.#loggers) logger.writeEpisode?.(episode);
  }

  /** Logs an update where its row is due, or has to be. */
  update(
    context: TrainContext,
    statistics: Statistics,
    { always = false }: { always?: boolean } = {},
  ): void {
    this.#statistics = statistics;
    const isDue = this.#loggedAt < 0 ||
      nextMultiple(this.#loggedAt, this.#interval) <= context.step;
    if (isDue || always) this.#row(context);
  }

  evaluation(context: TrainContext, result: EvaluationResult): void {
    this.#write(context, evaluationRow(context, result));
  }

  /** Logs the last row of a run, unless it is there. */
  end(context: TrainContext): void {
    if (this.#loggedAt !== context.step) this.#row(context);
  }

  #row(context: TrainContext): void {
    this.#loggedAt = context.step;
    this.#write(context, updateRow(context, this.#statistics));
  }

  #write({ step }: TrainContext, statistics: Statistics): void {
    for (const logger of this.#loggers) logger.write({ step, statistics });
  }

  /** Brings everything to the disk; returns the state of the logs. */
  flush(): StateTree {
    for (const logger of this.#loggers) logger.flush?.();
    return saveLogs(this.#loggers);
  }

  /** Drops what was logged after a step. Returns a line for each damaged log. */
  truncate(step: number, saved: StateTree | undefined): string[] {
    return truncateLogs(this.#loggers, step, saved);
  }

  save(): StateTree {
    return { loggedAt: this.#loggedAt, statistics: { ...this.#statistics } };
  }

  /** Restores a state; where a checkpoint of before has none, a row is due after the interval. */
  load(state: StateTree | undefined, { step, updates }: TrainContext): void {
    const { loggedAt = updates > 0 ? step : -1, statistics = {} } =
      (state ?? {}) as {
        loggedAt?: number;
        statistics?: Statistics;
      };
    this.#loggedAt = loggedAt;
    this.#statistics = { ...statistics };
  }
}
