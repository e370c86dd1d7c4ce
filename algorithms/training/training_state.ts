import { refuseUnknown } from "@bellman/files/options";
import { isStateRecord, isTypedArray } from "@bellman/files";
import type { SavedRows, StateTree, Statistics, VecEnv } from "@bellman/types";
import type { Callback, Listener, TrainContext } from "./callbacks.ts";
import type {
  Checkpoint,
  CheckpointNotes,
  CheckpointStore,
} from "./checkpoint_store.ts";
import type { Divergence } from "./diverged.ts";
import { layersOf } from "./episodes.ts";
import { type EvaluationResult, summarizeEpisodes } from "./evaluate.ts";
import {
  progressCalls,
  type ProgressReporter,
  shownIfLong,
  terminalProgress,
} from "./progress.ts";
import type {
  CheckpointOptions,
  EvaluationOptions,
  TrainOptions,
} from "./train_options.ts";

/** Names of training options. */
const OPTIONS: readonly (keyof TrainOptions)[] = [
  ...["totalTimesteps", "seed", "logInterval", "episodeWindow"] as const,
  ...["loggers", "hyperparameters", "callbacks", "evaluation"] as const,
  ...["checkpoints", "resumeFrom", "onWarning", "signal"] as const,
  ...["progress", "onProgress", "now"] as const,
];

/** Names of evaluation options. */
const OF_EVALUATION: readonly (keyof EvaluationOptions)[] = [
  ...["env", "everyTimesteps", "episodes", "maxSteps"] as const,
  ...["deterministic", "seed"] as const,
];

/** Names of checkpoint options. */
const OF_CHECKPOINTS: readonly (keyof CheckpointOptions)[] = [
  ...["store", "everyTimesteps", "keepLast", "notes"] as const,
];

/**
 * Throws a RangeError for numbers out of range, and a TypeError for unknown options and
 * for evaluations that share an environment, or a wrapped one, with training.
 */
export function checkOptions(
  options: TrainOptions | undefined,
  env: VecEnv | undefined,
): void {
  if (options?.totalTimesteps === undefined) {
    throw new RangeError(
      "Cannot train without totalTimesteps: expected a whole number of at least 1, or Infinity",
    );
  }
  const { evaluation, checkpoints } = options;
  refuseUnknown(options, OPTIONS, "train");
  refuseUnknown(evaluation ?? {}, OF_EVALUATION, "evaluation of train");
  refuseUnknown(checkpoints ?? {}, OF_CHECKPOINTS, "checkpoints of train");
  if (
    evaluation &&
    layersOf(evaluation.env).some((it) => layersOf(env).includes(it))
  ) {
    throw new TypeError(
      "Cannot evaluate in the environment of training, which each evaluation would reset: expected another one as evaluation.env",
    );
  }
  const counts: [string, number | undefined][] = [
    ["totalTimesteps", options.totalTimesteps],
    ["logInterval", options.logInterval],
    ["episodeWindow", options.episodeWindow],
    ["evaluation.everyTimesteps", evaluation?.everyTimesteps],
    ["evaluation.episodes", evaluation?.episodes],
    ["evaluation.maxSteps", evaluation?.maxSteps],
    ["checkpoints.everyTimesteps", checkpoints?.everyTimesteps],
    ["checkpoints.keepLast", checkpoints?.keepLast],
  ];
  for (const [name, value = 1] of counts) {
    if (value === Infinity || Number.isSafeInteger(value) && value >= 1) {
      continue;
    }
    throw new RangeError(
      `Cannot train with ${name} ${value}: it must be a whole number of at least 1`,
    );
  }
}

/** Returns what shows the progress of a run. */
export function progressReporters(
  options: TrainOptions,
): readonly ProgressReporter[] {
  const { onProgress, callbacks, loggers } = options;
  const { now = () => performance.now() } = options;
  const prints = [callbacks, loggers].some((it) => it && it.length > 0);
  const progress = options.progress ?? !prints;
  const bar = progress === true ? terminalProgress(now) : progress || undefined;
  const display = bar && options.progress === undefined
    ? shownIfLong(bar, now)
    : bar;
  const calls = onProgress && progressCalls(onProgress, now);
  return [display, calls].filter((it) => it !== undefined);
}

/** Parts of a checkpoint's state. */
export interface ResumableState {
  loop: { [key: string]: StateTree };
  callbacks: StateTree;
  algorithm: StateTree;
  env: StateTree;
}

