import { EnvDataError } from "../../env_data_error.ts";
import type { SeededRandom } from "../../random.ts";
import type {
  MujocoState,
  PhysicsData,
  PhysicsModel,
} from "../physics/_physics.ts";
import type {
  MujocoInfo,
  MujocoModel,
  MujocoStep,
  MujocoTask,
  MujocoTaskDefaults,
  MujocoTaskValues,
} from "./mujoco_task.ts";

/** Actions of all environments of a batch; the current one begins at `at`. */
export interface ActionRow {
  values: Float32Array;
  at: number;
}

/** Observations of all environments of a batch; the current one is written at `at`. */
export interface ObservationRow {
  values: Float64Array;
  at: number;
}

/** Reward and end of a step; overwritten by the next one. */
export interface Outcome {
  reward: number;
  terminated: boolean;
}

/** Present step, which is written over. */
type Judged = {
  -readonly [K in keyof MujocoStep<MujocoTaskValues>]: MujocoStep<
    MujocoTaskValues
  >[K];
};

/** A task in a model: it begins, observes and judges the episodes of all copies. */
export class MujocoRules {
  /** Numbers of an observation. */
  readonly observationSize: number;
  /** True where anything depends on `cfrcExt`, which must be computed then. */
  readonly usesContactForces: boolean;
  #task: MujocoTask;
  #model: PhysicsModel;
  #noise: number;
  #step: Judged;
  #outcome: Outcome = { reward: 0, terminated: false };
  /** Parts of the last reward. */
  #parts: Readonly<Record<string, number>> = {};

