import type { SeededRandom } from "../random.ts";
import { snapshotRecord } from "../snapshot.ts";
import type { StateTree } from "@bellman/types";
import type { OpenTask } from "./_open_task.ts";
import type { PhysicsData, PhysicsModel } from "./_physics.ts";
import type {
  ActionRow,
  MujocoInfo,
  MujocoRules,
  ObservationRow,
  Outcome,
} from "./_rules.ts";
import { arrayEntry, type SnapshotOrigin } from "./_snapshot_origin.ts";

/** What a simulation goes on from. */
export interface SimulationState {
  /** All that the engine depends on. */
  physics: Float64Array;
  /**
   * Where the body was after the last step. It is kept as its position trails
   * the engine's state by a step of the engine.
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

/** One copy of an environment: the engine's simulation under some rules. */
export class Simulation {
  /** The engine's arrays. */
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
    return rules.judge(data, velocity, action);
  }

  /** What is told of the step that was just taken. */
  info(): MujocoInfo {
    return this.#rules.info(this.data, this.#velocity);
  }

  /** Writes what is seen now. */
  observe(row: ObservationRow): void {
    this.#rules.observe(this.data, row);
  }

  /** All that coming steps depend on, as a copy. */
  save(): SimulationState {
    return { physics: this.data.state(), place: this.#place.slice() };
  }

  /**
   * A state out of a snapshot. Nothing is loaded: the engine would read its own
   * memory beyond an array that is too short for it.
   *
   * @throws {TypeError} If it is no state of such a simulation.
   */
  read(snapshot: StateTree, origin: SnapshotOrigin): SimulationState {
    const { physics, place } = snapshotRecord(snapshot, ["physics", "place"]);
    const { stateSize } = this.data, { length } = this.#place;
    return {
      physics: arrayEntry(origin, ["physics", physics], [
        Float64Array,
        stateSize,
      ]),
      place: arrayEntry(origin, ["place", place], [Float64Array, length]),
    };
  }

  /** Goes on exactly from a state that was returned by `save` or `read`. */
  load({ physics, place }: SimulationState): void {
    this.data.setState(physics);
    this.#place.set(place);
  }

  /** Frees the engine's memory. */
  close(): void {
    this.data.close();
  }
}
