import { isStateRecord, isTypedArray } from "@bellman/files";
import type { SavedRows, StateTree, Statistics, VecEnv } from "@bellman/types";
import type { Callback, Listener, TrainContext } from "./callbacks.ts";
import type {
  Checkpoint,
  CheckpointNotes,
  CheckpointStore,
} from "./checkpoint_store.ts";
import type { Divergence } from "./diverged.ts";
import { checkNames, layersOf } from "./episodes.ts";
import { type EvaluationResult, summarizeEpisodes } from "./evaluate.ts";
import type {
  CheckpointOptions,
  EvaluationOptions,
  TrainOptions,
} from "./train_options.ts";

/** Options of training. */
const OPTIONS: readonly (keyof TrainOptions)[] = [
  ...["totalTimesteps", "seed", "logInterval", "episodeWindow"] as const,
  ...["loggers", "hyperparameters", "callbacks", "evaluation"] as const,
  ...["checkpoints", "resumeFrom", "onWarning", "signal"] as const,
  ...["progress", "now"] as const,
];

/** Options of its evaluations. */
const OF_EVALUATION: readonly (keyof EvaluationOptions)[] = [
  ...["env", "everyTimesteps", "episodes", "maxSteps"] as const,
  ...["deterministic", "seed"] as const,
];

/** Options of its checkpoints. */
const OF_CHECKPOINTS: readonly (keyof CheckpointOptions)[] = [
  ...["store", "everyTimesteps", "keepLast", "notes"] as const,
];

/**
 * Throws a one-line RangeError on numbers that make no sense, and a TypeError on options
 * that there are not and where evaluations share an environment, or what is inside of
 * it, with training.
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
  checkNames(options, OPTIONS, "train");
  checkNames(evaluation ?? {}, OF_EVALUATION, "evaluation of train");
  checkNames(checkpoints ?? {}, OF_CHECKPOINTS, "checkpoints of train");
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

/** Parts of a checkpoint's state. */
export interface ResumableState {
  loop: { [key: string]: StateTree };
  callbacks: StateTree;
  algorithm: StateTree;
  env: StateTree;
}

/** Throws a one-line TypeError on a state that no training run has made. */
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

/** Tests of further values of a loop's state, which may be missing. */
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

/** True for returns and lengths of episodes. */
function isEvaluation(value: StateTree): boolean {
  return isStateRecord(value) &&
    [value.returns, value.lengths].every((it) => isTypedArray(it));
}

/**
 * Throws a one-line TypeError unless an algorithm took over a state whole: an
 * array that is too short, for one, is copied without an error.
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
 * Rows that the states of checkpoints have outside of their files, such as those of
 * a replay buffer: they stay as long as their checkpoint does.
 */
export class CheckpointRows {
  readonly #rows: SavedRows;
  readonly #store: CheckpointStore;
  /** Rows by the path of the checkpoint. */
  readonly #ofPaths = new Map<string, StateTree>();

  constructor(rows: SavedRows, store: CheckpointStore) {
    this.#rows = rows;
    this.#store = store;
  }

  /** True where the state has rows outside its file. */
  has(state: StateTree): boolean {
    return this.#rowsOf(state) !== undefined;
  }

  /** Remembers the rows of a checkpoint. */
  note({ path, state }: Pick<Checkpoint, "path" | "state">): void {
    const rows = this.#rowsOf(state);
    if (rows === undefined) this.#ofPaths.delete(path);
    else this.#ofPaths.set(path, rows);
  }

