import type {
  Batch,
  BoxArray,
  Env,
  Episode,
  ObservationsOf,
  RecordedValues,
  Space,
  StateTree,
  VecEnv,
  VecResetOptions,
} from "@bellman/types";
import { countChoices } from "../_action_masks.ts";
import { ended, type MutableStep } from "../_steps.ts";
import { copySeeds } from "../random.ts";
import { snapshotRecord } from "../snapshot.ts";
import { allocateArray, elementCount, mapSpaces } from "../spaces/arrays.ts";
import { isVector, Wrapper } from "./wrapper.ts";

/** Steps that there is room for at first. */
const FIRST_CAPACITY = 256;

/** Numbers up to which a loop copies faster than `set`. */
const LOOP = 128;

/** Numbers of the last steps, `[capacity, numEnvs, size]`. */
interface Column {
  /** Names and places that lead to its array in a batch. */
  readonly keys: readonly string[];
  readonly size: number;
  data: BoxArray;
}

function columnsOf(
  space: Space,
  numEnvs: number,
  keys: readonly string[] = [],
): Column[] {
  if (space.type === "dict" || space.type === "tuple") {
    return Object.entries<Space>({ ...space.spaces }).flatMap(([key, inner]) =>
      columnsOf(inner, numEnvs, [...keys, key])
    );
  }
  const size = elementCount(space), length = numEnvs * FIRST_CAPACITY * size;
  return [{ keys, size, data: allocateArray(space, length) }];
}

/** Finds a column's numbers in a batch, or in one value. */
function numbersOf(batch: Batch | number, { keys }: Column): ArrayLike<number> {
  let part: unknown = batch;
  for (let i = 0; i < keys.length; i++) {
    part = (part as Record<string, unknown>)[keys[i]];
  }
  return typeof part === "number" ? [part] : part as BoxArray;
}

