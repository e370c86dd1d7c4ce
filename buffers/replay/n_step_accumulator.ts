import type { StateTree } from "@bellman/types";
import { copyNumbers } from "../copy.ts";
import {
  allocateRows,
  type ArrayCheck,
  checkCount,
  checkNames,
  collect,
  type Field,
  type FieldArray,
  type FieldData,
  type FieldValues,
  nest,
} from "../fields.ts";
import type { Accumulator, NStepOptions } from "./options.ts";
import { type DrawnLeaf, makeReplaySchema, type ReplaySchema } from "./plan.ts";

/** Options of an {@linkcode NStepAccumulator}. */
export interface NStepAccumulatorOptions
  extends Omit<NStepOptions, "between" | "betweenDiscount"> {
  /** Fields of a step, by name; the flags are among them. */
  readonly fields: Readonly<Record<string, Field>>;
  /**
   * Streams that are added side by side.
   *
   * @default 1
   */
  readonly numEnvs?: number;
  /**
   * Fields that a row takes from the last step of its return, as next values;
   * flags and the reward are not named. The others are those of the first step.
   *
   * @default []
   */
  readonly last?: readonly string[];
  /**
   * Field that is above 0 where a step ended its episode for good; a single
   * uint8.
   *
   * @default "terminated"
   */
  readonly terminated?: string;
  /**
   * Field that is above 0 where an episode was cut off after a step; a single
   * uint8.
   *
   * @default "truncated"
   */
  readonly truncated?: string;
}

/**
 * Turns a stream of steps into transitions over several of them: a row is
 * finished once its return `sum_i gamma^i r_i` covers all steps, or, with fewer,
 * once its episode ended, terminated or truncated. For buffers and processes
 * that see finished rows only; a {@linkcode ReplayBuffer} of whole episodes
 * computes the same when it draws, and holds each step once.
 *
 * @example
 * ```ts
 * import { NStepAccumulator } from "@bellman/buffers";
 * import { assertEquals } from "@std/assert";
 *
 * const number = { shape: [], dtype: "float32" } as const;
 * const flag = { shape: [], dtype: "uint8" } as const;
 * const accumulator = new NStepAccumulator({
 *   fields: { state: number, reward: number, terminated: flag, truncated: flag, after: number },
 *   last: ["after"],
 *   steps: 2,
 *   gamma: 0.5,
 * });
 * const counts = [0, 1, 2].map((state) =>
 *   accumulator.add({
 *     state: [state],
 *     reward: [4],
 *     terminated: [state === 2 ? 1 : 0],
 *     truncated: [0],
 *     after: [state + 1],
 *   })
 * );
 * assertEquals(counts, [0, 1, 2]); // The end finishes the last two.
 * const { state, reward, after, terminated, discount } = accumulator.rows;
 * assertEquals(state, Float32Array.of(1, 2));
 * assertEquals(reward, Float32Array.of(6, 4));
 * assertEquals(after, Float32Array.of(3, 3));
 * assertEquals(terminated, Uint8Array.of(1, 1));
 * assertEquals(discount, Float32Array.of(0.25, 0.5));
 * ```
 */
export class NStepAccumulator implements Accumulator {
  /** Fields of a finished row: those of a step, and the discount. */
  readonly fields: Readonly<Record<string, Field>>;
  /**
   * Arrays `[row, ...shape]` of the rows that the last call finished, those of
   * one stream after those of another; rows after them hold anything.
   */
  readonly rows: { readonly [field: string]: FieldData };
  readonly #schema: ReplaySchema;
  readonly #leaves: readonly DrawnLeaf[];
  readonly #steps: number;
  readonly #gamma: number;
  readonly #adding: ArrayCheck;
  /** The arrays of `rows`. */
  readonly #out: readonly FieldArray[];
  /** The last steps of each stream, `[env, steps, ...shape]`, as a ring. */
  readonly #windows: readonly FieldArray[];
  /** Start of each stream's ring, and the number of steps that it holds. */
  readonly #starts: Int32Array;
  readonly #counts: Int32Array;
  /** The arrays of the step that is added. */
  readonly #values: ArrayLike<number>[] = [];
  #finished = 0;

