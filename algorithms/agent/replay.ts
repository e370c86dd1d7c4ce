import {
  type Fields,
  Hindsight,
  type HindsightOptions,
  ReplayBuffer,
  type ReplayBufferOptions,
} from "@bellman/buffers";
import type { RandomStream, TensorData } from "@bellman/compute";
import {
  choicesOf,
  type DictOf,
  mapParts,
  nextActionMasks,
  nextObservations,
  type ObservationInputArrays,
  partOf,
  type Policy,
} from "@bellman/policies";
import type { StateTree } from "@bellman/types";
import type * as tf from "@tensorflow/tfjs";
import type {
  AgentContext,
  BuildContext,
  Memory,
  PolicyStep,
  Progress,
  Sample,
} from "./algorithm.ts";
import { FLAG, NUMBER, rowsOf } from "./_tensor_types.ts";
import { NewestFrames, type Transition } from "./newest_frames.ts";
import { ReplayStore, type ReplayStoreOptions } from "./replay_store.ts";

/** Options of {@link Replay}. */
export interface ReplayOptions extends ReplayStoreOptions {
  /** Capacity in transitions. */
  readonly bufferSize: number;
  /** Batch size in transitions. */
  readonly batchSize: number;
  /** Environment steps before the first update. */
  readonly learningStarts: number;
  /**
   * Steps of each environment between two rounds of updates.
   *
   * @default 1
   */
  readonly trainFrequency?: number;
  /**
   * Gradient steps per round; -1 takes as many as transitions were collected.
   *
   * @default 1
   */
  readonly gradientSteps?: number;
  /**
   * Number n of n-step returns.
   *
   * @default 1
   */
  readonly nSteps?: number;
  /**
   * Discount factor of n-step returns.
   *
   * @default 0.99
   */
  readonly gamma?: number;
  /**
   * Include the observations between the rewards of n-step returns in batches.
   *
   * @default false
   */
  readonly between?: boolean;
  /**
   * Bootstrap from the final observation of truncated episodes; false treats truncation
   * as termination.
   *
   * @default true
   */
  readonly bootstrapTruncated?: boolean;
  /**
   * Hindsight experience replay: relabels transitions with achieved goals.
   *
   * @default null
   */
  readonly hindsight?: HindsightGoals | null;
  /**
   * Memory whose steps take the last rows of each batch.
   *
   * @default none
   */
  readonly data?: Memory<ReplayBatch>;
}

/**
 * Goal selection strategy of hindsight replay, and number of relabelled transitions for
 * each original one.
 */
export type HindsightGoals = Pick<HindsightOptions, "strategy" | "k">;

/** Batch of a {@link Replay}. */
export interface ReplayBatch {
  /** Encoded observations `[batch, ...observationShape]`. */
  readonly observations: tf.Tensor;
  /** Actions `[batch, ...actionShape]`, as the policy sampled them, before rescaling. */
  readonly actions: tf.Tensor;
  /** Rewards `[batch]`; n-step replay: discounted sums. */
  readonly rewards: tf.Tensor1D;
  /** 1 where the episode terminated, else 0 (also where it was truncated). */
  readonly terminated: tf.Tensor1D;
  /** Encoded next observations, after the last reward; final ones for finished episodes. */
  readonly nextObservations: tf.Tensor;
  /**
   * Bootstrap discount of each row `[batch]`, as `gamma^n` of n-step replay.
   *
   * @default the update's gamma
   */
  readonly discounts?: tf.Tensor1D;
  /**
   * Encoded observations between the rewards of n-step replay `[batch * (n - 1),
   * ...observationShape]`, for soft returns.
   *
   * @default none: only the entropy after the last reward counts
   */
  readonly betweenObservations?: tf.Tensor;
  /** Discounts `gamma^k` of those, 0 past the end of a return `[batch, n - 1]`. */
  readonly betweenDiscounts?: tf.Tensor2D;
  /**
   * Importance weights of prioritized replay `[batch]`, which only weight the loss of
   * the Q-functions.
   *
   * @default 1 for each row
   */
  readonly weights?: tf.Tensor1D;
  /** Action masks of the observations `[batch, n]`, if there are some. */
  readonly actionMasks?: tf.Tensor2D;
  /** Action masks of the next observations. */
  readonly nextActionMasks?: tf.Tensor2D;
  /** Masks of the observations between the rewards `[batch * (n - 1), n]`. */
  readonly betweenActionMasks?: tf.Tensor2D;
}