  /** @param options The task's options with all defaults. */
  constructor(
    task: MujocoTask,
    model: PhysicsModel,
    given: MujocoTaskDefaults,
  ) {
    checkActuators(task.name, model);
    const options = given as unknown as MujocoTaskValues;
    this.#task = task;
    this.#model = model;
    this.#noise = given.resetNoiseScale;
    this.usesContactForces = task.usesContactForces?.(options) ?? false;
    this.#step = {
      model: toldModel(task.name, model, given.frameSkip),
      options,
      action: new Float32Array(model.sizes.nu),
      velocity: new Float64Array(2),
      terminated: false,
    };
    this.observationSize = this.#countObserved();
  }

  /** Counts the numbers of an observation by the model's first state. */
  #countObserved(): number {
    const task = this.#task, { nq, nv } = this.#model.sizes;
    const data = this.#model.makeData();
    try {
      data.forward();
      task.place?.(data, this.#step);
      return task.observe ? countOf(task.observe(data, this.#step)) : nq + nv;
    } finally {
      data.close();
    }
  }

  /** Draws the positions and velocities of an episode's beginning. */
  begin(data: PhysicsData, random: SeededRandom): void {
    const task = this.#task, scale = this.#noise;
    if (scale !== 0) {
      drawPositions(data, this.#model, random, scale);
      if (task.velocityNoise === "normal") {
        const { qvel } = data;
        for (let i = 0; i < qvel.length; i++) qvel[i] = scale * random.normal();
      } else {
        drawVelocities(data, random, scale);
      }
    }
    task.begin?.(data, { ...this.#step, random });
  }

  /** Writes the position of the body whose speed is measured, if any: `x`, `y`. */
  locate(data: PhysicsData, place: Float64Array): void {
    if (this.#task.place === undefined) return;
    const at = this.#task.place(data, this.#step);
    place[0] = at[0];
    place[1] = at[1] ?? 0;
  }

  /** Writes the observation. */
  observe(data: PhysicsData, row: ObservationRow): void {
    if (this.#task.observe === undefined) {
      append(row, data.qpos);
      append(row, data.qvel);
      return;
    }
    const parts = this.#task.observe(data, this.#step);
    // Before it is written, as what follows is another environment's.
    const size = countOf(parts), begin = row.at;
    if (size !== this.observationSize) {
      const wanted = `${this.observationSize}, as at first`;
      throw this.#fault("the observation", `of ${size} numbers`, wanted);
    }
    for (const part of parts) {
      append(row, typeof part === "number" ? [part] : part);
    }
    for (let at = 0; at < size; at++) {
      const value = row.values[begin + at];
      if (Number.isFinite(value)) continue;
      throw this.#fault(`observation[${at}]`, value, "a finite number");
    }
  }

  /**
   * Judges a step.
   *
   * @param velocity Mean velocity of what is located.
   * @returns The same object each time.
   */
  evaluate(
    data: PhysicsData,
    velocity: Float64Array,
    { values, at }: ActionRow,
  ): Outcome {
    const step = this.#step, task = this.#task, outcome = this.#outcome;
    step.velocity = velocity;
    for (let i = 0; i < step.action.length; i++) {
      step.action[i] = values[at + i];
    }
    step.terminated = task.isTerminated?.(data, step) ?? false;
    if (typeof step.terminated !== "boolean") {
      throw this.#fault("terminated", step.terminated, "true or false");
    }
    const reward = task.reward(data, step);
    if (typeof reward === "object" && reward !== null) {
      this.#parts = reward;
      outcome.reward = 0;
      for (const part in reward) outcome.reward += reward[part];
    } else {
      outcome.reward = reward;
    }
    if (!Number.isFinite(outcome.reward)) {
      throw this.#fault("the reward", outcome.reward, "a finite number");
    }
    outcome.terminated = step.terminated;
    return outcome;
  }

  /** Returns the `info` of the step that was evaluated last. */
  info(data: PhysicsData, velocity: Float64Array): MujocoInfo {
    this.#step.velocity = velocity;
    return { ...this.#task.info?.(data, this.#step), ...this.#parts };
  }

  #fault(field: string, got: unknown, wanted: string): EnvDataError {
    return new EnvDataError({ field, got: String(got), wanted }, {
      id: this.#task.name,
    });
  }
}

/** Refuses a model in which there is nothing to do. */
function checkActuators(task: string, { ctrlRange }: PhysicsModel): void {
  if (ctrlRange.length === 0) {
    throw new RangeError(`Cannot make ${task} of a model without actuators`);
  }
  for (let i = 0; i < ctrlRange.length; i += 2) {
    if (ctrlRange[i] < ctrlRange[i + 1]) continue;
    throw new RangeError(
      `Cannot make ${task} of a model whose actuator ${
        i / 2
      } has no range: expected one, such as ctrlrange="-1 1"`,
    );
  }
}

/** Counts the numbers of the parts of an observation. */
function countOf(parts: readonly (number | ArrayLike<number>)[]): number {
  let count = 0;
  for (const part of parts) count += typeof part === "number" ? 1 : part.length;
  return count;
}

/** Returns what a task is told of its model. */
function toldModel(
  task: string,
  model: PhysicsModel,
  frameSkip: number,
): MujocoModel {
  const { sizes, qpos0, bodyMass, timestep } = model;
  const known = new Map<string, number>();
  return {
    sizes,
    qpos0,
    bodyMass,
    dt: timestep * frameSkip,
    timestep,
    idOf(kind, name) {
      const key = `${kind} ${name}`;
      const id = known.get(key) ?? model.idOf(kind, name);
      if (id < 0) {
        throw new RangeError(
          `Cannot make ${task} of a model without a ${kind} named '${name}'`,
        );
      }
      known.set(key, id);
      return id;
    },
  };
}

/** Writes numbers into an observation. */
function append(row: ObservationRow, values: ArrayLike<number>): void {
  const seen = row.values;
  let at = row.at;
  for (let i = 0; i < values.length; i++) seen[at++] = values[i];
  row.at = at;
}

/** Draws positions within `scale` of the model's. */
export function drawPositions(
  { qpos }: MujocoState,
  { qpos0 }: Pick<MujocoModel, "qpos0">,
  random: SeededRandom,
  scale: number,
): void {
  for (let i = 0; i < qpos.length; i++) {
    qpos[i] = qpos0[i] + random.uniform(-scale, scale);
  }
}

/** Draws velocities between `-scale` and `scale`. */
export function drawVelocities(
  { qvel }: MujocoState,
  random: SeededRandom,
  scale: number,
): void {
  for (let i = 0; i < qvel.length; i++) qvel[i] = random.uniform(-scale, scale);
}
