import { copyBatch } from "../batch.ts";
import type { Batch, VecEnv, VecStep } from "../vec_env.ts";
import { anyEnded } from "../vec_wrappers/_relayed_step.ts";
import type { GroupAnswer, GroupArrays, GroupCommand } from "./group_hosts.ts";

/**
 * Carries out commands on a group's copies: first what takes time, then what
 * changes the arrays that others see.
 */
export class GroupRunner {
  readonly env: VecEnv;
  #arrays: GroupArrays | undefined;
  #observations: Batch | undefined;
  #step: VecStep | undefined;

  constructor(env: VecEnv) {
    this.env = env;
  }

  attach(arrays: GroupArrays): void {
    this.#arrays = arrays;
  }

  /** Does what was asked; nothing is written yet. */
  run(command: GroupCommand): GroupAnswer {
    const { env } = this;
    this.#observations = this.#step = undefined;
    switch (command.type) {
      case "open": {
        const { observationSpace, actionSpace, spec } = env;
        return { opened: { observationSpace, actionSpace, spec } };
      }
      case "reset":
        this.#observations = env.reset({ seed: command.seeds });
        return {};
      case "step":
        this.#step = env.step(this.#arrays!.actions);
        return { episodes: this.#step.episodes };
      case "snapshot":
        return { snapshot: env.snapshot() };
      case "restore":
        env.restore(command.snapshot);
        return {};
    }
  }

  /** Writes what came of the last command into the arrays. */
  write(): void {
    const arrays = this.#arrays!;
    if (this.#observations) {
      copyBatch(this.#observations, arrays.observations);
    } else if (this.#step) {
      this.#writeStep(this.#step, arrays);
    }
  }

  #writeStep(step: VecStep, arrays: GroupArrays): void {
    copyBatch(step.observations, arrays.observations);
    arrays.rewards.set(step.rewards);
    arrays.terminated.set(step.terminated);
    arrays.truncated.set(step.truncated);
    if (anyEnded(step)) {
      copyBatch(step.finalObservations, arrays.finalObservations);
    }
  }
}