  /** Remembers the rows of all numbered checkpoints that can be read but one. */
  noteOthers(step: number): void {
    for (const info of this.#store.list().checkpoints) {
      if (info.step === step) continue;
      try {
        this.note(this.#store.load(info.step));
      } catch {
        // Nothing will resume from it.
      }
    }
  }

  /** Keeps the rows of the checkpoints that there are, and releases all others. */
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

/** Makes a best checkpoint that cannot be read again from the numbered one of its step. */
export function mendBest(
  store: CheckpointStore,
  { step, bestStep, onWarning, onSound }: {
    /** Step that is resumed from. */
    step: number;
    /** Step of the best evaluation until then, if there was one. */
    bestStep: number | undefined;
    onWarning: (line: string) => void;
    /** Takes the best one, which may be of a later step. */
    onSound?: (checkpoint: Pick<Checkpoint, "path" | "state">) => void;
  },
): void {
  const own = store.notes(step);
  const load = (which: number | "best") => {
    const checkpoint = store.load(which);
    if (isSameRun(checkpoint.notes, own)) return checkpoint;
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

/** Length of a run, which grows where it is prolonged. */
const LENGTH = /totalTimesteps\W+\d+/g;

/** Notes tell one run from another, but for its length and what its logs hold at a step. */
function isSameRun(a: CheckpointNotes, b: CheckpointNotes): boolean {
  const [one, other] = [a, b].map((notes) => (key: string) =>
    JSON.stringify(notes[key]).replaceAll(LENGTH, "")
  );
  return Object.keys(a).every((key) =>
    key === "logs" || b[key] === undefined || one(key) === other(key)
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

/** Finds the first multiple of an interval after a step. */
export function nextMultiple(step: number, interval: number): number {
  return (Math.floor(step / interval) + 1) * interval;
}

/** Steps of a run without an end, as far as its intervals go. */
const ENDLESS = 1_000_000;

/** Divides the steps of a run into a number of parts. */
export function stepsOfPart(totalTimesteps: number, parts: number): number {
  const steps = totalTimesteps === Infinity ? ENDLESS : totalTimesteps;
  return Math.ceil(steps / parts);
}

/** Progress of a run at a checkpoint. */
export interface RunStatus {
  /** True where nothing is left to train or to evaluate: resuming gives the same result. */
  readonly hasEnded: boolean;
  /** The reason that a callback gave to stop, if one did. */
  readonly stopReason?: string;
  /** Step of the best evaluation, if there was one. */
  readonly bestStep?: number;
}

/**
 * Reads from a checkpoint's state how far the run had come.
 *
 * @param state The state that {@link train} saved.
 * @returns Its end, stop reason and best evaluation.
 * @throws {TypeError} When it is not the state of a training run.
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

/** Hooks whose result may end the run. */
type Hook = Exclude<keyof Callback, "name" | "onEnd" | "save" | "load">;

/** Calls the callbacks, and remembers the first request to stop. */
export class CallbackList {
  /** The first reason given. */
  stopReason: string | undefined;
  #callbacks: readonly Callback[];
  #names: readonly string[];

  constructor(callbacks: readonly Callback[]) {
    this.#callbacks = callbacks;
    this.#names = uniqueNames(callbacks, "callback");
  }

  /** True where a callback has the hook; without this, each step would wait for nobody. */
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

  /** Restores callbacks; those that the state does not know start over. */
  load(state: StateTree): void {
    const states = state as Record<string, StateTree>;
    this.#callbacks.forEach((callback, i) => {
      const name = this.#names[i];
      if (Object.hasOwn(states, name)) callback.load?.(states[name]);
    });
  }
}

/** Gives names by which states are saved; the second of a name gets a number. */
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
 * Statistics that must stay finite: losses, gradient norms and entropies. Others may
 * be NaN for good reasons, such as `explained_variance` when all returns are equal.
 */
const GUARDED = /loss|grad_norm|entropy/;

/** Finds the first guarded statistic that is not finite. */
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

/** Name of a statistic, or path in a state, and the number there. */
export type Found = Pick<Divergence, "statistic" | "value">;

/**
 * Finds the first array of a checkpoint that holds a number which it must not.
 *
 * Arrays of the algorithm (parameters, optimizer, rollout or replay) and of the
 * loop are finite. Those of the vector environment (observations, running
 * statistics, returns) hold no NaN; an infinity may be a bound that has not been
 * reached yet. The own state of single environments, below `envs`, of callbacks
 * and of the caller is theirs: what comes of it is checked, or none of it is
 * learned from.
 *
 * @param state State of a run, or parts of it.
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
    // Nearly all are finite, which one number shows.
    if (sumOfZeros(tree) === 0) return undefined;
    const value = tree.find((it) => !isFine(it));
    return value === undefined ? undefined : { statistic: path, value };
  }
  if (!Array.isArray(tree) && !isStateRecord(tree)) return undefined;
  for (const [key, node] of Object.entries(tree as StateTree[])) {
    if (key === "envs") continue;
    const found = oddArray(node, path === "" ? key : `${path}/${key}`, isFine);
    if (found) return found;
  }
}

function sumOfZeros(values: Float32Array | Float64Array): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] * 0;
  return sum;
}