/** Throws a TypeError if a state is not that of a training run. */
export function checkResumable(state: StateTree): ResumableState {
  const parts = ["loop", "callbacks", "algorithm", "env"];
  const missing = isStateRecord(state)
    ? parts.find((part) => !Object.hasOwn(state, part))
    : "loop";
  if (missing !== undefined) {
    throw new TypeError(
      `Cannot resume: the state has no '${missing}', it is not of a training run`,
    );
  }
  const { loop } = state as unknown as ResumableState;
  for (const name of ["step", "updates", "episodes"]) {
    const count = isStateRecord(loop) ? loop[name] : undefined;
    if (!Number.isSafeInteger(count) || count as number < 0) {
      throw new TypeError(
        `Cannot resume: the state's ${name} is ${count}, wanted a whole number`,
      );
    }
  }
  for (const [name, isRight] of Object.entries(OTHERS)) {
    const value = loop[name] ?? null;
    const isMissing = value === null && name !== "window" && name !== "tracker";
    if (isMissing || isRight(value)) continue;
    throw new TypeError(
      `Cannot resume: the state's ${name} is of another kind than a training run's`,
    );
  }
  return state as unknown as ResumableState;
}

/** Checks of optional values of the loop's state. */
const OTHERS: Readonly<Record<string, (value: StateTree) => boolean>> = {
  stopReason: (it) => typeof it === "string",
  hasEnded: (it) => typeof it === "boolean",
  elapsedSeconds: (it) => typeof it === "number" && it >= 0,
  bestStep: (it) => Number.isSafeInteger(it),
  nextEvaluation: (it) => typeof it === "number",
  evaluatedAt: (it) => typeof it === "number",
  lastEvaluation: isEvaluation,
  bestEvaluation: isEvaluation,
  window: isEvaluation,
  tracker: isEvaluation,
};

/** Returns true for a saved evaluation. */
function isEvaluation(value: StateTree): boolean {
  return isStateRecord(value) &&
    [value.returns, value.lengths].every((it) => isTypedArray(it));
}

/**
 * Throws a TypeError unless an agent restored a state completely: it may copy an array
 * that is too short, for example, without an error.
 */
export function checkRestored(
  saved: StateTree,
  restored: StateTree,
  path = "algorithm",
): void {
  const kind = (node: StateTree | undefined): string =>
    isTypedArray(node)
      ? `${node.constructor.name} of ${node.length}`
      : Array.isArray(node)
      ? `list of ${node.length}`
      : node === null
      ? "null"
      : typeof node;
  if (kind(saved) !== kind(restored)) {
    throw new TypeError(
      `Cannot resume: '${path}' of the state is ${kind(saved)}, wanted ${
        kind(restored)
      }`,
    );
  }
  if (!Array.isArray(saved) && !isStateRecord(saved)) return;
  const [before, after] = [saved, restored] as Record<string, StateTree>[];
  for (const key of Object.keys({ ...before, ...after })) {
    checkRestored(before[key], after[key], `${path}/${key}`);
  }
}

/**
 * Rows of checkpoints outside their files, such as those of a replay buffer: kept as
 * long as their checkpoint.
 */
export class CheckpointRows {
  readonly #rows: SavedRows;
  readonly #store: CheckpointStore;
  /** Rows by path of the checkpoint. */
  readonly #ofPaths = new Map<string, StateTree>();

  constructor(rows: SavedRows, store: CheckpointStore) {
    this.#rows = rows;
    this.#store = store;
  }

  /** Returns true if the state has rows outside its file. */
  has(state: StateTree): boolean {
    return this.#rowsOf(state) !== undefined;
  }

  /** Remembers the rows of a checkpoint. */
  note({ path, state }: Pick<Checkpoint, "path" | "state">): void {
    const rows = this.#rowsOf(state);
    if (rows === undefined) this.#ofPaths.delete(path);
    else this.#ofPaths.set(path, rows);
  }