  /**
   * Allocates its arrays.
   *
   * @param options Fields, and how far returns reach.
   * @throws {RangeError} If a size, a shape, a name or the discount does not fit.
   * @throws {TypeError} If a dtype is unknown, or flags and rewards are not single
   * numbers.
   */
  constructor(options: NStepAccumulatorOptions) {
    const { fields, numEnvs = 1, steps, gamma, last = [] } = options;
    const { terminated, truncated, reward, discount } = options;
    checkCount("numEnvs", numEnvs);
    const nStep = { steps, gamma, reward, discount };
    const episodes = { terminated, truncated, nStep };
    this.#schema = makeReplaySchema({ fields, episodes });
    const { drawn, stored } = this.#schema;
    checkNames(last, stored, "take");
    this.#leaves = this.#schema.drawnLeaves.map((leaf) => ({
      ...leaf,
      source: last.includes(leaf.leaf.path[0]) ? "last" : leaf.source,
    }));
    this.#steps = steps;
    this.#gamma = gamma;
    this.#adding = { action: "add", rows: numEnvs };
    this.#out = allocateRows(drawn.leaves, numEnvs * steps);
    this.#windows = allocateRows(stored.leaves, numEnvs * steps);
    this.#starts = new Int32Array(numEnvs);
    this.#counts = new Int32Array(numEnvs);
    this.rows = nest(drawn, ({ index }) => this.#out[index]);
    this.fields = {
      ...fields,
      [discount ?? "discount"]: { shape: [], dtype: "float32" },
    };
  }

  /**
   * Takes one step of all streams; one that cannot be taken changes nothing.
   *
   * @param step For each field its numbers `[env, ...shape]`; copied.
   * @returns The number of rows that it finished.
   * @throws {RangeError} If an array's length is wrong, a field of integers would hold
   * another number than it is given, or there is no such field.
   * @throws {TypeError} If a field is missing or nested otherwise.
   */
  add(step: { readonly [field: string]: FieldValues }): number {
    collect(this.#schema.stored.root, step, this.#adding, this.#values);
    this.#finished = 0;
    for (let env = 0; env < this.#counts.length; env++) {
      const place = this.#append(env);
      if (this.#ended(place)) this.#finishAll(env);
      else if (this.#counts[env] === this.#steps) this.#finish(env);
    }
    return this.#finished;
  }

  /** Copies a stream's step to its ring, and returns its place. */
  #append(env: number): number {
    const steps = this.#steps;
    const at = (this.#starts[env] + this.#counts[env]++) % steps;
    const place = env * steps + at;
    this.#schema.stored.leaves.forEach(({ size }, i) => {
      const from = env * size, to = place * size;
      const count = size;
      copyNumbers(this.#values[i], this.#windows[i], { from, to, count });
    });
    return place;
  }

  #ended(place: number): boolean {
    const { terminated, truncated } = this.#schema.episodes!;
    return this.#windows[terminated][place] !== 0 ||
      this.#windows[truncated][place] !== 0;
  }

  #finishAll(env: number): void {
    while (this.#counts[env] > 0) this.#finish(env);
  }

  /** Makes a row of the oldest step of a stream and all steps after it. */
  #finish(env: number): void {
    const row = this.#finished++, steps = this.#steps;
    const start = this.#starts[env], held = this.#counts[env];
    const first = env * steps + start;
    const last = env * steps + (start + held - 1) % steps;
    this.#leaves.forEach(({ source, stored, leaf: { size } }, i) => {
      const out = this.#out[i];
      if (source === "discount") out[row] = this.#gamma ** held;
      else if (source === "return") out[row] = this.#sum(env);
      else {
        const from = (source === "last" ? last : first) * size;
        const to = row * size, count = size;
        copyNumbers(this.#windows[stored], out, { from, to, count });
      }
    });
    this.#starts[env] = (start + 1) % steps;
    this.#counts[env]--;
  }

  /** Sums the discounted rewards of a stream that are held. */
  #sum(env: number): number {
    const rewards = this.#windows[this.#schema.episodes!.nStep!.reward];
    const steps = this.#steps, start = this.#starts[env];
    let sum = 0, discount = 1;
    for (let i = 0; i < this.#counts[env]; i++) {
      sum += discount * rewards[env * steps + (start + i) % steps];
      discount *= this.#gamma;
    }
    return sum;
  }

  /**
   * Finishes all steps that it holds, with the returns of those that there are:
   * their next values are those after the stream's newest step, and none of them
   * is marked as an end.
   *
   * @returns The number of rows that it finished.
   */
  flush(): number {
    this.#finished = 0;
    for (let env = 0; env < this.#counts.length; env++) this.#finishAll(env);
    return this.#finished;
  }

  /** Forgets all steps that it holds. */
  clear(): void {
    this.#starts.fill(0);
    this.#counts.fill(0);
  }

  /**
   * Saves the steps that it holds.
   *
   * @returns Plain data, owned by the caller.
   */
  save(): Record<string, StateTree> {
    const { leaves } = this.#schema.stored;
    return {
      starts: this.#starts.slice(),
      counts: this.#counts.slice(),
      steps: Object.fromEntries(
        leaves.map(({ name, index }) => [name, this.#windows[index].slice()]),
      ),
    };
  }

  /**
   * Restores what {@link save} returned, bit for bit. A state that does not
   * fit changes nothing.
   *
   * @param state Plain data; copied.
   * @throws {TypeError} If it is not the state of an accumulator of the same
   * fields, streams and steps.
   */
  load(state: StateTree): void {
    const { starts, counts, steps } = (state ?? {}) as Record<string, unknown>;
    const windows = (steps ?? {}) as Record<string, unknown>;
    const { leaves } = this.#schema.stored;
    const own = [this.#starts, this.#counts, ...this.#windows];
    const saved = [starts, counts, ...leaves.map(({ name }) => windows[name])];
    const arrays = saved as (FieldArray | undefined)[];
    const isPlace = (it: number) => it >= 0 && it < this.#steps;
    const fits =
      own.every(({ constructor, length }, i) =>
        arrays[i]?.constructor === constructor && arrays[i].length === length
      ) && arrays.slice(0, 2).every((places) => places!.every(isPlace));
    if (!fits) {
      throw new TypeError(
        "Cannot load an accumulator: expected what save() gave for the same fields, streams and steps",
      );
    }
    own.forEach((array, i) => array.set(arrays[i]!));
  }
}
