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
import { allocateBatch, mapBatch } from "../spaces/batch.ts";
import { isVector, Wrapper } from "./wrapper.ts";

/** Steps that there is room for at first. */
const FIRST_CAPACITY = 256;

/** Values of the last steps, `[capacity, numEnvs, ...]`. */
type Log = {
  observations: Batch;
  actions: Batch;
  rewards: Float64Array;
  actionMasks?: Uint8Array;
};

/** Running episodes. */
interface Running {
  /** True from the first `reset` on; of a single environment, until its episode ends. */
  isRunning: boolean;
  log: Log;
  /** Steps in the log. */
  length: number;
  /** Step of the log at which each episode starts. */
  starts: Int32Array;
  seeds: (number | null)[];
}

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

/** Makes an array of the same kind. */
function like(array: BoxArray, length: number): BoxArray {
  const ArrayType = array.constructor as Float32ArrayConstructor;
  return new ArrayType(length);
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
  readonly #numEnvs: number;
  #running: Running;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector.
   */
  constructor(env: E) {
    super(env);
    const { observationSpace, actionSpace, actionMasks, spec } = env;
    const numEnvs = this.#numEnvs = isVector(env) ? env.numEnvs : 1;
    const room = numEnvs * FIRST_CAPACITY;
    const masks = () =>
      new Uint8Array(room * countChoices(actionSpace, spec?.id));
    this.#running = {
      isRunning: false,
      log: {
        observations: allocateBatch(observationSpace, room),
        actions: allocateBatch(actionSpace, room),
        rewards: new Float64Array(room),
        ...actionMasks && { actionMasks: masks() },
      },
      length: 0,
      starts: new Int32Array(numEnvs),
      seeds: new Array(numEnvs).fill(null),
    };
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
    const observations = super.reset(options), running = this.#running;
    const { seed } = (options ?? {}) as VecResetOptions;
    const seeds = isVector(this.env) ? seed : [seed as number];
    if (seed === undefined) running.seeds.fill(null);
    else running.seeds = [...copySeeds(seeds!, this.#numEnvs)];
    running.starts.fill(0);
    running.length = 0;
    running.isRunning = true;
    this.#writeSeen(observations as Batch);
    return observations;
  }

  /**
   * Records actions.
   *
   * @param actions Actions.
   * @returns The same.
   */
  protected override changeActions(actions: Batch): Batch {
    const { isRunning, log, length } = this.#running;
    if (isRunning) write(log.actions, actions, length);
    return actions;
  }

  /**
   * Records a step, and the episodes that ended.
   *
   * @param step Step.
   */
  protected override changeStep(step: MutableStep): void {
    const running = this.#running, { rewards } = running.log;
    if (!running.isRunning) return;
    write(rewards, step.rewards, running.length++);
    if (running.length * this.#numEnvs === rewards.length) this.#makeRoom();
    if (anyEnded(step)) {
      // A single environment has final observations alone.
      const { finalObservations = step.observations, finalActionMasks } = step;
      this.#writeSeen(finalObservations, finalActionMasks);
      for (let row = 0; row < this.#numEnvs; row++) {
        if (ended(step, row)) this.#end(step, row);
      }
      running.isRunning = isVector(this.env);
    }
    this.#writeSeen(step.observations);
  }

  #writeSeen(observations: Batch, masks: unknown = this.actionMasks): void {
    const { log, length } = this.#running;
    write(log.observations, observations, length);
    if (log.actionMasks === undefined) return;
    const newest = typeof masks === "function" ? masks() : masks;
    write(log.actionMasks, newest, length);
  }

  /** Drops the steps before all running episodes, and doubles a log that stays half full. */
  #makeRoom(): void {
    const running = this.#running, { log, length, starts } = running;
    const first = Math.min(...starts), kept = length - first;
    const factor = kept > length / 2 ? 2 : 1;
    running.log = mapBatch(log, (array) => {
      const moved = like(array, factor * array.length);
      moved.set(array.subarray(first * array.length / length));
      return moved;
    }) as Log;
    running.length = kept;
    running.starts = starts.map((start) => start - first);
  }

  /** Copies the episode of a row, unless its environment crashed. */
  #end(step: MutableStep, row: number): void {
    const { log, length, starts, seeds } = this.#running;
    const start = starts[row], steps = length - start, seed = seeds[row];
    seeds[row] = null;
    starts[row] = length;
    if (step.lost?.includes(row)) return;
    const width = this.#numEnvs, room = log.rewards.length;
    const take = <T extends Batch>(values: T, rows = steps + 1) =>
      mapBatch(values, (array) => {
        const size = array.length / room, taken = like(array, rows * size);
        for (let step = 0, to = 0; step < rows; step++) {
          const from = ((start + step) * width + row) * size;
          for (let i = 0; i < size; i++) taken[to++] = array[from + i];
        }
        return taken;
      }) as T;
    const flags = (flag: number) => new Uint8Array(steps).fill(flag, steps - 1);
    const { actionMasks } = log;
    this.episodes.push({
      observations: take(log.observations),
      actions: take(log.actions, steps),
      rewards: take(log.rewards, steps),
      terminations: flags(step.terminated[row]),
      truncations: flags(step.truncated[row]),
      ...actionMasks && { actionMasks: take(actionMasks) },
      ...seed !== null && { seed },
    });
  }

  /**
   * Saves the running episodes.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    return structuredClone(this.#running) as unknown as StateTree;
  }

  /**
   * Restores running episodes.
   *
   * @param state State that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const own = snapshotRecord(state, Object.keys(this.#running));
    this.#running = structuredClone(own) as unknown as Running;
  }
}
