import { schedule, Scheduler } from "@bellman/schedulers";
import type { SacConfig } from "./config.ts";

/** Learning rates that are inputs of an update. */
type Rate = "learningRate" | "criticLearningRate" | "temperatureLearningRate";

/** Where a run is. */
interface Place {
  /** Environment steps of all copies. */
  readonly steps: number;
  /** Updates made before. */
  readonly updates: number;
}

/** The numbers that are given with each update. */
export type UpdateNumbers =
  & Readonly<Record<Rate | "tau" | "rewardScale", number>>
  & {
    /** The temperature, where it is not learned. */
    readonly alpha?: number;
  };

/** The numbers of a configuration that change over a run, and those beside. */
export class Hyperparameters {
  readonly #config: SacConfig;
  readonly #rates: Readonly<Record<Rate, Scheduler>>;
  readonly #rewardScale: (iteration: number) => number;

  constructor(
    config: SacConfig,
    { totalTimesteps, rewardScale = () => config.rewardScale }: {
      totalTimesteps: number;
      rewardScale?: (iteration: number) => number;
    },
  ) {
    const { learningRate } = config;
    const make = (value: number) =>
      new Scheduler({
        value,
        numValues: totalTimesteps,
        schedule: schedule(config.learningRateSchedule),
      });
    this.#config = config;
    this.#rewardScale = rewardScale;
    this.#rates = {
      learningRate: make(learningRate),
      criticLearningRate: make(config.criticLearningRate ?? learningRate),
      temperatureLearningRate: make(
        config.temperatureLearningRate ?? learningRate,
      ),
    };
  }

  /** Those of the next update. */
  at({ steps, updates }: Place): UpdateNumbers {
    const { tau, targetUpdateInterval, temperature } = this.#config;
    const rate = (name: Rate) => this.#rates[name].valueAt(steps);
    return {
      learningRate: rate("learningRate"),
      criticLearningRate: rate("criticLearningRate"),
      temperatureLearningRate: rate("temperatureLearningRate"),
      tau: updates % targetUpdateInterval === 0 ? tau : 0,
      rewardScale: this.#scaleAt(updates),
      ...(temperature !== null && { alpha: temperature }),
    };
  }

  #scaleAt(updates: number): number {
    const scale = this.#rewardScale(updates);
    if (Number.isFinite(scale)) return scale;
    throw new RangeError(
      `Cannot scale rewards by ${scale} at update ${updates}: expected a finite number`,
    );
  }
}
