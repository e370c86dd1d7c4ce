import type {
  BoxArray,
  BoxSpace,
  DictSpace,
  DiscreteSpace,
  GoalFunctions,
  MultiBinarySpace,
  StateTree,
  StepResult,
  VecStep,
} from "@bellman/types";
import { checkOptions, type OptionKinds, whole } from "@bellman/files/options";
import type { MutableStep } from "../_steps.ts";
import { ArrayVecEnv, type BatchedOptions } from "../array_vec_env.ts";
import type { SeededRandom } from "../random.ts";
import { register } from "../registry/registry.ts";
import { savedArray, snapshotRecord } from "../snapshot.ts";
import { allocateArray } from "../spaces/arrays.ts";
import { box, dict, discrete, multiBinary } from "../spaces/constructors.ts";
import { ToyEnv } from "./environments.ts";

/** Rules of an environment whose states are goals themselves. */
export interface GoalTask {
  /** Name in error messages. */
  readonly name: string;
  /** Numbers of a state. */
  readonly size: number;
  /** Space of states and of goals. */
  readonly stateSpace: MultiBinarySpace | BoxSpace;
  /** Space of actions. */
  readonly actionSpace: DiscreteSpace | BoxSpace;
  /** Distance up to which a state is at a goal. */
  readonly within: number;
  /** True where reaching the goal ends the episode. */
  readonly endsAtGoal: boolean;
  /** Draws one number of a state or of a goal. */
  draw(random: SeededRandom): number;
  /** Changes a row of states by the same row of actions. */
  move(states: BoxArray, actions: ArrayLike<number>, row: number): void;
}

/** Tells whether a row of states is at its goal. */
function isReached(
  { size, within }: GoalTask,
  states: BoxArray,
  goals: BoxArray,
  row: number,
): boolean {
  let square = 0;
  for (let i = row * size; i < (row + 1) * size; i++) {
    const gap = states[i] - goals[i];
    square += gap * gap;
  }
  return square <= within * within;
}

/** Draws a row of states, and another goal. */
function begin(
  task: GoalTask,
  [states, goals]: readonly BoxArray[],
  row: number,
  random: SeededRandom,
): void {
  const { size } = task;
  const draw = (rows: BoxArray) => {
    for (let i = 0; i < size; i++) rows[row * size + i] = task.draw(random);
  };
  draw(states);
  do draw(goals); while (isReached(task, states, goals, row));
}

/** Returns a number for each row of goals, which is 1 more where they are reached. */
function judged(
  task: GoalTask,
  [achieved, desired]: readonly [achieved: BoxArray, desired: BoxArray],
  missed: number,
): Float64Array {
  const numbers = new Float64Array(achieved.length / task.size).fill(missed);
  for (let row = 0; row < numbers.length; row++) {
    if (isReached(task, achieved, desired, row)) numbers[row]++;
  }
  return numbers;
}

/** Makes the function that tells which rows end their episodes, where reaching goals does. */
function endsOf(task: GoalTask): GoalFunctions["computeTerminated"] {
  return task.endsAtGoal ? (...goals) => judged(task, goals, 0) : undefined;
}

/** Returns the space of observations. */
function goalSpace({ stateSpace }: GoalTask): DictSpace {
  return dict({
    observation: stateSpace,
    achieved_goal: stateSpace,
    desired_goal: stateSpace,
  });
}

/**
 * A goal-conditioned environment: each step has reward -1 but those after which the
 * state is at the pursued goal, 0. `info.is_success` tells which. Parts of the
 * observations have Gymnasium-Robotics' names.
 *
 * @example
 * ```ts
 * import { bitFlip, GoalEnv } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new GoalEnv(bitFlip({ bits: 1 }));
 * const { achieved_goal, desired_goal } = env.reset({ seed: 0 });
 * assertEquals([...env.computeReward(achieved_goal, desired_goal)], [-1]);
 * assertEquals(env.step(0).terminated, true);
 * ```
 */
