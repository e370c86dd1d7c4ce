import type { Dataset, DatasetBatch } from "@bellman/buffers/datasets";
import {
  RandomStream,
  type TensorData,
  type TensorType,
} from "@bellman/compute";
import {
  choicesOf,
  type DictOf,
  mapParts,
  partOf,
  type Policy,
} from "@bellman/policies";
import type { BoxArray, BoxSpace, StateTree } from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";
import { FLAG, NUMBER, rowsOf } from "./_tensor_types.ts";
import type {
  BuildContext,
  Memory,
  PolicyStep,
  Progress,
  Sample,
} from "./algorithm.ts";
import { Replay, type ReplayBatch, type ReplayOptions } from "./replay.ts";

/** Batch of a {@link DataMemory}. */
export interface DataBatch extends ReplayBatch {
  /** 1 where a sequence or an episode starts at the row, else 0 `[batch]`. */
  readonly starts: tf.Tensor1D;
  /** Encoded observations of held-out steps, if there are some; see `judges`. */
  readonly heldObservations?: tf.Tensor;
  /** Actions of the held-out steps. */
  readonly heldActions?: tf.Tensor;
  /** Starts of the held-out steps. */
  readonly heldStarts?: tf.Tensor1D;
  /** Action masks of the held-out steps. */
  readonly heldActionMasks?: tf.Tensor2D;
}

/** Options of {@link DataMemory}. */
export interface DataMemoryOptions {
  /** Batch size in steps. */
  readonly batchSize: number;
  /**
   * Steps of each sequence, of which a batch has `batchSize / numSteps`.
   *
   * @default 1
   */
  readonly numSteps?: number;
  /**
   * Factor of the rewards.
   *
   * @default 1
   */
  readonly rewardScale?: number;
  /**
   * Updates from one look at the held-out steps to the next.
   *
   * @default 100
   */
  readonly judgeEvery?: number;
}

/**
 * Recorded episodes as a memory to learn from: no step is ever added. Observations are
 * normalized as the agent's are, box actions are in [-1, 1] for policies that squash
 * theirs. Its saved state is the SHA-256 of the data.
 *
 * @example
 * ```ts
 * import { DataMemory } from "@bellman/agent";
 * import { bc } from "@bellman/offline";
 * import { Agent } from "@bellman/agent";
 * import { Dataset } from "@bellman/buffers/datasets";
 * import { assert } from "@std/assert";
 *
 * const spaces = {
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 * } as const;
 * const data = new Dataset([{
 *   observations: [0, 1, 2],
 *   actions: [0, 1],
 *   rewards: [0, 1],
 *   terminations: [0, 1],
 *   truncations: [0, 0],
 * }], { ...spaces, holdout: 0 });
 * const agent = new Agent(bc, { ...spaces, numEnvs: 1 }, { data, engine: "eager" });
 * assert(agent.memory instanceof DataMemory);
 * agent.close();
 * ```
 */
export class DataMemory implements Memory<DataBatch> {
  /** Shapes and types of a batch, by name. */
  readonly batch: Memory<DataBatch>["batch"];
  /** Recorded episodes; undefined for an agent that only acts. */
  readonly data: Dataset | undefined;
  readonly #options: DataMemoryOptions;
  readonly #rows: DatasetBatch | undefined;
  readonly #heldRows: DatasetBatch | undefined;
  readonly #read: (rows: DatasetBatch) => Arrays;
  readonly #readHeld: (rows: DatasetBatch) => Arrays;
  /** The last held-out steps. */
  #held: Arrays = {};
  /** SHA-256 of the data of a restored state, where there is none. */
  #sha256 = "";

  /**
   * Prepares the batches.
   *
   * @param context Data, observations and spaces.
   * @param policy Policy that acts.
   * @param options Sizes.
   */
  constructor(
    context: BuildContext,
    policy: Policy,
    options: DataMemoryOptions,
  ) {
    const { data } = context, { batchSize } = options;
    const { actionShape: shape, actionDtype: dtype } = policy.distribution;
    const seen = rowsOf(batchSize, policy.observationInput);
    const number = rowsOf(batchSize, NUMBER);
    const choices = context.masked ? choicesOf(policy) : 0;
    const masks = rowsOf(batchSize, { ...FLAG, shape: [choices] });
    this.data = data;
    this.#options = options;
    this.#rows = data?.training.allocate(batchSize);
    const hasHeld = data !== undefined && data.heldOut.numSteps > 0;
    this.#heldRows = hasHeld ? data.heldOut.allocate(batchSize) : undefined;
    this.#read = readerOf(context, policy, options);
    this.#readHeld = readerOf(context, policy, options);
    const own = {
      observations: seen,
      actions: rowsOf(batchSize, { shape, dtype }),
      starts: number,
      ...choices > 0 && { actionMasks: masks },
    };
    this.batch = {
      ...own,
      nextObservations: seen,
      rewards: number,
      terminated: rowsOf(batchSize, FLAG),
      ...choices > 0 && { nextActionMasks: masks },
      ...hasHeld && heldNames(own),
    } as Memory<DataBatch>["batch"];
    if (hasHeld) this.#held = this.#judged(new RandomStream(0));
  }