/** Copies numbers; a loop for each kind of array, as one for all is three times slower. */
function copyTo(
  data: BoxArray,
  numbers: ArrayLike<number>,
  at: number,
  width: number,
): void {
  if (width > LOOP) data.set(numbers, at);
  else if (data instanceof Float32Array && numbers instanceof Float32Array) {
    for (let i = 0; i < width; i++) data[at + i] = numbers[i];
  } else if (data instanceof Int32Array && numbers instanceof Int32Array) {
    for (let i = 0; i < width; i++) data[at + i] = numbers[i];
  } else if (data instanceof Float64Array && numbers instanceof Float64Array) {
    for (let i = 0; i < width; i++) data[at + i] = numbers[i];
  } else data.set(numbers, at);
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
  readonly #observations: Column[];
  readonly #actions: Column[];
  readonly #rewards: Column;
  readonly #masks: Column | undefined;
  /** Step of the log at which each running episode starts. */
  readonly #starts: Int32Array;
  /** Steps in the log. */
  #length = 0;
  #capacity = FIRST_CAPACITY;
  #seeds: (number | undefined)[] = [];
  /** True from the first `reset` on; of a single environment, until its episode ends. */
  #isRunning = false;

  /**
   * Wraps an environment.
   *
   * @param env Environment inside, a single one or a vector.
   */
  constructor(env: E) {
    super(env);
    const numEnvs = isVector(env) ? env.numEnvs : 1;
    this.#observations = columnsOf(env.observationSpace, numEnvs);
    this.#actions = columnsOf(env.actionSpace, numEnvs);
    const room = numEnvs * FIRST_CAPACITY;
    this.#rewards = { keys: [], size: 1, data: new Float64Array(room) };
    this.#starts = new Int32Array(numEnvs);
    if (env.actionMasks === undefined) return;
    const size = countChoices(env.actionSpace, env.spec?.id);
    this.#masks = { keys: [], size, data: new Uint8Array(room * size) };
  }

  get #columns(): Column[] {
    const masks = this.#masks === undefined ? [] : [this.#masks];
    const columns = [...this.#observations, ...this.#actions, this.#rewards];
    return [...columns, ...masks];
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
    this.#seeds = seed === undefined
      ? []
      : isVector(this.env)
      ? [...copySeeds(seed, this.env.numEnvs)]
      : [seed as number];
    this.#starts.fill(0);
    this.#length = 0;
    this.#putNewest(observations as Batch);
    this.#isRunning = true;
    return observations;
  }

  /**
   * Records actions.
   *
   * @param actions Actions.
   * @returns The same.
   */
  protected override changeActions(actions: Batch): Batch {
    if (!this.#isRunning) return actions;
    for (const column of this.#actions) {
      this.#put(column, numbersOf(actions, column));
    }
    return actions;
  }

  /**
   * Records a step, and the episodes that ended.
   *
   * @param step Step.
   */
  protected override changeStep(step: MutableStep): void {
    if (!this.#isRunning) return;
    this.#put(this.#rewards, step.rewards);
    this.#length++;
    for (let row = 0; row < this.#starts.length; row++) {
      if (ended(step, row)) this.#end(step, row);
    }
    if (this.#length === this.#capacity) this.#makeRoom();
    if (this.#isRunning) this.#putNewest(step.observations);
  }

  #putNewest(observations: Batch): void {
    for (const column of this.#observations) {
      this.#put(column, numbersOf(observations, column));
    }
    if (this.#masks === undefined) return;
    this.#put(this.#masks, this.#newestMasks());
  }

  #newestMasks(): Uint8Array {
    const env: Env | VecEnv = this.env;
    return (isVector(env) ? env.actionMasks : env.actionMasks!())!;
  }

  /** Writes the numbers of all rows to the end of the log. */
  #put({ data, size }: Column, numbers: ArrayLike<number>): void {
    const width = this.#starts.length * size;
    copyTo(data, numbers, this.#length * width, width);
  }

  /** Drops the steps before all running episodes, and doubles a log that stays half full. */
  #makeRoom(): void {
    const first = Math.min(...this.#starts), kept = this.#length - first;
    if (kept > this.#capacity / 2) this.#capacity *= 2;
    for (const column of this.#columns) {
      const { data, size } = column, width = this.#starts.length * size;
      const ArrayType = data.constructor as Float32ArrayConstructor;
      column.data = new ArrayType(this.#capacity * width);
      column.data.set(data.subarray(first * width, this.#length * width));
    }
    this.#length = kept;
    for (let row = 0; row < this.#starts.length; row++) {
      this.#starts[row] -= first;
    }
  }

  /** Copies the episode of a row, unless its environment crashed. */
  #end(step: MutableStep, row: number): void {
    const isOne = !isVector(this.env);
    const start = this.#starts[row], steps = this.#length - start;
    const seed = this.#seeds[row];
    this.#seeds[row] = undefined;
    this.#starts[row] = this.#length;
    if (isOne) this.#isRunning = false;
    if (step.lost?.includes(row)) return;
    const take = (column: Column, last?: ArrayLike<number>) => {
      const { data, size } = column, width = this.#starts.length * size;
      const ArrayType = data.constructor as Float32ArrayConstructor;
      const rows = new ArrayType((last ? steps + 1 : steps) * size);
      let from = start * width + row * size;
      for (let to = 0; to < steps * size; from += width) {
        for (let i = 0; i < size; i++) rows[to++] = data[from + i];
      }
      if (last === undefined) return rows;
      for (let i = 0; i < size; i++) {
        rows[steps * size + i] = last[row * size + i];
      }
      return rows;
    };
    const nested = (space: Space, arrays: Iterator<BoxArray>) => {
      const nest = (inner: Space): RecordedValues =>
        inner.type === "dict" || inner.type === "tuple"
          ? mapSpaces<RecordedValues>(inner, nest)
          : arrays.next().value;
      return nest(space);
    };
    const flags = (flag: number) => {
      const all = new Uint8Array(steps);
      all[steps - 1] = flag === 0 ? 0 : 1;
      return all;
    };
    const { observationSpace, actionSpace } = this.env;
    const final = isOne ? step.observations : step.finalObservations;
    const seen = this.#observations.map((it) => take(it, numbersOf(final, it)));
    const taken = this.#actions.map((it) => take(it));
    const masks = isOne || this.#masks === undefined
      ? undefined
      : step.finalActionMasks;
    this.episodes.push({
      observations: nested(observationSpace, seen.values()),
      actions: nested(actionSpace, taken.values()),
      rewards: take(this.#rewards),
      terminations: flags(step.terminated[row]),
      truncations: flags(step.truncated[row]),
      ...this.#masks &&
        { actionMasks: take(this.#masks, masks ?? this.#newestMasks()) },
      ...seed !== undefined && { seed },
    });
  }

  /**
   * Saves the running episodes.
   *
   * @returns Plain data.
   */
  protected override ownState(): StateTree {
    const end = Math.min(this.#length + 1, this.#capacity);
    return {
      isRunning: this.#isRunning,
      length: this.#length,
      starts: this.#starts.slice(),
      seeds: Array.from(this.#starts, (_, row) => this.#seeds[row] ?? null),
      columns: this.#columns.map(({ data, size }) =>
        data.slice(0, end * this.#starts.length * size)
      ),
    };
  }

  /**
   * Restores running episodes.
   *
   * @param state State that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const keys = ["isRunning", "length", "starts", "seeds", "columns"];
    const own = snapshotRecord(state, keys);
    this.#isRunning = own.isRunning as boolean;
    this.#length = own.length as number;
    this.#starts.set(own.starts as Int32Array);
    this.#seeds = (own.seeds as (number | null)[]).map((it) => it ?? undefined);
    while (this.#capacity <= this.#length) this.#capacity *= 2;
    this.#columns.forEach((column, i) => {
      const ArrayType = column.data.constructor as Float32ArrayConstructor;
      const room = this.#capacity * this.#starts.length * column.size;
      column.data = new ArrayType(room);
      column.data.set((own.columns as BoxArray[])[i]);
    });
  }
}