  /** Remembers the rows of all readable numbered checkpoints but one. */
  noteOthers(step: number): void {
    for (const info of this.#store.list().checkpoints) {
      if (info.step === step) continue;
      try {
        this.note(this.#store.load(info.step));
      } catch {
        // No run will resume from it.
      }
    }
  }

  /** Keeps the rows of existing checkpoints, and releases all others. */
  keep(): void {
    if (this.#ofPaths.size === 0) return;
    const { checkpoints, best } = this.#store.list();
    const paths = new Set([...checkpoints, best].map((it) => it?.path));
    for (const path of this.#ofPaths.keys()) {
      if (!paths.has(path)) this.#ofPaths.delete(path);
    }
    this.#rows.keep([...this.#ofPaths.values()]);
  }

  #rowsOf(state: StateTree): StateTree | undefined {
    return this.#rows.of((state as { [key: string]: StateTree }).algorithm);
  }
}

/** Restores a damaged best checkpoint from the numbered one of its step. */
export function mendBest(
  store: CheckpointStore,
  { step, bestStep, onWarning, onSound }: {
    /** Step of the resumed checkpoint. */
    step: number;
    /** Step of the best evaluation so far, if any. */
    bestStep: number | undefined;
    onWarning: (line: string) => void;
    /** Receives the best checkpoint if it is readable; it may be of a later step. */
    onSound?: (checkpoint: Pick<Checkpoint, "path" | "state">) => void;
  },
): void {
  const notes = store.notes(step);
  const load = (which: number | "best") => {
    const checkpoint = store.load(which);
    if (isSameRun(checkpoint.notes, notes)) return checkpoint;
    throw new SyntaxError(
      "Cannot use the best checkpoint: it is of another run",
    );
  };
  try {
    const best = load("best");
    onSound?.(best);
  } catch (error) {
    if (bestStep === undefined) return;
    const why = (error as Error).message;
    try {
      const { state, notes } = load(bestStep);
      const { path } = store.save(bestStep, state, { best: true, notes });
      onSound?.({ path, state });
      onWarning(`${why}; it is made again from the checkpoint of that step`);
    } catch {
      onWarning(`${why}; the best policy, of step ${bestStep}, is lost`);
    }
  }
}

/** Length of a run, which grows if the run is prolonged. */
const LENGTH = /totalTimesteps\W+\d+/g;

/** Compares the notes of two runs, except their length and the logs' positions. */
function isSameRun(a: CheckpointNotes, b: CheckpointNotes): boolean {
  const [textOfA, textOfB] = [a, b].map((notes) => (key: string) =>
    JSON.stringify(notes[key]).replaceAll(LENGTH, "")
  );
  return Object.keys(a).every((key) =>
    key === "logs" || b[key] === undefined || textOfA(key) === textOfB(key)
  );
}

export function saveEvaluation(result?: EvaluationResult): StateTree {
  return result === undefined ? null : {
    returns: Float64Array.from(result.returns),
    lengths: Float64Array.from(result.lengths),
    cut: result.cut,
    successRate: result.successRate ?? null,
  };
}

export function loadEvaluation(state: StateTree): EvaluationResult | undefined {
  if (state === null) return undefined;
  const { returns, lengths, cut, successRate } = state as {
    returns: Float64Array;
    lengths: Float64Array;
    cut: number;
    successRate: number | null;
  };
  return {
    ...summarizeEpisodes([...returns], [...lengths], cut),
    ...(successRate !== null && { successRate }),
  };
}

/** Returns the first multiple of an interval after a step. */
export function nextMultiple(step: number, interval: number): number {
  return (Math.floor(step / interval) + 1) * interval;
}

/** Assumed length of an endless run, for its intervals. */
const ENDLESS = 1_000_000;

/** Divides the steps of a run into a number of parts. */
export function stepsOfPart(totalTimesteps: number, parts: number): number {
  const steps = totalTimesteps === Infinity ? ENDLESS : totalTimesteps;
  return Math.ceil(steps / parts);
}

/** Progress of a run at a checkpoint. */
export interface RunStatus {
  /** True if nothing is left to train or evaluate: resuming returns the same result. */
  readonly hasEnded: boolean;
  /** Reason of a callback that stopped the run, if one did. */
  readonly stopReason?: string;
  /** Step of the best evaluation, if any. */
  readonly bestStep?: number;
}

/**
 * Reads a run's progress from a checkpoint's state.
 *
 * @param state State that {@link train} saved.
 * @returns Its end, stop reason and best evaluation.
 * @throws {TypeError} If it is not the state of a training run.
 *
 * @example
 * ```ts
 * import { runStatus } from "@bellman/training";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(() => runStatus({ weights: 1 }), TypeError, "Cannot resume");
 * ```
 */
export function runStatus(state: StateTree): RunStatus {
  const { loop } = checkResumable(state);
  const { hasEnded, stopReason, bestStep } = loop;
  return {
    hasEnded: hasEnded === true,
    ...(typeof stopReason === "string" && { stopReason }),
    ...(typeof bestStep === "number" && { bestStep }),
  };
}

/** Callbacks' methods whose result may end the run. */
type Hook = Exclude<keyof Callback, "name" | "onEnd" | "save" | "load">;

/** Calls the callbacks, and keeps the first request to stop. */
export class CallbackList {
  /** Reason of the first request. */
  stopReason: string | undefined;
  #callbacks: readonly Callback[];
  #names: readonly string[];

