import { batchFault } from "../_env_data.ts";
import { snapshotFault } from "../snapshot.ts";
import { copyBatch } from "../spaces/batch.ts";
import { EnvDataError, type EnvDataFault } from "../env_data_error.ts";
import { goalFunctionsOf } from "../_goals.ts";
import type { EnvParameters, VecEnv, VecStep } from "@bellman/types";
import { anyEnded } from "../_steps.ts";
import type { GroupAnswer, GroupArrays, GroupCommand } from "./group_hosts.ts";

/** Fields of every step. */
const FIELDS = ["observations", "rewards", "terminated", "truncated"] as const;
/** Fields of the rows that ended. */
const FINAL = ["finalObservations"] as const;

type Field =
  | typeof FIELDS[number]
  | typeof FINAL[number]
  | "actionMasks"
  | "finalActionMasks";

/**
 * Carries out commands on a group's environments: first what takes time, then
 * what changes the arrays that others see.
 */
export class GroupRunner {
  readonly env: VecEnv;
  readonly #first: number;
  #arrays: GroupArrays | undefined;
  #fields: readonly Field[] = FIELDS;
  #finalFields: readonly Field[] = FINAL;
  /** Result of the last command, as far as it goes into the arrays. */
  #result: Partial<VecStep> = {};

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
    if (arrays.actionMasks === undefined) return;
    this.#fields = [...FIELDS, "actionMasks"];
    this.#finalFields = [...FINAL, "finalActionMasks"];
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
    const { env } = this;
    this.#result = {};
    switch (command.type) {
      case "open": {
        const { observationSpace, actionSpace, spec, stackedFrames } = env;
        const masksActions = env.actionMasks !== undefined;
        const goalFunctions = goalFunctionsOf(env);
        const has = { masksActions, goalFunctions, spec, stackedFrames };
        return { opened: { observationSpace, actionSpace, ...has } };
      }
      case "reset":
        if (command.parameters) this.#setParameters(command.parameters);
        this.#result = {
          observations: env.reset({ seed: command.seeds }),
          actionMasks: env.actionMasks,
        };
        this.#check("observations");
        if (this.#arrays!.actionMasks) this.#check("actionMasks");
        return {};
      case "step": {
        const step = this.#result = env.step(this.#arrays!.actions);
        this.#fields.forEach(this.#check);
        if (anyEnded(step)) this.#finalFields.forEach(this.#check);
        return { episodes: step.episodes };
      }
      case "watch":
        throw new TypeError("nobody can act in its environments");
      case "save": {
        // What is sent to the caller loses the classes that it has here.
        const snapshot = env.save();
        this.#refuse(snapshotFault(snapshot));
        return { snapshot };
      }
      case "load":
        env.load(command.snapshot);
        return {};
      case "parameters":
        return { unread: this.#setParameters(command.values) };
      case "goals": {
        const { name, achieved, desired } = command;
        return { results: Float64Array.from(env[name]!(achieved, desired)) };
      }
    }
  }

  #setParameters(values: EnvParameters): readonly string[] {
    if (this.env.setParameters) return this.env.setParameters(values);
    throw new TypeError("its episodes take no parameters");
  }

  #check = (field: Field): void => {
    const { [field]: given } = this.#result ?? {};
    this.#refuse(batchFault(field, given, this.#arrays![field]!));
  };

  #refuse(fault: EnvDataFault | undefined): void {
    if (fault) throw new EnvDataError(fault, { id: this.env.spec?.id });
  }

  close(): void {
    this.env.close();
  }

  /** Writes the result of the last command into the arrays. */
  write(): void {
    const arrays = this.#arrays!, step = this.#result;
    for (const field of this.#fields) {
      const batch = step[field];
      if (batch !== undefined) copyBatch(batch, arrays[field]!);
    }
    if (step.truncated === undefined || !anyEnded(step as VecStep)) return;
    for (const field of this.#finalFields) {
      copyBatch(step[field]!, arrays[field]!);
    }
  }
}
