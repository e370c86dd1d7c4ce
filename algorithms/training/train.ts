import type {
  Batch,
  EpisodeStatistics,
  StateTree,
  Statistics,
  SteppingAlgorithm,
  Trainable,
  VecEnv,
} from "@bellman/types";
import type { TrainContext, TrainResult } from "./callbacks.ts";
import { checkObservations } from "@bellman/envs/checks";
import { TrainingDivergedError } from "./diverged.ts";
import {
  checkVecEnv,
  EpisodeTracker,
  EpisodeWindow,
  markTraining,
  NO_ROWS,
} from "./episodes.ts";
import {
  evaluate,
  type EvaluationResult,
  evaluationSeeds,
} from "./evaluate.ts";
import { EventLoopBreak } from "./event_loop.ts";
import type { ProgressReporter, ProgressState } from "./progress.ts";
import { RunLog } from "./run_log.ts";
import {
  CallbackList,
  checkOptions,
  CheckpointRows,
  checkRestored,
  checkResumable,
  divergedArray,
  divergedStatistic,
  type Found,
  loadEvaluation,
  mendBest,
  nextMultiple,
  progressReporters,
  type ResumableState,
  saveEvaluation,
  stepsOfPart,
} from "./training_state.ts";
import type { TrainOptions } from "./train_options.ts";

/**
 * Trains an agent. Each round steps all environments, passes the step to the agent and
 * calls its `update`; then it logs, evaluates, saves and stops when due.
 *
 * Log rows are written at the first update, at the first one after each `logInterval`
 * steps and at the end, after callbacks, with the names of {@link STATISTICS}:
 * `time/steps` and the like, `rollout/return_mean` and `rollout/length_mean` (means
 * over the last `episodeWindow` episodes), the update's statistics under `train/`, and
 * those of evaluations under `eval/`.
 *
 * On a terminal, one line shows the progress; see {@link TrainOptions.progress}.
 *
 * With `resumeFrom` the run continues bit for bit as if it had not been interrupted, if
 * agent, environment, callbacks and options are the same; loggers and checkpoint store
 * remove everything after the checkpoint.
 *
 * Without it the environment is reset, and the agent's `endEpisodes` called, also at
 * the end: an agent may be trained several times. Its episodes do not continue in
 * another call.
 *
 * @param algorithm Agent to train; not closed.
 * @param env Training environment; none if the agent steps its own, or learns from data
 * alone. Not closed.
 * @param options Length, evaluations, checkpoints, logs.
 * @returns Final numbers of the run, and the reason for its end.
 * @throws {TrainingDivergedError} If a loss or parameter is no longer finite.
 * @throws {RangeError} If a number among the options is out of its range.
 * @throws {TypeError} If evaluations would reset the training environment.
 *
 * @example
 * ```ts
 * import { train } from "@bellman/training";
 * import type { Trainable, VecEnv } from "@bellman/types";
 * import { assertEquals } from "@std/assert";
 *
 * // An environment whose episodes take one step and give a reward of 1.
 * const env: VecEnv = {
 *   numEnvs: 2,
 *   observationSpace: { type: "multiBinary", n: 1 },
 *   actionSpace: { type: "discrete", n: 2 },
 *   reset: () => new Float32Array(2),
 *   step: () => ({
 *     observations: new Float32Array(2),
 *     finalObservations: new Float32Array(2),
 *     rewards: new Float64Array([1, 1]),
 *     terminated: new Uint8Array([1, 1]),
 *     truncated: new Uint8Array([0, 0]),
 *   }),
 *   save: () => null,
 *   load: () => {},
 *   observations: () => new Float32Array(2),
 *   close: () => {},
 * };
 * const algorithm: Trainable = {
 *   act: () => new Int32Array(2),
 *   observe: () => {},
 *   update: () => ({ value_loss: 0 }),
 *   save: () => null,
 *   load: () => {},
 *   policy: () => ({ act: () => new Int32Array(2) }),
 * };
 * const result = await train(algorithm, env, { totalTimesteps: 10 });
 * assertEquals(result.stopReason, "completed");
 * assertEquals(result.step, 10);
 * assertEquals(result.meanReturn, 1);
 * ```
 */
