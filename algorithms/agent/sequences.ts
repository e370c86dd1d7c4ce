import { type ArrayField, SequenceReplayBuffer } from "@bellman/buffers";
import type { RandomStream, TensorData, TensorType } from "@bellman/compute";
import { copyArrays, loadAtomically, restoreArrays } from "@bellman/files";
import { isWhole } from "@bellman/files/options";
import {
  choicesOf,
  type DictOf,
  mapParts,
  nextActionMasks,
  nextObservations,
  type ObservationInput,
  type ObservationInputArray,
  type ObservationInputArrays,
  partOf,
  type Policy,
  type PolicyOutput,
} from "@bellman/policies";
import type { StateTree, VecStep } from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";
import type {
  BuildContext,
  Memory,
  PolicyStep,
  Progress,
  Sample,
} from "./algorithm.ts";
import { FLAG, NUMBER, rowsOf } from "./_tensor_types.ts";
import { unlearned } from "./rollout.ts";
import { NewestFrames } from "./newest_frames.ts";
import { allocated } from "./replay.ts";
import {
  type BufferParts,
  ReplayStore,
  type ReplayStoreOptions,
} from "./replay_store.ts";

/** Options of {@link Sequences}. */
export interface SequencesOptions extends ReplayStoreOptions {
  /** Steps of each environment in a segment. */
  readonly numSteps: number;
  /** Capacity in steps of each environment, in whole segments. */
  readonly bufferSize: number;
  /** Steps of each environment that are collected before any are replayed. */
  readonly replayStart: number;
  /**
   * Mean number of replay updates after each on-policy update, from a Poisson
   * distribution; 0 replays nothing.
   */
  readonly replayRatio: number;
  /**
   * Bootstrap from the final observation of truncated episodes; false treats truncation
   * as termination.
   *
   * @default true
   */
  readonly bootstrapTruncated?: boolean;
  /**
   * Largest number of truncated episodes of an environment in a segment; the last step
   * of any further one is dropped.
   *
   * @default 1
   */
  readonly truncationsPerSegment?: number;
  /**
   * Initial recurrent state of segments: the recorded one, or zeros.
   *
   * @default "stored"
   */
  readonly initialState?: "stored" | "zeros";
  /**
   * First rows of replayed segments that only warm up the recurrent state (burn-in).
   *
   * @default 0
   */
  readonly burnIn?: number;
}

/**
 * Counts the rows of one environment in a batch of {@link Sequences}.
 *
 * @param numSteps Steps of a segment.
 * @param truncations Largest number of truncated episodes.
 * @returns Number of rows: steps, the last observation, and final observations of
 * truncated episodes.
 *
 * @example
 * ```ts
 * import { sequenceRows } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(sequenceRows(20), 22);
 * ```
 */
export function sequenceRows(numSteps: number, truncations = 1): number {
  return numSteps + 1 + truncations;
}

/**
 * Replay buffer of segments, each `numSteps` steps of each environment: a segment is
 * learned from once when it is new, then replayed with others, sampled uniformly for
 * each environment or by priority.
 *
 * A batch has rows, by default `numSteps + 2` for each environment, env-major:
 * `observations` normalized with the current statistics, `actions`, `rewards`,
 * `terminated`, `behaviour` (parameters of the action's distribution), `taken` (1 where
 * an action was taken), `actionMasks` with action masking and, for recurrent policies,
 * episode starts `masks` and `state` before the first row.
 *
 * Rows without an action hold the observation after the last step, and the final
 * observation of a truncated episode. A segment has `truncationsPerSegment` such rows
 * besides the last; if more episodes are truncated, their last step is dropped, which
 * the statistic `steps_dropped` counts.
 *
 * With priorities a batch also has `weights`, one for each segment, 1 for new ones, and
 * the update returns `tdErrors` of the segments among its results.
 *
 * @typeParam B Batch of the update.
 *
 * @example
 * ```ts
 * import { acer } from "@bellman/acer";
 * import { Agent, Sequences } from "@bellman/agent";
 * import { assert } from "@std/assert";
 *
 * const spaces = {
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 1,
 * } as const;
 * const agent = new Agent(acer, spaces, {
 *   config: { hiddenSizes: [8], bufferSize: 1000 },
 *   engine: "eager",
 * });
 * assert(agent.memory instanceof Sequences); // see `acer.build`
 * agent.close();
 * ```
 */
