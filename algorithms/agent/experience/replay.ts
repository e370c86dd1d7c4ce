import {
  Hindsight,
  type HindsightOptions,
  ReplayBuffer,
  type ReplayBufferOptions,
} from "@bellman/buffers";
import type { RandomStream, TensorData, TensorType } from "@bellman/compute";
import {
  choicesOf,
  nameParts,
  type ObservationInput,
  type ObservationInputArrays,
  partsNamed,
  type PerPart,
} from "@bellman/policies";
import type { StateTree, Statistics, VecStep } from "@bellman/types";
import * as tf from "@tensorflow/tfjs";
import { FLAG, NUMBER, rowsOf } from "./_tensor_types.ts";
import type { AgentContext, Arrays, Moment, Tensors } from "./context.ts";
import type {
  AgentRuntime,
  Decision,
  Experience,
  ExperienceSpec,
} from "./experience.ts";
import { NewestFrames, type Transition } from "./newest_frames.ts";
import { nextActionMasks, nextObservations } from "./observations.ts";
import { ReplayStore, type ReplayStoreOptions } from "./replay_store.ts";

/** Options of {@link replay}. */
export interface ReplayOptions extends ReplayStoreOptions {
  /** Capacity in transitions. */
  readonly bufferSize: number;
  /** Batch size in transitions. */
  readonly batchSize: number;
  /** Steps of all environments that are collected before the first update. */
  readonly learningStarts: number;
  /**
   * Steps of all environments between two rounds of updates.
   *
   * @default 1
   */
  readonly trainFrequency?: number;
  /**
   * Updates per round; -1 makes as many as transitions were collected.
   *
   * @default 1
   */
  readonly gradientSteps?: number;
  /**
   * Steps over which rewards are summed.
   *
   * @default 1
   */
  readonly nSteps?: number;
  /**
   * Discount of these sums.
   *
   * @default 0.99
   */
  readonly gamma?: number;
  /**
   * True where a batch also has the observations between the summed rewards.
   *
   * @default false
   */
  readonly between?: boolean;
  /**
   * True where the value of the last observation counts where a time limit cut
   * an episode; false treats truncation as termination.
   *
   * @default true
   */
  readonly bootstrapTruncated?: boolean;
  /**
   * Goals that were reached after all stand in for those that were pursued, of
   * environments with goals.
   *
   * @default null
   */
  readonly hindsight?: HindsightGoals | null;
}

/** Choice of the goals that stand in, and how many rows get one for each other row. */
export type HindsightGoals = Pick<HindsightOptions, "strategy" | "k">;

/**
 * Creates an experience of transitions that are stored and sampled. They are
 * stored as the environment returned them, and sampled as the policy sees them now.
 *
 * A batch has encoded `observations`, `actions`, `rewards`, `terminated` (0 or 1) and
 * `nextObservations`; with several steps `discounts` of what follows and, on
 * request, `betweenObservations` and `betweenDiscounts`; with priorities
 * `weights`, and then an update returns `tdErrors` among its results. Where actions
 * are masked, all observations have masks, as `nextActionMasks`.
 *
 * @param options Sizes and update frequency.
 * @returns The `experience` of an algorithm's parts.
 *
 * @example
 * ```ts
 * import { replay } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const experience = replay({
 *   bufferSize: 1000,
 *   batchSize: 32,
 *   learningStarts: 100,
 * });
 * assertEquals(experience.kind, "replay");
 * ```
 */
export function replay(options: ReplayOptions): ExperienceSpec<ReplayOptions> {
  return {
    kind: "replay",
    options,
    make: (runtime) => new Replay(options, runtime),
  };
}

/**
 * Throws unless a buffer has room for a step, a batch and the first collection.
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
 * Finds settings of replay without effect, and why.
 *
 * @param options Kind of replay.
 * @returns Reasons by setting, for the `idle` of an algorithm.
 *
 * @example
 * ```ts
 * import { idleReplay } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   idleReplay({ replay: "uniform" }).priorityAlpha,
 *   "uniform replay has no priorities",
 * );
 * assertEquals(idleReplay({ replay: "proportional" }), {});
 * ```
 */
