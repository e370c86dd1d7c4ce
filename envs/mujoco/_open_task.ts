import type { BoxSpace } from "@bellman/types";
import { box } from "../spaces/constructors.ts";
import { openModel } from "./_open_model.ts";
import type { PhysicsModel } from "./_physics.ts";
import { resolveOptions } from "./_resolve_options.ts";
import type { MujocoRules, MujocoTask, Resolved } from "./_rules.ts";
import { type MujocoTaskName, TASKS } from "./_tasks.ts";
import type { MujocoOptions } from "./mujoco_options.ts";

/** A kind of environment with its model loaded. */
export interface OpenTask {
  /** The options with all defaults. */
  readonly options: Resolved<MujocoOptions> & MujocoOptions;
  /** The model. */
  readonly model: PhysicsModel;
  /** What the environment does with simulations of it. */
  readonly rules: MujocoRules;
  /** What observations can be. */
  readonly observationSpace: BoxSpace;
  /** What actions can be. */
  readonly actionSpace: BoxSpace;
}

function actionSpaceOf({ ctrlRange }: PhysicsModel): BoxSpace {
  const bounds = [...ctrlRange];
  return box({
    low: bounds.filter((_, i) => i % 2 === 0),
    high: bounds.filter((_, i) => i % 2 === 1),
  });
}

/**
 * Loads a kind of environment's model.
 *
 * @param name The kind.
 * @param given Its options.
 * @throws {TypeError} If an option is unknown, with the nearest one.
 * @throws {RangeError} If an option cannot be.
 * @throws {Error} If there is no engine or no model, or it cannot be loaded.
 */
export function openTask(name: MujocoTaskName, given: MujocoOptions): OpenTask {
  const task: MujocoTask = TASKS[name];
  const options = resolveOptions(name, task.defaults, given);
  const model = openModel(name, options);
  try {
    const rules = task.rules(model, options);
    return {
      options,
      model,
      rules,
      observationSpace: box({
        shape: [rules.observationSize],
        dtype: "float64",
      }),
      actionSpace: actionSpaceOf(model),
    };
  } catch (error) {
    model.close();
    throw error;
  }
}