export class Sequences<B = Record<string, tf.Tensor>> implements Memory<B> {
  /** Shapes and types of a batch, by name. */
  readonly batch: Memory<B>["batch"];
  /** Replay buffer; undefined if nothing is replayed. */
  readonly store: ReplayStore<SequenceReplayBuffer> | undefined;
  readonly #options: SequencesOptions;
  readonly #context: BuildContext;
  /** Rows of each environment. */
  readonly #size: number;
  /** Rows being collected, or new. */
  readonly #rows: Readonly<Record<string, TensorData>>;
  /** Their observations. */
  readonly #seen: ObservationInputArrays;
  #replayed: ReturnType<SequenceReplayBuffer["batch"]> | undefined;
  readonly #view: (kept: ObservationInputArrays) => ObservationInputArrays;
  /** Observations after the last step, and the actions that they allow. */
  readonly #next: ObservationInputArrays;
  readonly #nextMasks: Uint8Array;
  readonly #scaledRewards: Float32Array;
  /** Weights of new segments. */
  readonly #equalWeights: Float32Array;
  /** Newest frames of observations that are stacks. */
  readonly #newest: NewestFrames | undefined;
  /** Rows of each environment so far. */
  readonly #filled: Int32Array;
  /** Numbers of the masks of an action, 0 where they are not masked. */
  readonly #choices: number;
  #length = 0;
  /** True where the last sample was the new segment. */
  #isNew = false;
  /** Steps that were dropped for lack of a row. */
  #dropped = 0;

