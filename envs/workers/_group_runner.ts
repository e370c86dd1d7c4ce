import { batchFault } from "../_env_data.ts";
import { snapshotFault } from "../snapshot.ts";
import { copyBatch } from "../spaces/batch.ts";
import { EnvDataError, type EnvDataFault } from "../env_data_error.ts";
import type { Batch, VecEnv, VecStep } from "@bellman/types";
import { anyEnded } from "../_steps.ts";
import type { GroupAnswer, GroupArrays, GroupCommand } from "./group_hosts.ts";

/** Fields of every step. */
const FIELDS = ["observations", "rewards", "terminated", "truncated"] as const;

/**
 * Carries out commands on a group's environments: first what takes time, then
 * what changes the arrays that others see.
 */
export class GroupRunner {
  readonly env: VecEnv;
  readonly #first: number;
  #arrays: GroupArrays | undefined;
  #observations: Batch | undefined;
  #step: VecStep | undefined;

  /**
   * @param env The group's environments.
   * @param first Number of the first of them among all groups.
   */
  constructor(env: VecEnv, first: number) {
    this.env = env;
    this.#first = first;
  }

  attach(arrays: GroupArrays): void {
    this.#arrays = arrays;
  }

  /** Carries out a command; nothing is written yet. */
  run(command: GroupCommand): GroupAnswer {
    try {
      return this.#run(command);
    } catch (error) {
      // An environment is counted among those of all groups.
      throw error instanceof EnvDataError ? error.from(this.#first) : error;
    }
  }

  #run(command: GroupCommand): GroupAnswer {
    const { env } = this, arrays = this.#arrays;
    this.#observations = this.#step = undefined;
    switch (command.type) {
      case "open": {
        const { observationSpace, actionSpace, spec, stackedFrames } = env;
        const opened = { observationSpace, actionSpace, spec, stackedFrames };
        return { opened };
      }
      case "reset":
        this.#observations = env.reset({ seed: command.seeds });
        this.#check("observations", this.#observations, arrays!.observations);
        return {};
      case "step":
        this.#step = env.step(arrays!.actions);
        this.#checkStep(this.#step, arrays!);
        return { episodes: this.#step.episodes };
      case "save": {
        // What is sent to the caller loses the classes that it has here.
        const snapshot = env.save();
        this.#refuse(snapshotFault(snapshot));
        return { snapshot };
      }
      case "load":
        env.load(command.snapshot);
        return {};
    }
  }

  #check(field: string, given: unknown, like: Batch): void {
    this.#refuse(batchFault(field, given, like));
  }

  #checkStep(step: VecStep, arrays: GroupArrays): void {
    for (const field of FIELDS) {
      this.#check(field, step?.[field], arrays[field]);
    }
    if (!anyEnded(step)) return;
    const { finalObservations } = arrays;
    this.#check("finalObservations", step.finalObservations, finalObservations);
  }

  #refuse(fault: EnvDataFault | undefined): void {
    if (fault) throw new EnvDataError(fault, { id: this.env.spec?.id });
  }

  close(): void {
    this.env.close();
  }

  /** Writes the result of the last command into the arrays. */
  write(): void {
    const arrays = this.#arrays!, step = this.#step;
    if (this.#observations) {
      copyBatch(this.#observations, arrays.observations);
    } else if (step) {
      for (const field of FIELDS) copyBatch(step[field], arrays[field]);
      if (!anyEnded(step)) return;
      copyBatch(step.finalObservations, arrays.finalObservations);
    }
  }
}