export async function train(
  algorithm: Trainable | SteppingAlgorithm,
  env: VecEnv | null | undefined,
  options: TrainOptions,
): Promise<TrainResult> {
  const { loggers = [] } = options ?? {};
  try {
    return await new TrainingLoop(algorithm, env ?? undefined, options).run();
  } finally {
    for (const logger of loggers) logger.close();
  }
}

/** Default number of numbered checkpoints to keep. */
const KEEP_LAST = 3;

/** Default number of evaluations of a run. */
const EVALUATIONS = 20;

/** One call of `train`: its counters, and the work of each step. */
class TrainingLoop implements TrainContext, ProgressState {
  readonly algorithm: Trainable | SteppingAlgorithm;
  readonly env: VecEnv | undefined;
  readonly totalTimesteps: number;
  step = 0;
  startStep = 0;
  updates = 0;
  episodes = 0;

  #options: TrainOptions;
  readonly #progress: readonly ProgressReporter[];
  /** Steps of the first two updates of this call. */
  readonly #firstUpdates: number[] = [];
  /** Warnings about episodes that were already given. */
  #notices = new Set<string>();
  #onWarning: (line: string) => void;
  #log: RunLog;
  #callbacks: CallbackList;
  #window: EpisodeWindow;
  #tracker: EpisodeTracker;
  #observations!: Batch;
  #now: () => number;
  #startedAt = 0;
  #secondsBefore = 0;
  #nextEvaluation: number;
  /** Step of the last evaluation. */
  #evaluatedAt = -1;
  #nextCheckpoint: number;
  #savedAt = -1;
  /** True if the last checkpoint is that of a finished run. */
  #savedEnd = false;
  #lastCheckpoint: string | undefined;
  #lastEvaluation: EvaluationResult | undefined;
  #bestEvaluation: EvaluationResult | undefined;
  #bestStep: number | undefined;
  /** Rows of checkpoints outside their files, as of a replay buffer. */
  readonly #rows: CheckpointRows | undefined;