  /**
   * Creates an empty replay buffer of segments.
   *
   * @param context Observations, scales and number of environments.
   * @param policy Policy that acts.
   * @param options Sizes and replay ratio.
   * @throws {RangeError} If there is too little memory.
   */
  constructor(
    context: BuildContext,
    policy: Policy,
    options: SequencesOptions,
  ) {
    const { numSteps, bufferSize, replayRatio } = options;
    const { numEnvs, stackedFrames = 1, observations } = context;
    const { distribution, stateSize, observationInput } = policy;
    const choices = context.masked ? choicesOf(policy) : 0;
    const { observationInput: input } = observations.encoder;
    const isRecurrent = stateSize > 0;
    const { actionShape, actionDtype, parameterSize } = distribution;
    this.#newest = NewestFrames.of(context);
    const fields: Record<string, DictOf<ArrayField & TensorType>> = {
      observations: input,
      actions: { shape: actionShape, dtype: actionDtype },
      rewards: NUMBER,
      terminated: NUMBER,
      taken: NUMBER,
      behaviour: { ...NUMBER, shape: [parameterSize] },
      ...(isRecurrent && { masks: NUMBER }),
      ...(choices > 0 && { actionMasks: { ...FLAG, shape: [choices] } }),
    };
    const states: Record<string, ArrayField & TensorType> = isRecurrent
      ? { state: { ...NUMBER, shape: [stateSize] } }
      : {};
    this.#options = options;
    this.#context = context;
    this.#size = sequenceRows(numSteps, options.truncationsPerSegment);
    // Each frame is stored once; the ends of episodes determine the stacks.
    const kept = this.#newest
      ? { ...fields, observations: this.#newest.frame, ends: FLAG }
      : fields;
    const keep = (capacity: number, parts: BufferParts = {}) =>
      new SequenceReplayBuffer({
        ...parts,
        capacity,
        numSteps,
        numEnvs,
        fields: kept,
        states,
        extraSteps: Object.fromEntries(
          Object.keys(kept).map((name) => [name, this.#size - numSteps]),
        ),
        ...(this.#newest && {
          stack: { observations: stackedFrames },
          padding: "reset",
          ends: ["ends"],
        }),
      });
    if (replayRatio > 0) {
      this.store = new ReplayStore(options, {
        name: "segments",
        make: (parts) =>
          allocated(bufferSize * numEnvs, () => keep(bufferSize, parts)),
      });
    }
    const { segments: _, observations: seen, ...others } = keep(numSteps)
      .batch();
    this.#rows = others as Record<string, TensorData>;
    this.#seen = seen as ObservationInputArrays;
    const rows = numEnvs * this.#size;
    this.batch = Object.fromEntries([
      ...Object.entries({ ...fields, observations: observationInput })
        .map(([name, type]) => [name, rowsOf(rows, type)]),
      ...Object.entries(states)
        .map(([name, type]) => [name, rowsOf(numEnvs, type)]),
      ...(this.#hasPriorities ? [["weights", rowsOf(numEnvs, NUMBER)]] : []),
    ]) as Memory<B>["batch"];
    this.#view = observations.view(rows);
    this.#next = observations.buffer(numEnvs);
    this.#scaledRewards = new Float32Array(rows);
    this.#equalWeights = new Float32Array(numEnvs).fill(1);
    this.#filled = new Int32Array(numEnvs);
    this.#choices = choices;
    this.#nextMasks = new Uint8Array(numEnvs * choices);
  }

  get #hasPriorities(): boolean {
    return this.store?.hasPriorities ?? false;
  }

  get #isFull(): boolean {
    return this.#length === this.#options.numSteps;
  }

  /** Records the parameters of the distribution that actions come from. */
  record(output: PolicyOutput): { behaviour: tf.Tensor } {
    return { behaviour: output.policy };
  }

  /**
   * Records a step; copied.
   *
   * @param decision The decision, and the environments' answer.
   * @throws {Error} If an update is needed first.
   */
  add(decision: PolicyStep): void {
    const { step } = decision;
    const { bootstrapTruncated = true, initialState } = this.#options;
    const { observations: { encoder }, rewards, numEnvs } = this.#context;
    const { terminated, truncated } = step;
    const buffer = this.store?.buffer;
    if (this.#isFull) throw unlearned("segment");
    if (this.#length === 0) this.#begin(decision, initialState === "zeros");
    rewards?.see(step.rewards, step);
    const last = encoder.observationArray(
      nextObservations(step),
      this.#next,
    );
    this.#newest?.take({
      observations: decision.observations as ObservationInputArray,
      nextObservations: last as ObservationInputArray,
      terminated,
      truncated,
    });
    if (this.#choices > 0) {
      this.#nextMasks.set(nextActionMasks(step, this.#choices));
    }
    const data = this.#rows as Record<string, Float32Array>;
    this.#length++;
    for (let env = 0; env < numEnvs; env++) {
      const isCut = truncated[env] > terminated[env];
      const row = this.#append(decision.observations, {
        env,
        start: decision.starts[env],
        actionMasks: decision.actionMasks,
      });
      this.#copy(data.actions, decision.actions, { env, row });
      this.#copy(data.behaviour, decision.recorded.behaviour!, { env, row });
      data.rewards[row] = step.rewards[env];
      data.terminated[row] = terminated[env] ||
        +(isCut && !bootstrapTruncated);
      data.taken[row] = 1;
      if (isCut && bootstrapTruncated) this.#cut(env, row);
    }
    if (this.#isFull) this.#end(step, buffer);
  }

