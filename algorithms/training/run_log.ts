import type { StateTree, Statistics } from "@bellman/types";
import type { TrainContext } from "./callbacks.ts";
import { mean } from "./episodes.ts";
import type { EvaluationResult } from "./evaluate.ts";
import { infoNumbers } from "./logs/line_loggers.ts";
import type { LoggedEpisode, Logger, RunEnd } from "./logs/logger.ts";
import { groupedName } from "./logs/statistics.ts";
import { nextMultiple, stepsOfPart, uniqueNames } from "./training_state.ts";
import type { TrainOptions } from "./train_options.ts";

/** Default number of rows of a run. */
const ROWS = 100;

/** Values that callbacks recorded since the last row. */
interface Recorded {
  sum: number;
  count: number;
}

/** Logs of a run: a row at each interval of steps, and one at the end. */
export class RunLog {
  readonly #loggers: readonly Logger[];
  /** Loggers with state to save, by name. */
  readonly #lasting: readonly [string, Logger][];
  readonly #interval: number;
  /** Step of the last row of an update; -1 before the first. */
  #loggedAt = -1;
  /** Step of the last update; -1 before the first. */
  #updatedAt = -1;
  /** Statistics of the last update. */
  #statistics: Statistics = {};
  /** Numbers of `info` of the last episodes. */
  #infos: Statistics[] = [];
  readonly #window: number;
  #recorded: Record<string, Recorded> = {};

  constructor(
    { loggers = [], logInterval, totalTimesteps, episodeWindow = 100 }:
      TrainOptions,
  ) {
    this.#loggers = loggers;
    const lasting = loggers.filter(({ truncate }) => truncate !== undefined);
    const names = uniqueNames(lasting, "log");
    this.#lasting = lasting.map((logger, i) => [names[i], logger]);
    this.#window = episodeWindow;
    this.#interval = logInterval ?? stepsOfPart(totalTimesteps, ROWS);
  }

  begin({ hyperparameters = {} }: TrainOptions): void {
    if (Object.keys(hyperparameters).length === 0) return;
    for (const logger of this.#loggers) {
      logger.writeHyperparameters?.(hyperparameters);
    }
  }