/**
 * Throws unless the replay buffer is large enough for a step, a batch and the first
 * collection.
 *
 * @param options Sizes.
 * @param run Name of the algorithm, and number of environments.
 * @throws {RangeError} With the first size that does not fit.
 *
 * @example
 * ```ts
 * import { checkReplay } from "@bellman/agent";
 * import { assertThrows } from "@std/assert";
 *
 * const sizes = { bufferSize: 100, batchSize: 256, learningStarts: 10 };
 * assertThrows(
 *   () => checkReplay(sizes, { of: "SAC", numEnvs: 1 }),
 *   RangeError,
 *   "Cannot run SAC with batchSize = 256: expected at most bufferSize, 100",
 * );
 * ```
 */
export function checkReplay(
  options:
    & Pick<
      ReplayOptions,
      "bufferSize" | "batchSize" | "learningStarts" | "hindsight" | "nSteps"
    >
    & { readonly replay?: string },
  { of, numEnvs, ...context }:
    & { readonly of: string; readonly numEnvs: number }
    & Partial<
      Pick<AgentContext, "observationSpace" | "goals" | "stackedFrames">
    >,
): void {
  if (options.hindsight) checkHindsight(options, { of, ...context });
  const { bufferSize } = options, { stackedFrames = 1 } = context;
  if (bufferSize < numEnvs * stackedFrames) {
    const steps = stackedFrames === 1
      ? "a step"
      : `the ${stackedFrames} frames of a stack`;
    throw new RangeError(
      `Cannot run ${of} with bufferSize = ${bufferSize}: expected room for ${steps} of ${numEnvs} environments`,
    );
  }
  for (const key of ["learningStarts", "batchSize"] as const) {
    if (options[key] <= bufferSize) continue;
    throw new RangeError(
      `Cannot run ${of} with ${key} = ${
        options[key]
      }: expected at most bufferSize, ${bufferSize}`,
    );
  }
}

/**
 * Lists settings of replay that have no effect given the others, with reasons.
 *
 * @param options Kind of replay.
 * @returns Reasons by setting, for the `idle` of an algorithm.
 *
 * @example
 * ```ts
 * import { unusedReplay } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   unusedReplay({ replay: "uniform" }).priorityAlpha,
 *   "uniform replay has no priorities",
 * );
 * assertEquals(unusedReplay({ replay: "proportional" }), {});
 * ```
 */
export function unusedReplay(
  { replay }: { readonly replay: string },
): Record<string, string> {
  const why = "uniform replay has no priorities";
  return replay === "uniform"
    ? { priorityAlpha: why, priorityBeta: why, priorityEpsilon: why }
    : {};
}

/** Throws unless goals may stand in. */
function checkHindsight(
  { nSteps = 1, replay = "uniform" }: Parameters<typeof checkReplay>[0],
  { of, observationSpace, goals }: Omit<
    Parameters<typeof checkReplay>[1],
    "numEnvs"
  >,
): void {
  const refuse = (what: string, wanted: string) =>
    new TypeError(
      `Cannot run ${of} with hindsight and ${what}: expected ${wanted}`,
    );
  if (nSteps > 1) throw refuse(`nSteps: ${nSteps}`, "nSteps: 1");
  if (replay !== "uniform") {
    throw refuse(`replay: ${replay}`, "replay: uniform");
  }
  const parts = observationSpace?.type === "dict"
    ? Object.keys(observationSpace.spaces)
    : [];
  const wanted = ["observation", "achieved_goal", "desired_goal"];
  const missing = wanted.find((name) => !parts.includes(name));
  if (missing !== undefined || goals?.computeReward === undefined) {
    throw refuse(
      "an environment without goals",
      `observations with ${
        wanted.join(", ")
      }, and the environment's computeReward`,
    );
  }
}