  /** Follows a truncated step by its last observation, or drops it for lack of a row. */
  #cut(env: number, row: number): void {
    /** Rows that are still needed: for steps, and the last one. */
    const left = this.#options.numSteps - this.#length;
    const needed = left === 0 ? 0 : left + 1;
    if (this.#filled[env] + needed < this.#size) {
      const actionMasks = this.#choices > 0 ? this.#nextMasks : undefined;
      this.#append(this.#next, { env, start: 0, actionMasks });
    } else {
      this.#rows.taken[row] = 0;
      this.#dropped++;
    }
  }

  /** Truncates the episodes that the last step left running. */
  endEpisodes(): void {
    const { bootstrapTruncated = true } = this.#options;
    this.#context.rewards?.reset?.();
    this.#newest?.begin();
    // The last observation of a full segment follows its last step.
    if (this.#length === 0 || this.#isFull) return;
    const { taken, terminated } = this.#rows;
    for (let env = 0; env < this.#filled.length; env++) {
      const row = env * this.#size + this.#filled[env] - 1;
      if (taken[row] === 0 || terminated[row] > 0) continue;
      if (bootstrapTruncated) this.#cut(env, row);
      else terminated[row] = 1;
    }
  }

  #begin({ state }: PolicyStep, isZero: boolean): void {
    for (const name in this.#rows) this.#rows[name].fill(0);
    mapParts(this.#seen, (part) => part.fill(0));
    if (!isZero && state.length > 0) {
      (this.#rows.state as Float32Array).set(state);
    }
    this.#filled.fill(0);
  }

  /**
   * Writes a row with an observation of an environment and the actions that it
   * allows, and returns its number.
   */
  #append(
    observations: ObservationInputArrays,
    { env, start, actionMasks }: {
      env: number;
      start: number;
      actionMasks?: Uint8Array;
    },
  ): number {
    const before = this.#filled[env]++;
    const row = env * this.#size + before;
    mapParts(
      this.#seen,
      (into, part) =>
        this.#copy(into, partOf(observations, part), { env, row }),
    );
    const { masks, ends } = this.#rows;
    if (actionMasks) {
      this.#copy(this.#rows.actionMasks, actionMasks, { env, row });
    }
    if (start > 0) masks?.fill(1, row, row + 1);
    if (start > 0 && before > 0) ends?.fill(1, row - 1, row);
    return row;
  }

  #copy(
    into: TensorData,
    from: TensorData | Uint8Array,
    { env, row }: { env: number; row: number },
  ): void {
    const size = from.length / this.#context.numEnvs;
    (into as Float32Array)
      .set(from.subarray(env * size, (env + 1) * size), row * size);
  }

  /** Ends a segment with the observations after it, and stores it. */
  #end(
    { observations, actionMasks, terminated, truncated }: VecStep,
    buffer: SequenceReplayBuffer | undefined,
  ): void {
    const { encoder } = this.#context.observations;
    const last = encoder.observationArray(
      observations,
      this.#next,
    );
    for (let env = 0; env < this.#filled.length; env++) {
      // Full where the last step was cut, so that nothing follows it.
      if (this.#filled[env] === this.#size) continue;
      const start = terminated[env] | truncated[env];
      this.#append(last, { env, start, actionMasks });
    }
    buffer?.add({
      ...this.#rows,
      observations: this.#newest ? this.#frames() : this.#seen,
    });
  }

  /** Takes the frames of all rows, after those that the first row saw before. */
  #frames(): ObservationInputArray {
    const { stackedFrames: count = 1, numEnvs, observations } = this.#context;
    const { shape } = observations.encoder.observationInput as ObservationInput;
    const stacked = shape.at(-1)!;
    const channels = stacked / count,
      size = observations.encoder.observationSize;
    const perEnv = this.#size + count - 1;
    const stacks = this.#seen as Float32Array;
    const frames = stacks.slice(0, numEnvs * perEnv * size / count);
    let into = 0;
    for (let env = 0; env < numEnvs; env++) {
      for (let i = 0; i < perEnv; i++) {
        const row = env * this.#size + Math.max(0, i - count + 1);
        const first = row * size + Math.min(i, count - 1) * channels;
        for (let at = first; at < (row + 1) * size; at += stacked) {
          for (let c = 0; c < channels; c++) frames[into++] = stacks[at + c];
        }
      }
    }
    return frames;
  }

  /** Counts the updates after a segment: one, and those that replay. */
  ready(_progress: Progress, random: RandomStream): number {
    if (!this.#isFull) return 0;
    const { replayStart, replayRatio } = this.#options;
    return this.store?.buffer.hasAtLeast(replayStart)
      ? 1 + poisson(random, replayRatio)
      : 1;
  }

  /** Returns the new segment, or samples others; the next call overwrites them. */
  sample(random: RandomStream, progress: Progress): Sample {
    const isNew = this.#isNew = this.#isFull;
    this.store?.anneal(progress.fraction);
    const drawn = isNew ? this.#recorded : this.#replay(random);
    const batch: Record<string, DictOf<TensorData>> = {};
    for (const name in this.batch) {
      batch[name] = drawn[name] as DictOf<TensorData>;
    }
    if (!isNew) this.#warmUp(batch.taken as TensorData);
    else if (this.#hasPriorities) batch.weights = this.#equalWeights;
    const { rewards } = this.#context;
    if (rewards !== undefined) {
      rewards.scale(batch.rewards as TensorData, this.#scaledRewards);
      batch.rewards = this.#scaledRewards;
    }
    const kept = batch.observations as ObservationInputArrays;
    batch.observations = this.#view(kept);
    if (isNew) this.#length = 0;
    return {
      batch,
      ...(this.#dropped > 0 && { stats: { steps_dropped: this.#dropped } }),
    };
  }

  #replay(random: RandomStream) {
    const { buffer } = this.store!;
    this.#replayed ??= buffer.batch();
    return buffer.sample(random, { into: this.#replayed });
  }

  /** Masks the burn-in rows of each segment. */
  #warmUp(taken: TensorData): void {
    const { burnIn = 0 } = this.#options;
    for (let row = 0; row < taken.length; row += this.#size) {
      taken.fill(0, row, row + burnIn);
    }
  }

  /** Sets the priorities of the last segments, where priorities are used. */
  setPriorities(tdErrors: TensorData): void {
    if (!this.#hasPriorities) return;
    const { buffer } = this.store!;
    const segments = this.#isNew ? buffer.newest : this.#replayed!.segments;
    this.store!.prioritize(segments, tdErrors);
  }

  /** Observations and masks after the last step, by names of the batch. */
  get #allNext() {
    return { observations: this.#next, actionMasks: this.#nextMasks };
  }

  /** Rows being collected, or new, by names of the batch. */
  get #recorded(): Readonly<Record<string, DictOf<TensorData>>> {
    return { ...this.#rows, observations: this.#seen };
  }

  /** Saves the steps so far and the buffer. */
  save(): StateTree {
    return { ...this.#saveRows(), replay: this.store?.save() ?? null };
  }

  #saveRows(): Record<string, StateTree> {
    return {
      rows: copyArrays(this.#recorded),
      filled: this.#filled.slice(),
      length: this.#length,
      dropped: this.#dropped,
      next: copyArrays(this.#allNext),
    };
  }

  /**
   * Restores what `save` returned; without segments the buffer is empty. A wrong state
   * changes nothing.
   */
  load(state: StateTree): void {
    loadAtomically(state, {
      save: () => this.#saveRows(),
      load: (state) => this.#restore(state as Record<string, StateTree>),
    });
    this.#newest?.forget();
  }

  #restore(saved: Record<string, StateTree>): void {
    const { length, dropped } = saved;
    if (![length, dropped].every((it) => isWhole(it, 0))) {
      throw new TypeError(
        `Cannot restore sequences of ${length} steps, ${dropped} dropped: expected whole numbers`,
      );
    }
    restoreArrays({ rows: this.#recorded, filled: this.#filled }, saved);
    this.#length = length as number;
    this.#dropped = dropped as number;
    // Older agents lack them, and play as well.
    if (saved.next !== undefined) restoreArrays(this.#allNext, saved.next);
    if (saved.replay !== undefined) this.store?.load(saved.replay);
  }
}

/** Samples a Poisson distribution: events before waiting times add up to 1. */
function poisson(random: RandomStream, mean: number): number {
  const limit = Math.exp(-mean);
  let count = 0;
  for (let left = random.uniform(); left > limit; left *= random.uniform()) {
    count++;
  }
  return count;
}
