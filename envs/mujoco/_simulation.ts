import type { BoxSpace, StateTree } from "@bellman/types";
import { box } from "../spaces/constructors.ts";
import { openModel } from "./physics/engines.ts";
import type { PhysicsData, PhysicsModel } from "./physics/_physics.ts";
import { type MujocoOptions, resolveOptions } from "./tasks/mujoco_options.ts";
import {
  type ActionRow,
  MujocoRules,
  type ObservationRow,
  type Outcome,
} from "./tasks/_rules.ts";
import {
  defaultsOf,
  type MujocoInfo,
  mujocoTask,
  type MujocoTaskDefaults,
} from "./tasks/mujoco_task.ts";
import { type MujocoChoice, TASKS } from "./tasks/tasks.ts";
import { savedArray, snapshotRecord, wrongEntry } from "../snapshot.ts";
import type { SeededRandom } from "../random.ts";

/** A kind of environment with its model loaded. */
export interface OpenTask {
  /** The kind. */
  readonly name: string;
  /** The options with all defaults. */
  readonly options: MujocoTaskDefaults & MujocoOptions;
  readonly model: PhysicsModel;
  readonly rules: MujocoRules;
  readonly observationSpace: BoxSpace;
  readonly actionSpace: BoxSpace;
  readonly origin: SnapshotOrigin;
}

/** The origin of a snapshot, whose numbers mean something else in any other. */
export interface SnapshotOrigin {
  /** The kind of environment. */
  readonly task: string;
  /** MuJoCo's version, whose state may have other parts. */
  readonly mujocoVersion: string;
  /** Steps of the engine in a step of the environment. */
  readonly frameSkip: number;
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
 * @param choice The kind.
 * @param given Its options.
 * @throws {TypeError} If an option is unknown, with the nearest one.
 * @throws {RangeError} If an option cannot be.
 * @throws {Error} If there is no engine or no model, or it cannot be loaded.
 */
export function openTask(
  choice: MujocoChoice,
  given: MujocoOptions,
): OpenTask {
  const task = typeof choice === "string" ? TASKS[choice] : mujocoTask(choice);
  const { name } = task;
  const options = resolveOptions(name, defaultsOf(task), given);
  const model = openModel(name, options);
  try {
    const rules = new MujocoRules(task, model, options);
    return {
      name,
      options,
      model,
      rules,
      observationSpace: box({
        shape: [rules.observationSize],
        dtype: "float64",
      }),
      actionSpace: actionSpaceOf(model),
      origin: {
        task: name,
        mujocoVersion: model.version,
        frameSkip: options.frameSkip,
      },
    };
  } catch (error) {
    model.close();
    throw error;
  }
}

/**
 * Checks that a snapshot is of such an environment.
 *
 * @throws {TypeError} If it is of another origin.
 */
export function checkOrigin(
  snapshot: StateTree,
  origin: SnapshotOrigin,
): void {
  const wanted = Object.entries(origin);
  const saved = snapshotRecord(snapshot, wanted.map(([entry]) => entry));
  for (const [entry, value] of wanted) {
    if (saved[entry] === value) continue;
    throw wrongEntry(origin.task, [entry, saved[entry]], String(value));
  }
}

/** The state of a simulation. */
interface SimulationState {
  /** The state of the engine. */
  physics: Float64Array;
  /**
   * Position of the body after the last step, which trails the engine's state by a
   * step of the engine.
   */
  place: Float64Array;
}

/**
 * Makes simulations of a task. Where one cannot be made, those before it and the
 * model are freed.
 *
 * @throws {Error} If the engine is out of memory or not as it should be.
 */
export function openSimulations(
  { model, rules, options: { frameSkip } }: OpenTask,
  count: number,
): Simulation[] {
  const made: Simulation[] = [];
  try {
    while (made.length < count) {
      made.push(new Simulation(model, rules, frameSkip));
    }
    return made;
  } catch (error) {
    for (const simulation of made) simulation.close();
    model.close();
    throw error;
  }
}

/** The simulation of one environment under some rules. */
export class Simulation {
  readonly data: PhysicsData;
  #rules: MujocoRules;
  #frameSkip: number;
  /** Seconds of a step of the environment. */
  #dt: number;
  #place: Float64Array = new Float64Array(2);
  #next: Float64Array = new Float64Array(2);
  #velocity: Float64Array = new Float64Array(2);

  constructor(model: PhysicsModel, rules: MujocoRules, frameSkip: number) {
    this.data = model.makeData();
    this.#rules = rules;
    this.#frameSkip = frameSkip;
    this.#dt = model.timestep * frameSkip;
  }

  /** Begins an episode. */
  begin(random: SeededRandom): void {
    this.data.reset();
    this.#rules.begin(this.data, random);
    this.#settle();
  }

  /** Begins an episode from given positions and velocities. */
  beginAt(qpos: ArrayLike<number>, qvel: ArrayLike<number>): void {
    this.data.reset();
    this.data.qpos.set(qpos);
    this.data.qvel.set(qvel);
    this.#settle();
  }

  #settle(): void {
    this.data.forward();
    this.#rules.locate(this.data, this.#place);
  }

  /** Takes one step. */
  step(action: ActionRow): Outcome {
    const data = this.data, rules = this.#rules, { ctrl } = data;
    for (let i = 0; i < ctrl.length; i++) {
      ctrl[i] = action.values[action.at + i];
    }
    data.step(this.#frameSkip);
    if (rules.usesContactForces) data.computeContactForces();
    const place = this.#place, next = this.#next, velocity = this.#velocity;
    rules.locate(data, next);
    for (let i = 0; i < velocity.length; i++) {
      velocity[i] = (next[i] - place[i]) / this.#dt;
      place[i] = next[i];
    }
    return rules.evaluate(data, velocity, action);
  }

  /** Returns the `info` of the last step. */
  info(): MujocoInfo {
    return this.#rules.info(this.data, this.#velocity);
  }

  /** Writes the current observation. */
  observe(row: ObservationRow): void {
    this.#rules.observe(this.data, row);
  }

  /** Copies the state that coming steps depend on. */
  save(): SimulationState {
    return { physics: this.data.state(), place: this.#place.slice() };
  }

  /**
   * Reads a state from a snapshot and checks it before it is loaded: the engine
   * would read its own memory beyond an array that is too short for it.
   *
   * @throws {TypeError} If it is no state of such a simulation.
   */
  read(snapshot: StateTree, task: string): SimulationState {
    const { physics, place } = snapshotRecord(snapshot, ["physics", "place"]);
    const whole = new Float64Array(this.data.stateSize);
    return {
      physics: savedArray(task, ["physics", physics], whole),
      place: savedArray(task, ["place", place], this.#place),
    };
  }

  /** Restores a state that `save` or `read` returned. */
  load({ physics, place }: SimulationState): void {
    this.data.setState(physics);
    this.#place.set(place);
  }

  /** Frees the engine's memory. */
  close(): void {
    this.data.close();
  }
}