type View = (kept: ObservationInputArrays) => ObservationInputArrays;

/**
 * Replay buffer of transitions. They are stored raw, and normalized with the current
 * statistics when sampled.
 *
 * A batch has `observations`, `actions`, `rewards`, `terminated` (0 or 1) and
 * `nextObservations`; with n-step returns `discounts` and, on request,
 * `betweenObservations` and `betweenDiscounts`; with priorities `weights`, and the
 * update then returns `tdErrors` among its results. With action masking all
 * observations have masks, as `nextActionMasks`.
 *
 * @typeParam B Batch of the update.
 *
 * @example
 * ```ts
 * import { Replay } from "@bellman/agent";
 * import { DQN, dqn } from "@bellman/dqn";
 * import { assert } from "@std/assert";
 *
 * const spaces = {
 *   observationSpace: { type: "discrete", n: 4 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   numEnvs: 1,
 * } as const;
 * const agent = new DQN(spaces, { config: { hiddenSizes: [8] }, engine: "eager" });
 * assert(agent.memory instanceof Replay); // see `dqn.build`
 * agent.close();
 * ```
 */
export class Replay<B = ReplayBatch> implements Memory<B> {
  /** Shapes and types of a batch, by name. */
  readonly batch: Memory<B>["batch"];
  /** Replay buffer, in memory or in a file. */
  readonly store: ReplayStore<ReplayBuffer>;
  readonly #options: ReplayOptions;
  readonly #context: BuildContext;
  readonly #batch: ReturnType<ReplayBuffer["batch"]>;
  /** Arrays of the batch by the names of an update. */
  readonly #arrays: Sample["batch"];
  /** Functions that turn observations into what the policy sees, by those names. */
  readonly #views: readonly (readonly [string, View])[];
  readonly #newest: NewestFrames | undefined;
  readonly #next: ObservationInputArrays;
  readonly #rewards: Float32Array;
  readonly #scaledRewards: Float32Array;
  /** Number of rewards in a sampled sum. */
  readonly #span: number;
  /** Numbers of the masks of an action, 0 where they are not masked. */
  readonly #choices: number;
  /** Goals that stand in, of a buffer. */
  #hindsight: { buffer: ReplayBuffer; goals: Hindsight } | undefined;