  /**
   * Throws, as nothing is added.
   *
   * @throws {TypeError} Always.
   */
  add(): void {
    throw new TypeError(
      "Cannot add a step to recorded data: expected train(agent, null), or dataShare below 1",
    );
  }

  /** Does nothing, as no episodes run. */
  endEpisodes(): void {}

  /** Returns the number of steps that a call of the agent's `advance` counts. */
  advance(): number {
    return 1;
  }

  /** Returns 1: each step is an update. */
  ready(): number {
    return 1;
  }

  /**
   * Draws a batch; the next one overwrites it.
   *
   * @throws {TypeError} If there is no data.
   */
  sample(random: RandomStream, progress?: Progress): Sample {
    if (this.#rows === undefined) {
      throw new TypeError("Cannot learn without data: expected { data }");
    }
    const { numSteps } = this.#options, { training } = this.data!;
    const rows = training.sample(random, this.#rows, { numSteps });
    if (progress && this.judges(progress)) this.#held = this.#judged(random);
    return { batch: { ...this.#read(rows), ...this.#held } };
  }

  /** Tells if the next update gets other held-out steps, to report their loss. */
  judges({ updates }: Pick<Progress, "updates">): boolean {
    const { judgeEvery = 100 } = this.#options;
    return this.#heldRows !== undefined && updates % judgeEvery === 0;
  }

  #judged(random: RandomStream): Arrays {
    const { numSteps } = this.#options;
    const rows = this.data!.heldOut.sample(random, this.#heldRows!, {
      numSteps,
    });
    const { observations, actions, starts, actionMasks } = this.#readHeld(rows);
    return heldNames({
      ...{ observations, actions, starts },
      ...actionMasks && { actionMasks },
    });
  }

  /** Saves the SHA-256 of the data. */
  save(): StateTree {
    return { sha256: this.data?.sha256 ?? this.#sha256 };
  }

  /**
   * Compares with the data of a saved state.
   *
   * @throws {TypeError} If that was other data.
   */
  load(state: StateTree): void {
    const { sha256 } = state as { readonly sha256?: string };
    if (this.data !== undefined && sha256 !== this.data.sha256) {
      throw new TypeError(
        "Cannot go on with other data: expected the episodes that were learned from before",
      );
    }
    this.#sha256 = sha256 ?? "";
  }
}

/** Arrays of a batch by name. */
type Arrays = Readonly<Record<string, DictOf<TensorData>>>;

/** Renames the entries of held-out steps. */
function heldNames<T>(own: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(own)
      .map((
        [name, it],
      ) => [`held${name[0].toUpperCase()}${name.slice(1)}`, it]),
  );
}

/** Makes a function from steps of a data set to what an update takes. */
function readerOf(
  { observations, actionSpace, masked }: BuildContext,
  policy: Policy,
  { batchSize, rewardScale = 1 }: DataMemoryOptions,
): (rows: DatasetBatch) => Arrays {
  const [now, next] = [0, 1].map(() => observations.reader(batchSize));
  const actions = policyActions(policy, actionSpace as BoxSpace);
  const rewards = new Float32Array(batchSize);
  const starts = new Float32Array(batchSize);
  const all = new Uint8Array(batchSize * (masked ? choicesOf(policy) : 0))
    .fill(1);
  return (rows) => {
    starts.set(rows.starts);
    for (let i = 0; i < batchSize; i++) {
      rewards[i] = rewardScale * rows.rewards[i];
    }
    return {
      observations: now(rows.observations),
      nextObservations: next(rows.nextObservations),
      actions: actions(rows.actions as BoxArray),
      rewards,
      terminated: rows.terminated,
      starts,
      ...masked && {
        actionMasks: rows.actionMasks ?? all,
        nextActionMasks: rows.nextActionMasks ?? all,
      },
    };
  };
}

/**
 * Makes a function from the environment's actions to those that a policy samples:
 * within [-1, 1] where it squashes them.
 */
function policyActions(
  { squashesActions, distribution }: Policy,
  { low, high }: BoxSpace,
): (actions: BoxArray) => TensorData {
  if (!squashesActions) {
    return distribution.actionDtype === "float32"
      ? (actions) => Float32Array.from(actions)
      : (actions) => Int32Array.from(actions);
  }
  const size = distribution.actionShape.reduce((product, n) => product * n, 1);
  const at = (bound: number | readonly number[], i: number) =>
    typeof bound === "number" ? bound : bound[i];
  return (actions) =>
    Float32Array.from(actions, (it, i) => {
      const least = at(low, i % size), most = at(high, i % size);
      return Math.min(1, Math.max(-1, 2 * (it - least) / (most - least) - 1));
    });
}

/** Options of {@link replayWithData}. */
export interface DataShare extends ReplayOptions {
  /**
   * Share of each batch that is from recorded data, if there is some; 1 learns from data
   * alone.
   *
   * @default 0.5
   */
  readonly dataShare?: number;
}

/**
 * Makes the memory of an off-policy algorithm: a replay buffer, or where there is
 * recorded data a memory of it alone, or batches of which it is a part.
 *
 * Source: Ball et al. 2023 (https://arxiv.org/abs/2302.02948), where it is half.
 *
 * @param context Data, observations and spaces.
 * @param policy Policy that acts.
 * @param options Sizes, update frequency, share of the data.
 * @returns The memory.
 * @throws {TypeError} If data and a form of replay exclude each other.
 *
 * @example
 * ```ts
 * import { Replay, replayWithData } from "@bellman/agent";
 * import { td3 } from "@bellman/td3";
 * import { Agent } from "@bellman/agent";
 * import { assert } from "@std/assert";
 *
 * // Without data it is a replay buffer: see `td3.build`.
 * const box = { type: "box", shape: [1], low: -1, high: 1, dtype: "float32" } as const;
 * const spaces = { observationSpace: box, actionSpace: box, numEnvs: 1 };
 * const agent = new Agent(td3, spaces, { engine: "eager" });
 * assert(agent.memory instanceof Replay);
 * assert(typeof replayWithData === "function");
 * agent.close();
 * ```
 */
export function replayWithData(
  context: BuildContext,
  policy: Policy,
  options: DataShare,
): Memory<ReplayBatch> {
  const { dataShare = 0.5, batchSize } = options;
  if (context.data === undefined || dataShare === 0) {
    return new Replay(context, policy, options);
  }
  checkShare(context, options);
  const rows = Math.min(
    batchSize,
    Math.max(1, Math.round(dataShare * batchSize)),
  );
  const data = new DataMemory(context, policy, { batchSize: rows });
  if (rows === batchSize) return data;
  const rest = { ...options, batchSize: batchSize - rows };
  return new MixedMemory(new Replay(context, policy, rest), data);
}

/** Throws for forms of replay whose rows recorded data does not have. */
function checkShare(
  { stackedFrames = 1 }: BuildContext,
  { nSteps = 1, hindsight, replay = "uniform" }: DataShare,
): void {
  const refuse = (what: string, wanted: string) =>
    new TypeError(`Cannot learn from data with ${what}: expected ${wanted}`);
  if (nSteps > 1) throw refuse(`nSteps: ${nSteps}`, "nSteps: 1");
  if (hindsight) throw refuse("hindsight", "hindsight: null");
  if (replay !== "uniform") throw refuse(`replay: ${replay}`, "uniform");
  if (stackedFrames > 1) throw refuse("stacked frames", "single ones");
}

/** Replay buffer and recorded data, each of which gives a part of every batch. */
class MixedMemory implements Memory<ReplayBatch> {
  readonly batch: Memory<ReplayBatch>["batch"];
  readonly store: Memory["store"];
  readonly #replay: Replay;
  readonly #data: DataMemory;
  readonly #arrays: Sample["batch"];