  constructor(callbacks: readonly Callback[]) {
    this.#callbacks = callbacks;
    this.#names = uniqueNames(callbacks, "callback");
  }

  /** Returns true if a callback has the method; otherwise each step would await nothing. */
  has(hook: Hook): boolean {
    return this.#callbacks.some((callback) => callback[hook] !== undefined);
  }

  async notify(
    hook: Hook,
    context: TrainContext,
    event?: unknown,
  ): Promise<void> {
    for (let i = 0; i < this.#callbacks.length; i++) {
      const callback = this.#callbacks[i];
      const listener = callback[hook] as Listener<unknown> | undefined;
      if (listener === undefined) continue;
      const called = listener.call(callback, context, event);
      const result = called instanceof Promise ? await called : called;
      if (!result) continue;
      this.stopReason ??= result === "stop" ? this.#names[i] : result.reason;
    }
  }

  save(): StateTree {
    const states: Record<string, StateTree> = {};
    this.#callbacks.forEach((callback, i) => {
      if (callback.save) states[this.#names[i]] = callback.save();
    });
    return states;
  }

  /** Restores callbacks; those without a saved state start over. */
  load(state: StateTree): void {
    const states = state as Record<string, StateTree>;
    this.#callbacks.forEach((callback, i) => {
      const name = this.#names[i];
      if (Object.hasOwn(states, name)) callback.load?.(states[name]);
    });
  }
}

/** Makes unique names for saved states: the second of a name gets a number. */
export function uniqueNames(
  things: readonly { readonly name?: string }[],
  fallback: string,
): string[] {
  const counts = new Map<string, number>();
  return things.map(({ name = fallback }) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name} ${count}`;
  });
}

/**
 * Statistics that must stay finite: losses, gradient norms and entropies. Others may be
 * NaN, such as `explained_variance` if all returns are equal.
 */
const GUARDED = /loss|grad_norm|entropy/;

/** Finds the first statistic that must be finite and is not. */
export function divergedStatistic(
  statistics: Statistics,
): Found | undefined {
  for (const statistic in statistics) {
    const value = statistics[statistic];
    if (!Number.isFinite(value) && GUARDED.test(statistic)) {
      return { statistic, value };
    }
  }
}

/** Name of a statistic, or path in a state, with its value. */
export type Found = Pick<Divergence, "statistic" | "value">;

/**
 * Finds the first forbidden number in a checkpoint's arrays. Those of the agent
 * (parameters, optimizer, rollout or replay) and of the loop must be finite. Those of
 * the vector environment (observations, running statistics, returns) must not contain
 * NaN; an infinity may be a bound not reached yet. States of single environments, below
 * `envs`, of callbacks and of the caller are not checked: their results are, or nothing
 * is learned from them.
 *
 * @param state State of a run, or part of it.
 * @returns Path and number of the first one, if there is one.
 *
 * @example
 * ```ts
 * import { divergedArray } from "@bellman/training";
 * import { assertEquals } from "@std/assert";
 *
 * const algorithm = { weights: Float32Array.of(1, Infinity) };
 * assertEquals(divergedArray({ algorithm })?.value, Infinity);
 * ```
 */
export function divergedArray(
  { algorithm, loop, env }: Readonly<Record<string, StateTree>>,
): Pick<Divergence, "statistic" | "value"> | undefined {
  return oddArray(algorithm, "", Number.isFinite) ??
    oddArray(loop, "loop", Number.isFinite) ??
    oddArray(env, "env", (it) => !Number.isNaN(it));
}

function oddArray(
  tree: StateTree | undefined,
  path: string,
  isFine: (value: number) => boolean,
): Found | undefined {
  if (tree instanceof Float32Array || tree instanceof Float64Array) {
    // Fast check: nearly all arrays are finite.
    if (sumOfZeros(tree) === 0) return undefined;
    const value = tree.find((it) => !isFine(it));
    return value === undefined ? undefined : { statistic: path, value };
  }
  if (!Array.isArray(tree) && !isStateRecord(tree)) return undefined;
  for (const [key, node] of Object.entries(tree as StateTree[])) {
    if (key === "envs") continue;
    const odd = oddArray(node, path === "" ? key : `${path}/${key}`, isFine);
    if (odd) return odd;
  }
}

function sumOfZeros(values: Float32Array | Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] * 0;
  return sum;
}