export function idleReplay(
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

/** Names of the observations of a batch. */
const OBSERVATIONS = [
  "observations",
  "nextObservations",
  "betweenObservations",
] as const;

class Replay implements Experience {
  readonly batch: Readonly<Record<string, TensorType>>;
  readonly #options: ReplayOptions;
  readonly #runtime: AgentRuntime;
  readonly replay: ReplayStore<ReplayBuffer>;
  readonly #batch: ReturnType<ReplayBuffer["batch"]>;
  /** Arrays of the batch by the names of an update. */
  readonly #arrays: Arrays;
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

  constructor(options: ReplayOptions, runtime: AgentRuntime) {
    const { batchSize, nSteps = 1, gamma = 0.99 } = options;
    const { numEnvs, stackedFrames = 1, observations, policy } = runtime;
    const { observationInput: input } = observations.encoder;
    const action = {
      shape: policy.distribution.actionShape,
      dtype: policy.distribution.actionDtype,
    };
    const choices = runtime.masked ? choicesOf(policy) : 0;
    const mask = { ...FLAG, shape: [choices] };
    this.#options = options;
    this.#runtime = runtime;
    this.#choices = choices;
    this.#newest = stackedFrames > 1
      ? new NewestFrames(input as ObservationInput, {
        numEnvs,
        frames: stackedFrames,
      })
      : undefined;
    const frame: PerPart<ObservationInput> = this.#newest?.frame ?? input;
    const next = (name: string) =>
      Object.fromEntries(
        Object.keys(nameParts("", frame))
          .map((part) => [`${name}${part}`, `observation${part}`]),
      );
    const capacity = options.bufferSize - options.bufferSize % numEnvs;
    const sizes: ReplayBufferOptions = {
      capacity,
      numEnvs,
      fields: {
        ...nameParts("observation", frame),
        action,
        reward: NUMBER,
        terminated: FLAG,
        truncated: FLAG,
        ...(choices > 0 && { actionMask: mask }),
      },
      episodes: {
        next: {
          ...next("nextObservation"),
          ...(choices > 0 && { nextActionMask: "actionMask" }),
        },
        ...(this.#newest && { stack: { observation: stackedFrames } }),
        ...(nSteps > 1 && {
          nStep: {
            steps: nSteps,
            gamma,
            ...(options.between && {
              between: {
                ...next("betweenObservations"),
                ...(choices > 0 && { betweenActionMasks: "actionMask" }),
              },
            }),
          },
        }),
      },
    };
    this.replay = new ReplayStore(options, {
      name: "transitions",
      make: (parts) =>
        allocated(capacity, () => new ReplayBuffer({ ...sizes, ...parts })),
    });
    // The arrays of a batch do not depend on the buffer's capacity.
    const capacityOfFew = numEnvs * stackedFrames;
    const small = new ReplayBuffer({ ...sizes, capacity: capacityOfFew });
    this.#batch = small.batch(batchSize);
    // Wrong settings are refused at once, also where a file is opened later.
    this.#goalsOf(small);
    const { hasPriorities } = this.replay;
    const drawn = this.#batch as Record<string, TensorData>;
    const seen = policy.observationInput as PerPart<ObservationInput>;
    const kinds = nameParts("", seen), parts = Object.keys(kinds);
    const observed = (name: string, field: string) =>
      parts.map((part) => [name + part, drawn[field + part], kinds[part]]);
    const discounts = { ...NUMBER, shape: [nSteps - 1] };
    const inputs = ([
      ...observed("observations", "observation"),
      ...observed("nextObservations", "nextObservation"),
      ...observed("betweenObservations", "betweenObservations"),
      ["betweenDiscounts", drawn.betweenDiscount, discounts],
      ["actions", drawn.action, action],
      ["rewards", drawn.reward, NUMBER],
      ["terminated", drawn.terminated, FLAG],
      ["discounts", drawn.discount, NUMBER],
      ["weights", hasPriorities ? drawn.weights : undefined, NUMBER],
      ["actionMasks", drawn.actionMask, mask],
      ["nextActionMasks", drawn.nextActionMask, mask],
      ["betweenActionMasks", drawn.betweenActionMasks, mask],
    ] as [string, TensorData, TensorType][])
      .filter(([, array]) => array !== undefined)
      .map(([name, array, type]) => {
        const size = type.shape.reduce((product, it) => product * it, 1);
        return { name, array, type, rows: array.length / size };
      });
    this.#arrays = Object.fromEntries(
      inputs.map(({ name, array }) => [name, array]),
    );
    this.batch = Object.fromEntries(
      inputs.map(({ name, rows, type }) => [name, rowsOf(rows, type)]),
    );
    this.#views = OBSERVATIONS.flatMap((name) => {
      const part = inputs.find((it) => it.name === name + parts[0]);
      return part === undefined ? [] : [[name, observations.view(part.rows)]];
    });
    this.#next = observations.buffer(numEnvs);
    this.#rewards = new Float32Array(numEnvs);
    this.#scaledRewards = new Float32Array(batchSize);
    let span = 0;
    for (let i = 0; i < nSteps; i++) span += gamma ** i;
    this.#span = span;
  }

  add({ observations, actions, actionMasks }: Decision, step: VecStep): void {
    const { buffer } = this.replay;
    const { rewards, observations: { encoder } } = this.#runtime;
    const { terminated, truncated } = step;
    const next = encoder.observationArray(
      nextObservations(step),
      this.#next,
    );
    this.#rewards.set(step.rewards);
    rewards?.see(step.rewards, step);
    const seen = {
      observation: observations,
      nextObservation: next,
      terminated,
      truncated,
    };
    // Frames are stacked of observations without parts alone.
    this.#newest?.take(seen as Transition);
    const { observation, nextObservation, ...ends } = seen;
    buffer.add({
      ...nameParts("observation", observation),
      ...nameParts("nextObservation", nextObservation),
      ...ends,
      action: actions,
      reward: this.#rewards,
      ...(actionMasks && {
        actionMask: actionMasks,
        nextActionMask: nextActionMasks(step, this.#choices),
      }),
    });
  }

  get updatesPerStep(): number {
    const { trainFrequency = 1 } = this.#options;
    return 1 / (trainFrequency * this.#runtime.numEnvs);
  }

  endEpisodes(): void {
    const { bootstrapTruncated = true } = this.#options;
    this.replay.buffer
      .endEpisodes(bootstrapTruncated ? "truncated" : "terminated");
    this.#runtime.rewards?.reset?.();
    this.#newest?.begin();
  }

  due({ steps }: Moment): number {
    const { numEnvs } = this.#runtime;
    const { learningStarts, trainFrequency = 1, gradientSteps = 1 } =
      this.#options;
    if (this.replay.buffer.added < learningStarts) return 0;
    if (steps / numEnvs % trainFrequency !== 0) return 0;
    return gradientSteps === -1 ? trainFrequency * numEnvs : gradientSteps;
  }

  draw(moment: Moment, random: RandomStream): Arrays {
    this.replay.anneal(moment);
    const { buffer } = this.replay;
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
    const batch: Record<string, TensorData> = { ...this.#arrays };
    for (const [name, view] of this.#views) {
      const kept = partsNamed(name, batch) as ObservationInputArrays;
      Object.assign(batch, nameParts(name, view(kept)));
    }
    const { rewards } = this.#runtime;
    if (rewards !== undefined) {
      rewards.scale(batch.rewards, this.#scaledRewards, this.#span);
      batch.rewards = this.#scaledRewards;
    }
    return batch;
  }

  /** Prepares to relabel the rows of a buffer, where goals are to stand in. */
  #goalsOf(buffer: ReplayBuffer): Hindsight | undefined {
    const { hindsight } = this.#options;
    if (!hindsight) return undefined;
    if (this.#hindsight?.buffer !== buffer) {
      const of = this.#runtime.goals!;
      const goals = new Hindsight(buffer, {
        ...hindsight,
        reward: (...goals) => of.computeReward!(...goals),
        terminated: of.computeTerminated?.bind(of),
        achieved: "nextObservation.achieved_goal",
        desired: ["observation.desired_goal", "nextObservation.desired_goal"],
      });
      this.#hindsight = { buffer, goals };
    }
    return this.#hindsight.goals;
  }

  /** Encodes observations, and converts the flags to numbers. */
  prepare(drawn: Tensors): { batch: Tensors } {
    const { policy } = this.#runtime;
    const encoded = this.#views.map(([name]) =>
      [name, policy.encode(partsNamed(name, drawn))] as const
    );
    const terminated = tf.cast(drawn.terminated, "float32");
    return {
      batch: { ...drawn, ...Object.fromEntries(encoded), terminated },
    };
  }

  learned({ tdErrors }: Arrays): Statistics {
    this.replay.prioritize(this.#batch.slots, tdErrors);
    return {};
  }

  save(): StateTree {
    return { replay: this.replay.save() };
  }

  /**
   * Restores what `save` returned; without transitions the buffer is empty, and the
   * first stacks of frames sampled then repeat the first frame.
   */
  load(state: StateTree): void {
    this.replay.load((state as Record<string, StateTree>).replay);
    this.#newest?.forget();
  }
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