  constructor(
    algorithm: Trainable | SteppingAlgorithm,
    env: VecEnv | undefined,
    options: TrainOptions,
  ) {
    checkOptions(options, env);
    if (env !== undefined) checkVecEnv(env, "train in");
    this.algorithm = algorithm;
    this.env = env;
    this.totalTimesteps = options.totalTimesteps;
    this.#options = options;
    this.#progress = progressReporters(options);
    this.#onWarning = options.onWarning ?? ((line) => {
      this.#clearProgress();
      // deno-lint-ignore no-console -- default target of warnings
      console.warn(line);
    });
    this.#log = new RunLog(options);
    this.#callbacks = new CallbackList(options.callbacks ?? []);
    this.#window = new EpisodeWindow(options.episodeWindow ?? 100);
    this.#tracker = new EpisodeTracker(env?.numEnvs ?? 0);
    this.#now = options.now ?? (() => performance.now());
    this.#nextEvaluation = this.#evaluateEvery;
    this.#nextCheckpoint = options.checkpoints?.everyTimesteps ?? Infinity;
    const store = options.checkpoints?.store;
    const { rows } = algorithm;
    if (rows && store) this.#rows = new CheckpointRows(rows, store);
  }

  /** Steps between two evaluations. */
  get #evaluateEvery(): number {
    const { evaluation } = this.#options;
    if (evaluation === undefined) return Infinity;
    return evaluation.everyTimesteps ??
      stepsOfPart(this.totalTimesteps, EVALUATIONS);
  }

  get elapsedSeconds(): number {
    return this.#secondsBefore + (this.#now() - this.#startedAt) / 1000;
  }

  get meanReturn(): number {
    return this.#window.meanReturn;
  }

  get meanLength(): number {
    return this.#window.meanLength;
  }

  record(name: string, value: number): void {
    this.#log.record(name, value);
  }

  async run(): Promise<TrainResult> {
    const release = markTraining(this.env);
    let stopReason: string;
    try {
      stopReason = await this.#train();
    } finally {
      release();
      // After an error the bar would stay before its message.
      this.#clearProgress();
    }
    const result = this.#result(stopReason);
    for (const callback of this.#options.callbacks ?? []) {
      await callback.onEnd?.(this, result);
    }
    this.#endEpisodes();
    if (this.#hasEnded()) this.#warnOfFewUpdates();
    return result;
  }

  /** Starts or resumes the run, steps until its end, and returns the reason. */
  async #train(): Promise<string> {
    const { resumeFrom, seed } = this.#options;
    const start = seed === undefined ? {} : { seed };
    await this.algorithm.ready?.();
    if (resumeFrom !== undefined) {
      await this.#resume(resumeFrom);
    } else {
      if (this.env !== undefined) {
        this.#endEpisodes();
        this.#observations = this.env.reset(start);
        const { numEnvs, actionSpace } = this.env;
        const place = { numEnvs, actionSpace, step: 0 };
        checkObservations(this.#observations, place);
      }
      this.#startedAt = this.#now();
      await this.#callbacks.notify("onStart", this);
      this.#log.begin(this.#options);
      // Makes a run resumable that dies before its first checkpoint.
      await this.#checkpoint();
    }
    for (const it of this.#progress) it.update(this);
    const stopReason = await this.#loop();
    if (this.#savedAt !== this.step || this.#savedEnd !== this.#hasEnded()) {
      await this.#checkpoint();
    }
    if (this.#hasEnded()) this.#log.status("success");
    for (const it of this.#progress) it.finish(this);
    return stopReason;
  }

  #clearProgress(): void {
    for (const it of this.#progress) it.clear?.();
  }

  /** Warns if a run learned for less than a hundredth of its steps, or never. */
  #warnOfFewUpdates(): void {
    const { step, startStep, updates } = this;
    const [first = step, second] = this.#firstUpdates;
    // An update learns from the steps since the last one.
    const steps = second === undefined ? first - startStep : second - first;
    const learned = step - first + steps;
    if (updates > 0 && learned * 100 >= step - startStep) return;
    const count = (number: number) => number.toLocaleString("en-US");
    this.#onWarning(
      `The run learned next to nothing: ${count(step)} steps brought ${
        count(updates)
      } updates; expected more steps, or an earlier first update (learningStarts, numSteps)`,
    );
  }

  #endEpisodes(): void {
    if ("endEpisodes" in this.algorithm) this.algorithm.endEpisodes?.();
  }

  async #loop(): Promise<string> {
    const { signal } = this.#options;
    const turn = new EventLoopBreak();
    for (;;) {
      if (this.#evaluationIsDue() && !signal?.aborted) await this.#evaluate();
      if (this.#hasEnded()) {
        this.#log.end(this);
        return this.#endReason()!;
      }
      if (this.step >= this.#nextCheckpoint && this.#savedAt !== this.step) {
        await this.#checkpoint();
      }
      if (signal?.aborted) return "interrupted";
      if (this.#endReason() !== undefined) continue;
      await this.#interact();
      if (turn.due()) await turn.take();
    }
  }

  /** Returns true if nothing is left to do: neither steps nor the final evaluation. */
  #hasEnded(): boolean {
    return this.#endReason() !== undefined && !this.#evaluationIsDue();
  }

  #endReason(): string | undefined {
    return this.#callbacks.stopReason ??
      (this.step >= this.totalTimesteps ? "completed" : undefined);
  }

  /** Returns true at each interval, and at the end, as the last policy may be the best. */
  #evaluationIsDue(): boolean {
    if (this.#nextEvaluation === Infinity) return false;
    return this.step >= this.#nextEvaluation ||
      (this.#endReason() !== undefined && this.#evaluatedAt !== this.step);
  }

  /** Steps all environments, and updates the agent when due. */
  async #interact(): Promise<void> {
    const { algorithm } = this;
    let step = NO_ROWS, episodes: readonly EpisodeStatistics[];
    if ("advance" in algorithm) {
      const taken = algorithm.advance();
      this.step += taken.steps;
      episodes = taken.episodes;
    } else {
      const env = this.env!;
      const acting = algorithm.act(this.#observations, env.actionMasks);
      const actions = acting instanceof Promise ? await acting : acting;
      step = env.step(actions);
      const taken = this.step + env.numEnvs;
      algorithm.observe(step);
      this.#observations = step.observations;
      this.step = taken;
      episodes = this.#tracker.observe(step);
    }
    for (const { notice, ...episode } of episodes) {
      this.episodes++;
      this.#window.push(episode);
      if (notice !== undefined && !this.#notices.has(notice)) {
        this.#notices.add(notice);
        this.#onWarning(notice);
      }
      const logged = { ...episode, step: this.step };
      this.#log.episode(logged);
      await this.#callbacks.notify("onEpisode", this, logged);
    }
    if (this.#callbacks.has("onStep")) {
      await this.#callbacks.notify("onStep", this, step);
    }
    const updating = algorithm.update();
    const statistics = updating instanceof Promise ? await updating : updating;
    if (statistics !== undefined) await this.#updated(statistics);
    for (const it of this.#progress) it.update(this);
  }

  async #updated(statistics: Statistics): Promise<void> {
    this.updates += this.algorithm.updatesInCall ?? 1;
    if (this.#firstUpdates.length < 2) this.#firstUpdates.push(this.step);
    this.#log.update(this, statistics);
    const diverged = divergedStatistic(statistics);
    if (diverged) {
      this.#log.end(this);
      throw this.#divergence(diverged);
    }
    if (this.#callbacks.has("onUpdate")) {
      await this.#callbacks.notify("onUpdate", this, statistics);
    }
    // A row follows the evaluation of its step.
    if (!this.#evaluationIsDue()) this.#log.writeDue(this);
  }

  async #evaluate(): Promise<void> {
    const {
      env,
      episodes,
      maxSteps,
      deterministic = true,
      seed = evaluationSeeds(this.#options.seed ?? 0).during,
    } = this.#options.evaluation!;
    const { signal } = this.#options;
    const { numEnvs } = env;
    const actor = this.algorithm.policy({ deterministic, numEnvs, seed });
    let result: EvaluationResult;
    try {
      const bounds = { episodes, maxSteps };
      result = await evaluate(actor, env, { ...bounds, seed, signal });
    } catch (error) {
      // Interrupted: the evaluation stays pending, and a resumed run does it.
      if (signal?.aborted) return;
      throw error;
    } finally {
      actor.close?.();
    }
    this.#nextEvaluation = nextMultiple(this.step, this.#evaluateEvery);
    this.#evaluatedAt = this.step;
    // The checkpoint of this step, written before, does not include it.
    this.#savedAt = -1;
    this.#lastEvaluation = result;
    this.#log.evaluation(this, result);
    const best = this.#bestEvaluation?.meanReturn ?? -Infinity;
    const improved = result.meanReturn > best;
    if (improved) {
      this.#bestEvaluation = result;
      this.#bestStep = this.step;
    }
    await this.#callbacks.notify("onEvaluation", this, result);
    this.#log.writeDue(this);
    if (this.#endReason() !== undefined) this.#log.end(this);
    if (!improved) return;
    await this.#checkpoint(true);
    // A second copy, in case the best checkpoint gets damaged.
    if (this.#nextCheckpoint !== Infinity) await this.#checkpoint();
  }

  async #checkpoint(best = false): Promise<void> {
    const { checkpoints } = this.#options;
    if (checkpoints === undefined) return;
    const { store, everyTimesteps = Infinity, keepLast = KEEP_LAST } =
      checkpoints;
    const state = this.#save();
    const diverged = divergedArray(state);
    if (diverged) throw this.#divergence(diverged);
    // Logs must be on disk before the checkpoint.
    const notes = { ...checkpoints.notes, logs: this.#log.flush() };
    const info = store.save(this.step, state, { best, keepLast, notes });
    this.#rows?.note({ path: info.path, state });
    this.#rows?.keep();
    if (!best) {
      this.#savedAt = this.step;
      this.#savedEnd = this.#hasEnded();
      this.#lastCheckpoint = info.path;
      this.#nextCheckpoint = nextMultiple(this.step, everyTimesteps);
    }
    await this.#callbacks.notify("onCheckpoint", this, info);
  }

  #save(): Record<string, StateTree> {
    return {
      loop: {
        step: this.step,
        updates: this.updates,
        episodes: this.episodes,
        elapsedSeconds: this.elapsedSeconds,
        nextEvaluation: this.#nextEvaluation,
        evaluatedAt: this.#evaluatedAt,
        window: this.#window.save(),
        tracker: this.#tracker.save(),
        lastEvaluation: saveEvaluation(this.#lastEvaluation),
        bestEvaluation: saveEvaluation(this.#bestEvaluation),
        bestStep: this.#bestStep ?? null,
        stopReason: this.#callbacks.stopReason ?? null,
        hasEnded: this.#hasEnded(),
        log: this.#log.save(),
      },
      callbacks: this.#callbacks.save(),
      algorithm: this.algorithm.save(),
      env: this.env?.save() ?? null,
    };
  }

  /** No file changes before everything is restored. */
  async #resume(state: StateTree): Promise<void> {
    this.#restore(checkResumable(state));
    this.#startedAt = this.#now();
    await this.#callbacks.notify("onStart", this);
    const { checkpoints } = this.#options, onWarning = this.#onWarning;
    const { logs } = checkpoints?.store.notes(this.step) ?? {};
    if (checkpoints !== undefined) {
      const { store, keepLast = KEEP_LAST } = checkpoints;
      const rows = this.#rows?.has(state) ? this.#rows : undefined;
      // Mended first, as the copy of a damaged best checkpoint is one of the old ones.
      mendBest(store, {
        step: this.step,
        bestStep: this.#bestStep,
        onWarning,
        onSound: rows && rows.note.bind(rows),
      });
      store.truncate(this.step, { keepLast });
      const checkpoint = store.list().checkpoints
        .find(({ step }) => step === this.step);
      // Resumed from the best checkpoint, as no other could be read.
      if (checkpoint === undefined) this.#savedAt = -1;
      else rows?.note({ path: checkpoint.path, state });
      rows?.noteOthers(this.step);
      rows?.keep();
    }
    this.#log.truncate(this.step, logs).forEach(onWarning);
  }

  #restore(parts: ResumableState): void {
    const { checkpoints, evaluation } = this.#options;
    const { loop, callbacks, algorithm, env } = parts;
    this.#tracker.load(loop.tracker);
    this.#window.load(loop.window);
    this.step = this.startStep = this.#savedAt = loop.step as number;
    this.updates = loop.updates as number;
    this.episodes = loop.episodes as number;
    this.#log.load(loop.log);
    this.#secondsBefore = loop.elapsedSeconds as number;
    this.#lastEvaluation = loadEvaluation(loop.lastEvaluation);
    this.#bestEvaluation = loadEvaluation(loop.bestEvaluation);
    this.#bestStep = loop.bestStep as number ?? undefined;
    this.#evaluatedAt = loop.evaluatedAt as number;
    this.#savedEnd = loop.hasEnded as boolean;
    if (evaluation) {
      this.#nextEvaluation = Number.isFinite(loop.nextEvaluation)
        ? loop.nextEvaluation as number
        : nextMultiple(this.step, this.#evaluateEvery);
    }
    const { everyTimesteps = Infinity } = checkpoints ?? {};
    this.#nextCheckpoint = nextMultiple(this.step, everyTimesteps);
    this.#callbacks.load(callbacks);
    this.#callbacks.stopReason = loop.stopReason as string ?? undefined;
    this.algorithm.load(algorithm);
    checkRestored(algorithm, this.algorithm.save());
    this.env?.load(env);
    if (this.env) this.#observations = this.env.observations();
  }

  #divergence(diverged: Found): TrainingDivergedError {
    const { step, updates } = this;
    const checkpoint = this.#lastCheckpoint ??
      this.#options.checkpoints?.store.list().checkpoints.at(-1)?.path;
    const place = { step, updates, checkpoint };
    this.#log.status("failure");
    return new TrainingDivergedError({ ...diverged, ...place });
  }

  #result(stopReason: string): TrainResult {
    return {
      stopReason,
      step: this.step,
      updates: this.updates,
      episodes: this.episodes,
      meanReturn: this.meanReturn,
      meanLength: this.meanLength,
      elapsedSeconds: this.elapsedSeconds,
      lastEvaluation: this.#lastEvaluation,
      bestEvaluation: this.#bestEvaluation,
    };
  }
}
