import type {
  Batch,
  BoxArray,
  Env,
  Episode,
  ObservationsOf,
  StateTree,
  VecEnv,
  VecResetOptions,
} from "@bellman/types";
import { countChoices } from "../_action_masks.ts";
import { anyEnded, ended, type MutableStep } from "../_steps.ts";
import { copySeeds } from "../random.ts";
import { snapshotRecord } from "../snapshot.ts";
import { allocateBatch, cloneBatch, mapBatch } from "../spaces/batch.ts";
import { isVector, Wrapper } from "./wrapper.ts";

/** Steps that there is room for at first. */
const FIRST_CAPACITY = 256;

/** Last steps, `[capacity, numEnvs, ...]`. */
type Log = {
  observations: Batch;
  actions: Batch;
  rewards: Float64Array;
  actionMasks?: Uint8Array;
};

/** Writes the values of a step, of all environments or of the only one, to a log. */
function write(log: Batch, values: Batch | number, step: number): void {
  if (typeof values === "number") (log as BoxArray)[step] = values;
  else if (ArrayBuffer.isView(values)) {
    (log as BoxArray).set(values, step * values.length);
  } else {
    for (const key in values) {
      const part = (values as Record<string, Batch>)[key];
      write((log as Record<string, Batch>)[key], part, step);
    }
  }
}

/**
 * Records whole episodes, as `Dataset` and `writeMinari` of `@bellman/buffers/datasets`
 * take them: with final observations, seeds that `reset` was given, and action masks
 * where there are some. It changes nothing of what is played. It belongs outside of
 * wrappers that change observations, actions or rewards, if these are to be recorded.
 *
 * Episodes that `reset` cuts off, or whose environment crashes, are left out. Snapshots
 * hold the running episodes; finished ones stay in `episodes` until they are taken out.
 *
 * @typeParam E Environment inside.
 *
 * @example
 * ```ts
 * import { makeVec, Recorder } from "@bellman/envs";
 * import { assertEquals } from "@std/assert";
 *
 * const env = new Recorder(makeVec("CartPole-v1", { numEnvs: 2 }));
 * env.reset({ seed: 1 });
 * while (env.episodes.length < 3) env.step(Int32Array.of(0, 1));
 * const [{ observations, actions, terminations }] = env.episodes;
 * const steps = terminations.length;
 * assertEquals(terminations[steps - 1], 1);
 * assertEquals((actions as Int32Array).length, steps);
 * assertEquals((observations as Float32Array).length, 4 * (steps + 1));
 * ```
 */