export class GoalEnv
  extends ToyEnv<Record<string, BoxArray>, number | BoxArray> {
  /** Space of observations. */
  readonly observationSpace: DictSpace;
  /** Space of actions. */
  readonly actionSpace: DiscreteSpace | BoxSpace;
  private state: BoxArray;
  private goal: BoxArray;
  #task: GoalTask;

  /**
   * Makes an environment that has not been reset.
   *
   * @param task Its rules.
   */
  constructor(task: GoalTask) {
    super();
    this.#task = task;
    this.observationSpace = goalSpace(task);
    this.actionSpace = task.actionSpace;
    this.state = allocateArray(task.stateSpace, task.size);
    this.goal = allocateArray(task.stateSpace, task.size);
  }

  /** Starts an episode with a state and another goal. */
  protected override begin(): Record<string, BoxArray> {
    begin(this.#task, [this.state, this.goal], 0, this.random);
    return this.#observed();
  }

  /** Takes one step. */
  protected override advance(
    action: number | BoxArray,
  ): StepResult<Record<string, BoxArray>> {
    const { state, goal } = this, task = this.#task;
    task.move(state, typeof action === "number" ? [action] : action, 0);
    const is_success = isReached(task, state, goal, 0);
    return {
      observation: this.#observed(),
      reward: Number(is_success) - 1,
      terminated: is_success && task.endsAtGoal,
      truncated: false,
      info: { is_success },
    };
  }

  #observed(): Record<string, BoxArray> {
    return {
      observation: this.state.slice() as BoxArray,
      achieved_goal: this.state.slice() as BoxArray,
      desired_goal: this.goal.slice() as BoxArray,
    };
  }

  /**
   * Returns rewards of steps after which goals were achieved.
   *
   * @param achieved Goals that were achieved `[rows, ...]`.
   * @param desired Goals that were desired `[rows, ...]`.
   * @returns 0 where they are reached, else -1, `[rows]`.
   */
  computeReward(achieved: BoxArray, desired: BoxArray): Float64Array {
    return judged(this.#task, [achieved, desired], -1);
  }

  /** Function that tells which of such steps end their episodes, where reaching goals does. */
  get computeTerminated(): GoalFunctions["computeTerminated"] {
    return endsOf(this.#task);
  }
}

/**
 * Many such environments in the rows of shared arrays, with the numbers of
 * {@linkcode GoalEnv}. They record their episodes, with `is_success`.
 *
 * @example
 * ```ts
 * import { GoalVecEnv, REACH } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new GoalVecEnv(REACH, { numEnvs: 2 });
 * const { desired_goal } = env.reset({ seed: 0 });
 * assertEquals([...env.computeReward(desired_goal, desired_goal)], [0, 0]);
 * ```
 */
export class GoalVecEnv extends ArrayVecEnv<Record<string, BoxArray>> {
  #task: GoalTask;
  #states: BoxArray;
  #goals: BoxArray;
  /** Steps at the goal since the episodes began. */
  #successes: Float64Array;

  /**
   * Makes environments that have not been reset.
   *
   * @param task Their rules.
   * @param options Number of environments and longest episode.
   * @throws {RangeError} If a number is not a whole one of at least 1.
   */
  constructor(task: GoalTask, options: BatchedOptions) {
    const { name, size, stateSpace, actionSpace } = task, { numEnvs } = options;
    super({ name, observationSpace: goalSpace(task), actionSpace }, options);
    this.#task = task;
    const length = numEnvs * size;
    this.#states = allocateArray(stateSpace, length);
    this.#goals = allocateArray(stateSpace, length);
    this.#successes = new Float64Array(numEnvs);
  }

  /**
   * Draws a state and another goal.
   *
   * @param row Index of the environment.
   * @param random Its random stream.
   */
  protected override beginRow(row: number, random: SeededRandom): void {
    begin(this.#task, [this.#states, this.#goals], row, random);
    this.#successes[row] = 0;
  }

  /**
   * Writes the current observation of an environment.
   *
   * @param row Index of the environment.
   * @param observations Observations of all environments.
   */
  protected override observeRow(
    row: number,
    { observation, achieved_goal, desired_goal }: Record<string, BoxArray>,
  ): void {
    const { size } = this.#task;
    for (let i = row * size; i < (row + 1) * size; i++) {
      observation[i] = achieved_goal[i] = this.#states[i];
      desired_goal[i] = this.#goals[i];
    }
  }

  /**
   * Takes one step in every environment.
   *
   * @param actions One action for each.
   * @param step Result to write into.
   */
  protected override stepRows(actions: BoxArray, step: VecStep): void {
    const task = this.#task, states = this.#states;
    (step as MutableStep).episodes = [];
    for (let row = 0; row < this.numEnvs; row++) {
      task.move(states, actions, row);
      const success = Number(isReached(task, states, this.#goals, row));
      this.#successes[row] += success;
      step.rewards[row] = success - 1;
      step.terminated[row] = task.endsAtGoal ? success : 0;
    }
    const observations = step.observations as Record<string, BoxArray>;
    observations.observation.set(states);
    observations.achieved_goal.set(states);
  }

  /**
   * Records an episode that ends.
   *
   * @param row Index of the environment.
   * @param step The step.
   * @param length Steps of the episode.
   */
  protected override endRow(row: number, step: VecStep, length: number): void {
    const sum = this.#successes[row];
    (step as MutableStep).episodes = [...step.episodes!, {
      env: row,
      return: sum - length,
      length,
      terminated: step.terminated[row] !== 0,
      infoStatistics: {
        is_success: { sum, mean: sum / length, last: step.rewards[row] + 1 },
      },
    }];
  }

  /**
   * Saves states, goals and steps at them.
   *
   * @returns The entries `states`, `goals` and `successes`.
   */
  protected override saveRows(): Record<string, StateTree> {
    return {
      states: this.#states.slice(),
      goals: this.#goals.slice(),
      successes: this.#successes.slice(),
    };
  }

  /**
   * Reads what was saved.
   *
   * @param snapshot The whole snapshot.
   * @returns Function that restores it.
   */
  protected override readRows(snapshot: StateTree): () => void {
    const saved = snapshotRecord(snapshot, ["states", "goals", "successes"]);
    const rows: Record<string, BoxArray> = {
      states: this.#states,
      goals: this.#goals,
      successes: this.#successes,
    };
    const read = Object.entries(rows).map(([entry, own]) =>
      [own, savedArray(this.#task.name, [entry, saved[entry]], own)] as const
    );
    return () => {
      for (const [own, from] of read) own.set(from);
    };
  }

  /**
   * Returns rewards of steps after which goals were achieved.
   *
   * @param achieved Goals that were achieved `[rows, ...]`.
   * @param desired Goals that were desired `[rows, ...]`.
   * @returns 0 where they are reached, else -1, `[rows]`.
   */
  computeReward(achieved: BoxArray, desired: BoxArray): Float64Array {
    return judged(this.#task, [achieved, desired], -1);
  }

  /** Function that tells which of such steps end their episodes, where reaching goals does. */
  get computeTerminated(): GoalFunctions["computeTerminated"] {
    return endsOf(this.#task);
  }
}

/** Settings of {@linkcode bitFlip}. */
export interface BitFlipOptions {
  /**
   * Number of bits.
   *
   * @default 15
   */
  bits?: number;
}

const BIT_FLIP_OPTIONS: OptionKinds<BitFlipOptions> = { bits: whole(1) };

/**
 * Makes the rules of bits of which each step flips one, until they are those of a
 * random goal: random actions hardly ever see another reward than -1.
 *
 * Source: Andrychowicz et al., "Hindsight Experience Replay", 2017, section 3.1.
 *
 * @param options Number of bits.
 * @returns Rules of {@linkcode GoalEnv} and {@linkcode GoalVecEnv}.
 * @throws {RangeError} If it is not a whole number of at least 1.
 * @throws {TypeError} If an option is not known, or of another type.
 *
 * @example
 * ```ts
 * import { bitFlip } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const bits = Uint8Array.of(0, 0, 1);
 * bitFlip({ bits: 3 }).move(bits, [1], 0);
 * assertEquals(bits, Uint8Array.of(0, 1, 1));
 * ```
 */
export function bitFlip(options: BitFlipOptions = {}): GoalTask {
  const given = checkOptions("bits to flip", options, BIT_FLIP_OPTIONS);
  const { bits = 15 } = given;
  return {
    name: "BitFlip-v0",
    size: bits,
    stateSpace: multiBinary(bits),
    actionSpace: discrete(bits),
    within: 0,
    endsAtGoal: true,
    draw: (random) => random.integer(2),
    move(states, actions, row) {
      const at = row * bits + actions[row];
      states[at] = 1 - states[at];
    },
  };
}

/** Length of the longest step along an axis. */
const STRIDE = 0.1;

/**
 * Rules of a point in the square from -1 to 1 that moves by up to 0.1 along each axis,
 * to within 0.1 of a random goal, where the episode goes on.
 */
export const REACH: GoalTask = {
  name: "Reach-v0",
  size: 2,
  stateSpace: box({ low: -1, high: 1, shape: [2] }),
  actionSpace: box({ low: -1, high: 1, shape: [2] }),
  within: 0.1,
  endsAtGoal: false,
  draw: (random) => 2 * random.uniform() - 1,
  move(states, actions, row) {
    for (let i = 2 * row; i < 2 * row + 2; i++) {
      const moved = states[i] + STRIDE * actions[i];
      states[i] = Math.min(Math.max(moved, -1), 1);
    }
  },
};

function registerTask(
  id: string,
  limit: number,
  taskOf: (kwargs: object) => GoalTask,
): void {
  const infoStatistics = ["is_success"];
  const spec = { id, maxEpisodeSteps: limit, infoStatistics };
  register({
    ...spec,
    make: (kwargs) => new GoalEnv(taskOf(kwargs)),
    recordsInfo: true,
    makeVec({ numEnvs, maxEpisodeSteps, infoStatistics, kwargs }) {
      if (`${infoStatistics}` !== "is_success") return undefined;
      return new GoalVecEnv(taskOf(kwargs), {
        numEnvs,
        maxEpisodeSteps,
        spec: { ...spec, maxEpisodeSteps },
      });
    },
  });
}

registerTask("BitFlip-v0", 15, bitFlip);
registerTask("Reach-v0", 50, (kwargs) => {
  checkOptions("Reach-v0", kwargs, {});
  return REACH;
});