  constructor(replay: Replay, data: DataMemory) {
    this.#replay = replay;
    this.#data = data;
    this.store = replay.store;
    const rowsIn = (it: Memory["batch"]) =>
      (it.rewards as TensorType).shape[0] as number;
    const all = rowsIn(replay.batch as never) + rowsIn(data.batch as never);
    const entries = Object.entries(replay.batch) as [
      string,
      DictOf<TensorType>,
    ][];
    const types = entries.map(([name, type]) =>
      [
        name,
        mapParts<TensorType, TensorType>(
          type,
          ({ shape: [, ...rest], dtype }) => ({
            shape: [all, ...rest],
            dtype,
          }),
        ),
      ] as const
    );
    this.batch = Object.fromEntries(types) as never;
    this.#arrays = Object.fromEntries(types.map(([name, type]) => [
      name,
      mapParts<TensorType, TensorData>(type, allocate),
    ]));
  }

  add(step: PolicyStep): void {
    this.#replay.add(step);
  }

  endEpisodes(): void {
    this.#replay.endEpisodes();
  }

  ready(progress: Progress): number {
    return this.#replay.ready(progress);
  }

  sample(random: RandomStream, progress: Progress): Sample {
    const parts = [
      this.#replay.sample(random, progress).batch,
      this.#data.sample(random).batch,
    ];
    for (const [name, whole] of Object.entries(this.#arrays)) {
      mapParts<TensorData, void>(whole, (target, part) => {
        let at = 0;
        for (const it of parts) {
          const array = partOf(it[name], part);
          target.set(array as never, at);
          at += array.length;
        }
      });
    }
    return { batch: this.#arrays };
  }

  save(): StateTree {
    const own = this.#replay.save() as Record<string, StateTree>;
    return { ...own, data: this.#data.save() };
  }

  load(state: StateTree): void {
    const { data, ...own } = state as Record<string, StateTree>;
    this.#data.load(data);
    this.#replay.load(own);
  }
}

function allocate({ shape, dtype }: TensorType): TensorData {
  const size = (shape as readonly number[]).reduce(
    (product, n) => product * n,
    1,
  );
  if (dtype === "float32") return new Float32Array(size);
  return dtype === "int32" ? new Int32Array(size) : new Uint8Array(size);
}
