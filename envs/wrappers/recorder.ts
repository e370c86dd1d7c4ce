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

/** Steps of an environment that there is room for at first. */
const FIRST_CAPACITY = 64;

/** Numbers of the running episodes, `[numEnvs, capacity, size]`. */
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
  /** Steps of each running episode. */
  readonly #lengths: Int32Array;
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
    this.#lengths = new Int32Array(numEnvs);
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
    this.#lengths.fill(0);
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
    const lengths = this.#lengths;
    let longest = 0;
    for (let row = 0; row < lengths.length; row++) {
      longest = Math.max(longest, ++lengths[row]);
    }
    if (longest === this.#capacity) this.#grow();
    if (!isVector(this.env)) {
      this.#putNewest(step.observations);
      if (!ended(step, 0)) return;
      this.#isRunning = false;
      this.#end(step, 0);
      return;
    }
    for (let row = 0; row < lengths.length; row++) {
      if (!ended(step, row)) continue;
      for (const column of this.#observations) {
        this.#putRow(column, numbersOf(step.finalObservations, column), row);
      }
      if (this.#masks) this.#putRow(this.#masks, step.finalActionMasks!, row);
      this.#end(step, row);
      lengths[row] = 0;
    }
    this.#putNewest(step.observations);
  }

  #putNewest(observations: Batch): void {
    for (const column of this.#observations) {
      this.#put(column, numbersOf(observations, column));
    }
    if (this.#masks === undefined) return;
    const env: Env | VecEnv = this.env;
    const masks = isVector(env) ? env.actionMasks : env.actionMasks?.();
    this.#put(this.#masks, masks!);
  }

  /** Writes numbers of all rows to where their episodes are. */
  #put(column: Column, numbers: ArrayLike<number>): void {
    for (let row = 0; row < this.#lengths.length; row++) {
      this.#putRow(column, numbers, row);
    }
  }

  #putRow(
    { data, size }: Column,
    numbers: ArrayLike<number>,
    row: number,
  ): void {
    const at = (row * this.#capacity + this.#lengths[row]) * size;
    const from = row * size;
    for (let i = 0; i < size; i++) data[at + i] = numbers[from + i];
  }

  /** Makes room for twice as many steps. */
  #grow(): void {
    const capacity = this.#capacity;
    this.#capacity *= 2;
    for (const column of this.#columns) {
      const { data, size } = column;
      const ArrayType = data.constructor as Float32ArrayConstructor;
      const wider = new ArrayType(2 * data.length);
      for (let row = 0; row < this.#lengths.length; row++) {
        const from = row * capacity * size;
        const old = data.subarray(from, from + capacity * size);
        wider.set(old, 2 * from);
      }
      column.data = wider;
    }
  }

  /** Copies the episode of a row, unless its environment crashed. */
  #end(step: MutableStep, row: number): void {
    const seed = this.#seeds[row], steps = this.#lengths[row];
    this.#seeds[row] = undefined;
    if (step.lost?.includes(row)) return;
    const take = ({ data, size }: Column, rows: number) => {
      const from = row * this.#capacity * size;
      return data.slice(from, from + rows * size);
    };
    const nested = (space: Space, columns: Iterator<Column>, rows: number) => {
      const nest = (inner: Space): RecordedValues =>
        inner.type === "dict" || inner.type === "tuple"
          ? mapSpaces<RecordedValues>(inner, nest)
          : take(columns.next().value, rows);
      return nest(space);
    };
    const flags = (flag: number) => {
      const all = new Uint8Array(steps);
      all[steps - 1] = flag === 0 ? 0 : 1;
      return all;
    };
    const { observationSpace, actionSpace } = this.env;
    const seen = this.#observations.values(), taken = this.#actions.values();
    this.episodes.push({
      observations: nested(observationSpace, seen, steps + 1),
      actions: nested(actionSpace, taken, steps),
      rewards: take(this.#rewards, steps),
      terminations: flags(step.terminated[row]),
      truncations: flags(step.truncated[row]),
      ...this.#masks && { actionMasks: take(this.#masks, steps + 1) },
      ...seed !== undefined && { seed },
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
      lengths: this.#lengths.slice(),
      seeds: Array.from(this.#lengths, (_, row) => this.#seeds[row] ?? null),
      columns: this.#columns.map(({ data }) => data.slice()),
    };
  }

  /**
   * Restores running episodes.
   *
   * @param state State that `ownState` returned.
   */
  protected override loadOwnState(state: StateTree): void {
    const keys = ["isRunning", "capacity", "lengths", "seeds", "columns"];
    const own = snapshotRecord(state, keys);
    this.#isRunning = own.isRunning as boolean;
    this.#capacity = own.capacity as number;
    this.#lengths.set(own.lengths as Int32Array);
    this.#seeds = (own.seeds as (number | null)[]).map((it) => it ?? undefined);
    this.#columns.forEach((column, i) => {
      column.data = (own.columns as BoxArray[])[i].slice() as BoxArray;
    });
  }
}
