import type { Dataset, DatasetRows } from "@bellman/buffers/datasets";
import { RandomStream, type TensorData } from "@bellman/compute";
import { choicesOf, type DictOf, type Policy } from "@bellman/policies";
import type { BoxArray, BoxSpace, StateTree } from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";
import { FLAG, NUMBER, rowsOf } from "./_tensor_types.ts";
import type { BuildContext, Memory, Progress, Sample } from "./algorithm.ts";
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
 * import { Agent, DataMemory } from "@bellman/agent";
 * import { bc } from "@bellman/offline";
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
  readonly #training: Drawer | undefined;
  readonly #heldOut: Drawer | undefined;
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
    const masks = context.masked &&
      rowsOf(batchSize, { ...FLAG, shape: [choicesOf(policy)] });
    const drawer = (rows: DatasetRows | undefined) =>
      rows && rows.numSteps > 0
        ? drawerOf(rows, { context, policy, options })
        : undefined;
    this.data = data;
    this.#options = options;
    this.#training = drawer(data?.training);
    this.#heldOut = drawer(data?.heldOut);
    const own = {
      observations: seen,
      actions: rowsOf(batchSize, { shape, dtype }),
      starts: number,
      nextObservations: seen,
      rewards: number,
      terminated: rowsOf(batchSize, FLAG),
      ...masks && { actionMasks: masks, nextActionMasks: masks },
    };
    this.batch = { ...own, ...this.#heldOut && heldOf(own) } as typeof own;
    // Updates that do not look at them take any.
    if (this.#heldOut) this.#held = heldOf(this.#heldOut(new RandomStream(0)));
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

  /** Returns 1: each update counts as a step. */
  advance(): number {
    return 1;
  }

  /** Returns 1: an update is due after each step. */
  ready(): number {
    return 1;
  }

  /**
   * Draws a batch; the next one overwrites it.
   *
   * @throws {TypeError} If there is no data.
   */
  sample(random: RandomStream, { updates }: Pick<Progress, "updates">): Sample {
    if (this.#training === undefined) {
      throw new TypeError("Cannot learn without data: expected { data }");
    }
    const batch = this.#training(random);
    if (this.judges({ updates })) this.#held = heldOf(this.#heldOut!(random));
    return { batch: { ...batch, ...this.#held } };
  }

  /** Tells if the next update gets other held-out steps, to report their loss. */
  judges({ updates }: Pick<Progress, "updates">): boolean {
    const { judgeEvery = 100 } = this.#options;
    return this.#heldOut !== undefined && updates % judgeEvery === 0;
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
    const { sha256 = "" } = state as { readonly sha256?: string };
    if (this.data !== undefined && sha256 !== this.data.sha256) {
      throw new TypeError(
        "Cannot go on with other data: expected the episodes that were learned from before",
      );
    }
    this.#sha256 = sha256;
  }
}

/** Arrays of a batch by name. */
type Arrays = Record<string, DictOf<TensorData>>;

/** Draws the arrays of a batch; the next call overwrites them. */
type Drawer = (random: RandomStream) => Arrays;

/** Names what a policy needs of held-out steps as such. */
function heldOf<T>(batch: Readonly<Record<string, T>>): Record<string, T> {
  const names = ["observations", "actions", "starts", "actionMasks"];
  return Object.fromEntries(
    names.filter((name) => name in batch).map((name) => [
      `held${name[0].toUpperCase()}${name.slice(1)}`,
      batch[name],
    ]),
  );
}

/** Makes a function that draws steps as the policy sees and samples them. */
function drawerOf(
  rows: DatasetRows,
  { context, policy, options }: {
    readonly context: BuildContext;
    readonly policy: Policy;
    readonly options: DataMemoryOptions;
  },
): Drawer {
  const { batchSize, numSteps, rewardScale = 1 } = options;
  const { observations, actionSpace, masked } = context;
  const drawn = rows.allocate(batchSize);
  const [now, next] = [0, 1].map(() => observations.reader(batchSize));
  const toPolicy = policyActions(policy, actionSpace as BoxSpace);
  const all = new Uint8Array(masked ? batchSize * choicesOf(policy) : 0);
  all.fill(1);
  return (random) => {
    const it = rows.sample(random, drawn, { numSteps });
    return {
      observations: now(it.observations),
      nextObservations: next(it.nextObservations),
      actions: toPolicy(it.actions as BoxArray),
      rewards: it.rewards.map((reward) => rewardScale * reward),
      terminated: it.terminated,
      starts: Float32Array.from(it.starts),
      ...masked && {
        actionMasks: it.actionMasks ?? all,
        nextActionMasks: it.nextActionMasks ?? all,
      },
    };
  };
}

/** Makes the inverse of `envActions`: box actions within [-1, 1] where they are squashed. */
function policyActions(
  { squashesActions, distribution }: Policy,
  { low, high }: BoxSpace,
): (actions: BoxArray) => TensorData {
  if (distribution.actionDtype === "int32") return (it) => Int32Array.from(it);
  if (!squashesActions) return (it) => Float32Array.from(it);
  const size = distribution.actionShape.reduce((product, n) => product * n, 1);
  const at = (bound: number | readonly number[], i: number) =>
    typeof bound === "number" ? bound : bound[i % size];
  return (actions) =>
    Float32Array.from(actions, (it, i) => {
      const least = at(low, i), most = at(high, i);
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
 * import { Agent, Replay, replayWithData } from "@bellman/agent";
 * import { td3 } from "@bellman/td3";
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
  // Some of each, as long as it is neither none nor all.
  const most = dataShare === 1 ? batchSize : Math.max(1, batchSize - 1);
  const rows = Math.min(most, Math.max(1, Math.round(dataShare * batchSize)));
  const data = new DataMemory(context, policy, { batchSize: rows });
  return dataShare === 1
    ? data
    : new Replay(context, policy, { ...options, data });
}

/** Throws for forms of replay whose rows recorded data does not have. */
function checkShare(
  { stackedFrames = 1 }: BuildContext,
  { nSteps = 1, hindsight, replay = "uniform", bootstrapTruncated = true }:
    DataShare,
): void {
  const refuse = (what: string, wanted: string) =>
    new TypeError(`Cannot learn from data with ${what}: expected ${wanted}`);
  if (nSteps > 1) throw refuse(`nSteps: ${nSteps}`, "nSteps: 1");
  if (!bootstrapTruncated) throw refuse("bootstrapTruncated: false", "true");
  if (hindsight) throw refuse("hindsight", "hindsight: null");
  if (replay !== "uniform") throw refuse(`replay: ${replay}`, "uniform");
  if (stackedFrames > 1) throw refuse("stacked frames", "single ones");
}