  episode(episode: LoggedEpisode): void {
    for (const logger of this.#loggers) logger.writeEpisode?.(episode);
    const numbers = infoNumbers(episode);
    if (numbers.length === 0) return;
    this.#infos.push(Object.fromEntries(numbers));
    if (this.#infos.length > this.#window) this.#infos.shift();
  }

  /** Records a number for the next row, which contains the mean of each name. */
  record(name: string, value: number): void {
    if (typeof value !== "number" || !Number.isFinite(value)) {
      throw new TypeError(
        `Cannot record ${name}: it is ${value}, expected a finite number`,
      );
    }
    const { sum, count } = this.#recorded[name] ?? { sum: 0, count: 0 };
    this.#recorded[name] = { sum: sum + value, count: count + 1 };
  }

  /** Keeps an update for the next row. */
  update({ step }: TrainContext, statistics: Statistics): void {
    this.#updatedAt = step;
    this.#statistics = statistics;
  }

  /** Logs the update of this step, if there was one and an interval has passed. */
  writeDue(context: TrainContext): void {
    const isDue = this.#loggedAt < 0 ||
      nextMultiple(this.#loggedAt, this.#interval) <= context.step;
    if (isDue && this.#updatedAt === context.step) this.#row(context);
  }

  evaluation(context: TrainContext, result: EvaluationResult): void {
    this.#write(context, evaluationRow(context, result));
  }

  /** Logs the final row of a run, if there is something new since the last row. */
  end(context: TrainContext): void {
    const isMore = Object.keys(this.#recorded).length > 0;
    if (this.#loggedAt !== context.step || isMore) this.#row(context);
  }

  status(status: RunEnd): void {
    for (const logger of this.#loggers) logger.writeEnd?.(status);
  }

  #row(context: TrainContext): void {
    const isFirst = this.#loggedAt !== context.step;
    this.#loggedAt = context.step;
    const row = isFirst
      ? updateRow(context, this.#statistics)
      : timeRow(context);
    const means = [
      ...isFirst ? this.#infoMeans() : [],
      ...this.#recordedMeans(),
    ];
    for (const [name, value] of means) {
      const grouped = groupedName(name);
      if (Object.hasOwn(row, grouped)) {
        throw new TypeError(
          `Cannot record ${name}: ${grouped} is logged already, expected another name`,
        );
      }
      row[grouped] = value;
    }
    this.#recorded = {};
    this.#write(context, row);
  }

  /** Averages the numbers of `info` over the last episodes. */
  #infoMeans(): [name: string, value: number][] {
    const names = new Set(this.#infos.flatMap((it) => Object.keys(it)));
    return [...names].flatMap((name) => {
      const average = mean(this.#infos.flatMap((it) => it[name] ?? []));
      const isSuccess = name === "is_success_last";
      return [
        [`rollout/${name}`, average] as [string, number],
        ...isSuccess
          ? [["rollout/success_rate", average] as [string, number]]
          : [],
      ];
    });
  }

  #recordedMeans(): [name: string, value: number][] {
    return Object.entries(this.#recorded)
      .map(([name, { sum, count }]) => [name, sum / count]);
  }

  #write({ step }: TrainContext, statistics: Statistics): void {
    for (const logger of this.#loggers) logger.write({ step, statistics });
  }

  /** Flushes all logs to disk; returns their saved states. */
  flush(): StateTree {
    for (const logger of this.#loggers) logger.flush?.();
    return Object.fromEntries(
      this.#lasting.map(([name, logger]) => [name, logger.save?.() ?? null]),
    );
  }

  /** Removes rows after a step. Returns a warning for each damaged log. */
  truncate(step: number, saved: StateTree = {}): string[] {
    const logs = saved as { [key: string]: StateTree };
    return this.#lasting.flatMap(([name, logger]) =>
      logger.truncate?.(step, logs[name] ?? undefined) || []
    );
  }

  save(): StateTree {
    return {
      loggedAt: this.#loggedAt,
      updatedAt: this.#updatedAt,
      statistics: { ...this.#statistics },
      infos: this.#infos.map((numbers) => ({ ...numbers })),
      recorded: structuredClone(this.#recorded) as unknown as StateTree,
    };
  }

  load(state: StateTree): void {
    const { loggedAt, updatedAt, statistics, infos, recorded } =
      state as unknown as RunLogState;
    this.#loggedAt = loggedAt;
    this.#updatedAt = updatedAt;
    this.#statistics = { ...statistics };
    this.#infos = infos.slice(-this.#window);
    this.#recorded = structuredClone(recorded);
  }
}

/** Saved state of a {@link RunLog}. */
interface RunLogState {
  loggedAt: number;
  updatedAt: number;
  statistics: Statistics;
  infos: Statistics[];
  recorded: Record<string, Recorded>;
}

/** Makes the log row of an update. */
function updateRow(
  context: TrainContext,
  update: Statistics,
): Statistics {
  const { step, meanReturn, meanLength } = context;
  const time = timeRow(context), seconds = time["time/seconds"];
  const ofUpdate = Object.entries(update)
    .map(([name, value]) => [groupedName(name), value]);
  return {
    ...time,
    "time/steps_per_second": seconds > 0 ? Math.trunc(step / seconds) : 0,
    "rollout/return_mean": meanReturn,
    "rollout/length_mean": meanLength,
    ...Object.fromEntries(ofUpdate),
  };
}

/** Makes the time columns of a row. */
function timeRow(
  { step, updates, episodes, elapsedSeconds }: TrainContext,
): Statistics {
  return {
    "time/steps": step,
    "time/updates": updates,
    "time/episodes": episodes,
    "time/seconds": Math.round(elapsedSeconds * 1000) / 1000,
  };
}

/** Makes the log row of an evaluation. */
function evaluationRow(
  context: TrainContext,
  result: EvaluationResult,
): Statistics {
  return {
    ...timeRow(context),
    "eval/return_mean": result.meanReturn,
    "eval/return_std": result.stdReturn,
    "eval/return_min": result.minReturn,
    "eval/return_median": result.medianReturn,
    "eval/return_max": result.maxReturn,
    "eval/length_mean": result.meanLength,
    ...(result.successRate !== undefined && {
      "eval/success_rate": result.successRate,
    }),
    "eval/episodes_cut": result.cut,
  };
}