export class Recorder<E extends Env | VecEnv = Env> extends Wrapper<E> {
  /** Episodes that ended, in order; take them out to free their memory. */
  readonly episodes: Episode[] = [];
  readonly #isVector: boolean;
  readonly #numEnvs: number;
  #log: Log;
  #capacity = FIRST_CAPACITY;
  /** Steps in the log. */
  #length = 0;
  /** Step of the log at which each running episode starts. */
  #starts: Int32Array;
  #seeds: (number | null)[];
  /** True from the first `reset` on; of a single environment, until its episode ends. */
  #isRunning = false;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector.
   */
  constructor(env: E) {
    super(env);
    this.#isVector = isVector(env);
    const numEnvs = this.#numEnvs = isVector(env) ? env.numEnvs : 1;
    const room = numEnvs * FIRST_CAPACITY, { spec } = env;
    this.#starts = new Int32Array(numEnvs);
    this.#seeds = new Array(numEnvs).fill(null);
    this.#log = {
      observations: allocateBatch(env.observationSpace, room),
      actions: allocateBatch(env.actionSpace, room),
      rewards: new Float64Array(room),
    };
    if (env.actionMasks === undefined) return;
    const choices = countChoices(env.actionSpace, spec?.id);
    this.#log.actionMasks = new Uint8Array(room * choices);
  }

  /**
   * Starts an episode, of a vector in every environment; running ones are left out.
   *
   * @param options Seed that restarts the random streams; of a vector, also one for
   * each.
   * @returns The first observations.
   */
  override reset(
    options?: E extends VecEnv ? VecResetOptions : { seed?: number },
  ): ObservationsOf<E> {
    const observations = super.reset(options);
    const { seed } = (options ?? {}) as VecResetOptions;
    if (seed === undefined) this.#seeds.fill(null);
    else if (!isVector(this.env)) this.#seeds = [seed as number];
    else this.#seeds = [...copySeeds(seed, this.#numEnvs)];
    this.#starts.fill(0);
    this.#length = 0;
    this.#isRunning = true;
    this.#writeNewest(observations as Batch);
    return observations;
  }

  /**
   * Records actions.
   *
   * @param actions Actions.
   * @returns The same.
   */
  protected override changeActions(actions: Batch): Batch {
    if (this.#isRunning) write(this.#log.actions, actions, this.#length);
    return actions;
  }

  /**
   * Records a step, and the episodes that ended.
   *
   * @param step Step.
   */
  protected override changeStep(step: MutableStep): void {
    if (!this.#isRunning) return;
    const isOne = !this.#isVector;
    write(this.#log.rewards, step.rewards, this.#length++);
    if (this.#length === this.#capacity) this.#makeRoom();
    if (isOne) this.#writeNewest(step.observations);
    if (anyEnded(step)) {
      if (!isOne) this.#writeFinal(step);
      for (let row = 0; row < this.#numEnvs; row++) {
        if (ended(step, row)) this.#end(step, row);
      }
      this.#isRunning = !isOne;
    }
    if (!isOne) this.#writeNewest(step.observations);
  }

  #writeNewest(observations: Batch): void {
    write(this.#log.observations, observations, this.#length);
    const { actionMasks } = this.#log, env: Env | VecEnv = this.env;
    if (actionMasks === undefined) return;
    const masks = isVector(env) ? env.actionMasks : env.actionMasks!();
    write(actionMasks, masks!, this.#length);
  }

  #writeFinal({ finalObservations, finalActionMasks }: MutableStep): void {
    const { observations, actionMasks } = this.#log;
    write(observations, finalObservations, this.#length);
    if (actionMasks) write(actionMasks, finalActionMasks!, this.#length);
  }

  /** Drops the steps before all running episodes, and doubles a log that stays half full. */
  #makeRoom(): void {
    const { length } = this.#log.rewards;
    const first = Math.min(...this.#starts), kept = this.#length - first;
    if (kept > this.#capacity / 2) this.#capacity *= 2;
    const room = this.#capacity * this.#numEnvs;
    this.#log = mapBatch(this.#log, (array) => {
      const size = array.length / length, from = first * this.#numEnvs * size;
      const ArrayType = array.constructor as Float32ArrayConstructor;
      const moved = new ArrayType(room * size);
      moved.set(array.subarray(from, from + kept * this.#numEnvs * size));
      return moved;
    }) as Log;
    this.#length = kept;
    this.#starts = this.#starts.map((start) => start - first);
  }

  /** Copies the episode of a row, unless its environment crashed. */
  #end(step: MutableStep, row: number): void {
    const start = this.#starts[row], steps = this.#length - start;
    const seed = this.#seeds[row];
    this.#seeds[row] = null;
    this.#starts[row] = this.#length;
    if (step.lost?.includes(row)) return;
    const width = this.#numEnvs, { length } = this.#log.rewards;
    const take = (rows: number) => (array: BoxArray) => {
      const size = array.length / length;
      const ArrayType = array.constructor as Float32ArrayConstructor;
      const taken = new ArrayType(rows * size);
      for (let i = 0; i < size; i++) {
        let from = (start * width + row) * size + i;
        for (let to = i; to < rows * size; to += size) {
          taken[to] = array[from];
          from += width * size;
        }
      }
      return taken;
    };
    const flags = (flag: number) => new Uint8Array(steps).fill(flag, steps - 1);
    const { observations, actions, rewards, actionMasks } = this.#log;
    this.episodes.push({
      observations: mapBatch(observations, take(steps + 1)),
      actions: mapBatch(actions, take(steps)),
      rewards: take(steps)(rewards),
      terminations: flags(step.terminated[row]),
      truncations: flags(step.truncated[row]),
      ...actionMasks && { actionMasks: take(steps + 1)(actionMasks) },
      ...seed !== null && { seed },
    });
  }

  /**
   * Saves the running episodes.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return {
      isRunning: this.#isRunning,
      capacity: this.#capacity,
      length: this.#length,
      starts: this.#starts.slice(),
      seeds: [...this.#seeds],
      log: cloneBatch(this.#log) as StateTree,
    };
  }

  /**
   * Restores running episodes.
   *
   * @param state State that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const keys = [
      ...["isRunning", "capacity", "length", "starts", "seeds", "log"],
    ];
    const own = snapshotRecord(state, keys);
    this.#isRunning = own.isRunning as boolean;
    this.#capacity = own.capacity as number;
    this.#length = own.length as number;
    this.#starts = (own.starts as Int32Array).slice();
    this.#seeds = [...own.seeds as (number | null)[]];
    this.#log = cloneBatch(own.log as Batch) as Log;
  }
}