  /**
   * Creates an empty replay buffer.
   *
   * @param context Observations, scales and number of environments.
   * @param policy Policy that acts.
   * @param options Sizes and update frequency.
   * @throws {RangeError} If there is too little memory.
   */
  constructor(context: BuildContext, policy: Policy, options: ReplayOptions) {
    const { batchSize, nSteps = 1, gamma = 0.99, between } = options;
    const { numEnvs, stackedFrames = 1, observations } = context;
    const action = {
      shape: policy.distribution.actionShape,
      dtype: policy.distribution.actionDtype,
    };
    const choices = context.masked ? choicesOf(policy) : 0;
    const mask = { ...FLAG, shape: [choices] };
    this.#options = options;
    this.#context = context;
    this.#choices = choices;
    this.#newest = NewestFrames.of(context);
    const capacity = options.bufferSize - options.bufferSize % numEnvs;
    const sizes: ReplayBufferOptions = {
      capacity,
      numEnvs,
      fields: {
        observations: this.#newest?.frame ??
          observations.encoder.observationInput,
        actions: action,
        rewards: NUMBER,
        terminated: FLAG,
        truncated: FLAG,
        ...(choices > 0 && { actionMasks: mask }),
      },
      episodes: {
        next: {
          nextObservations: "observations",
          ...(choices > 0 && { nextActionMasks: "actionMasks" }),
        },
        ...(this.#newest && { stack: { observations: stackedFrames } }),
        ...(nSteps > 1 && {
          nStep: {
            ...{ steps: nSteps, gamma, reward: "rewards" },
            discount: "discounts",
            betweenDiscount: "betweenDiscounts",
            ...(between && {
              between: {
                betweenObservations: "observations",
                ...(choices > 0 && { betweenActionMasks: "actionMasks" }),
              },
            }),
          },
        }),
      },
    };
    this.store = new ReplayStore(options, {
      name: "transitions",
      make: (parts) =>
        allocated(
          capacity,
          () => new ReplayBuffer<Fields>({ ...sizes, ...parts }),
        ),
    });
    // The arrays of a batch do not depend on the buffer's capacity.
    const capacityOfFew = numEnvs * stackedFrames;
    const small = new ReplayBuffer({ ...sizes, capacity: capacityOfFew });
    this.#batch = small.batch(batchSize);
    // Wrong settings are refused at once, also where a file is opened later.
    this.#goalsOf(small);
    const { observationInput: seen } = policy;
    const number = rowsOf(batchSize, NUMBER), masks = rowsOf(batchSize, mask);
    const later = between ? nSteps - 1 : 0, rowsBetween = batchSize * later;
    const types: Memory["batch"] = {
      observations: rowsOf(batchSize, seen),
      nextObservations: rowsOf(batchSize, seen),
      ...(later > 0 && {
        betweenObservations: rowsOf(rowsBetween, seen),
        betweenDiscounts: { ...NUMBER, shape: [batchSize, later] },
      }),
      actions: rowsOf(batchSize, action),
      rewards: number,
      terminated: rowsOf(batchSize, FLAG),
      ...(nSteps > 1 && { discounts: number }),
      ...(this.store.hasPriorities && { weights: number }),
      ...(choices > 0 && { actionMasks: masks, nextActionMasks: masks }),
      ...(choices > 0 && later > 0 && {
        betweenActionMasks: rowsOf(rowsBetween, mask),
      }),
    };
    this.batch = types as Memory<B>["batch"];
    this.#arrays = Object.fromEntries(
      Object.keys(types).map((name) => [name, this.#batch[name]]),
    ) as Sample["batch"];
    this.#views = [
      ["observations", observations.view(batchSize)],
      ["nextObservations", observations.view(batchSize)],
      ...later > 0
        ? [["betweenObservations", observations.view(rowsBetween)] as const]
        : [],
    ];
    this.#next = observations.buffer(numEnvs);
    this.#rewards = new Float32Array(numEnvs);
    this.#scaledRewards = new Float32Array(batchSize);
    let span = 0;
    for (let i = 0; i < nSteps; i++) span += gamma ** i;
    this.#span = span;
  }

  /** Stores the transitions of a step; copied. */
  add({ observations, actions, actionMasks, step }: PolicyStep): void {
    const { buffer } = this.store;
    const { rewards, observations: { encoder } } = this.#context;
    const { terminated, truncated } = step;
    const next = encoder.observationArray(
      nextObservations(step),
      this.#next,
    );
    this.#rewards.set(step.rewards);
    rewards?.see(step.rewards, step);
    const seen = {
      observations,
      nextObservations: next,
      terminated,
      truncated,
    };
    // Frames are stacked of observations without parts alone.
    this.#newest?.take(seen as Transition);
    buffer.add({
      ...seen,
      actions,
      rewards: this.#rewards,
      ...(actionMasks && {
        actionMasks,
        nextActionMasks: nextActionMasks(step, this.#choices),
      }),
    });
  }

  /** Truncates the episodes that the last step left running. */
  endEpisodes(): void {
    const { bootstrapTruncated = true } = this.#options;
    this.store.buffer
      .endEpisodes(bootstrapTruncated ? "truncated" : "terminated");
    this.#context.rewards?.reset?.();
    this.#newest?.begin();
  }

  /** Counts the updates of a round, where one is due. */
  ready({ steps }: Progress): number {
    const { numEnvs } = this.#context;
    const { learningStarts, trainFrequency = 1, gradientSteps = 1 } =
      this.#options;
    if (this.store.buffer.added < learningStarts) return 0;
    if (steps / numEnvs % trainFrequency !== 0) return 0;
    return gradientSteps === -1 ? trainFrequency * numEnvs : gradientSteps;
  }

  /** Samples a batch; the next one overwrites it. */
  sample(random: RandomStream, progress: Progress): Sample {
    this.store.anneal(progress.fraction);
    const { buffer } = this.store;
    buffer.sample(random, { into: this.#batch });
    // Before anything is scaled, so that scales see the goals that stand in.
    this.#goalsOf(buffer)?.relabel(this.#batch, random);
    // After goals that stand in, which say what terminates, but not what is cut.
    if (this.#options.bootstrapTruncated === false) {
      const { terminated, truncated } = this.#batch as Record<
        string,
        TensorData
      >;
      for (let i = 0; i < terminated.length; i++) terminated[i] |= truncated[i];
    }
    const batch: Record<string, DictOf<TensorData>> = { ...this.#arrays };
    for (const [name, view] of this.#views) {
      batch[name] = view(batch[name] as ObservationInputArrays);
    }
    const { rewards } = this.#context;
    if (rewards !== undefined) {
      rewards.scale(
        batch.rewards as TensorData,
        this.#scaledRewards,
        this.#span,
      );
      batch.rewards = this.#scaledRewards;
    }
    this.#mix(batch, random, progress);
    return { batch };
  }

  /** Writes recorded steps over the last rows of a batch. */
  #mix(
    batch: Sample["batch"],
    random: RandomStream,
    progress: Progress,
  ): void {
    const recorded = this.#options.data?.sample(random, progress).batch;
    if (recorded === undefined) return;
    for (const [name, whole] of Object.entries(batch)) {
      mapParts<TensorData, void>(whole, (target, part) => {
        const rows = partOf(recorded[name], part);
        target.set(rows as never, target.length - rows.length);
      });
    }
  }

  /** Prepares to relabel the rows of a buffer, where goals are to stand in. */
  #goalsOf(buffer: ReplayBuffer): Hindsight | undefined {
    const { hindsight } = this.#options;
    if (!hindsight) return undefined;
    if (this.#hindsight?.buffer !== buffer) {
      const of = this.#context.goals!;
      const goals = new Hindsight(buffer, {
        ...hindsight,
        reward: (...goals) => of.computeReward!(...goals),
        terminated: of.computeTerminated?.bind(of),
        rewardPath: "rewards",
        achieved: "nextObservations.achieved_goal",
        desired: ["observations.desired_goal", "nextObservations.desired_goal"],
      });
      this.#hindsight = { buffer, goals };
    }
    return this.#hindsight.goals;
  }

  /** Sets the priorities of the last batch, where priorities are used. */
  setPriorities(tdErrors: TensorData): void {
    this.store.prioritize(this.#batch.slots, tdErrors);
  }

  /** Saves the buffer, unless the settings leave it out. */
  save(): StateTree {
    const { data } = this.#options;
    return { replay: this.store.save(), ...data && { data: data.save() } };
  }

  /**
   * Restores what `save` returned; without transitions the buffer is empty, and the
   * first stacks of frames sampled then repeat the first frame.
   */
  load(state: StateTree): void {
    const { replay, data } = state as Record<string, StateTree>;
    this.#options.data?.load(data);
    checkNames(replay as { readonly fields?: object } | null);
    this.store.load(replay);
    this.#newest?.forget();
  }
}

/** Refuses the rows of former versions, which had other names. */
function checkNames(replay: { readonly fields?: object } | null): void {
  if (replay?.fields === undefined || !("action" in replay.fields)) return;
  throw new TypeError(
    "Cannot restore transitions of an earlier version, whose rows have other names: expected a state of this one; its weights can start a new run",
  );
}

/** Creates a buffer, or reports in one line why not: most often too little memory. */
export function allocated<T>(capacity: number, create: () => T): T {
  try {
    return create();
  } catch (error) {
    throw new RangeError(
      `Cannot hold ${capacity} transitions: lower bufferSize or make observations smaller (${
        (error as Error).message
      })`,
      { cause: error },
    );
  }
}
