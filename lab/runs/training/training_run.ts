import { Agent } from "@bellman/agent";
import { XlaError } from "@bellman/compute/xla";
import {
  type Callback,
  CheckpointStore,
  CsvLogger,
  EpisodesCsv,
  type EvaluationResult,
  evaluationSeeds,
  type Logger,
  type ProgressDisplay,
  stopAfterSeconds,
  stopOnNoImprovement,
  stopOnRewardThreshold,
  TensorBoardLogger,
  train,
  type TrainContext,
  TrainingDivergedError,
  type TrainOptions,
  type TrainResult,
} from "@bellman/training";
import {
  progressOf,
  recordedEvaluation,
  type RecordKeeper,
} from "../folder/keeper.ts";
import type { RecordedEvaluation, RunRecord } from "../folder/record.ts";
import type { RunFolder } from "../folder/run_folder.ts";
import type { StateTree } from "@bellman/types";
import type { ClusterOptions } from "../settings/cluster.ts";
import { isPage } from "../settings/pages.ts";
import { hyperparametersOf, registeredLoggers } from "../settings/loggers.ts";
import type { ResolvedConfig } from "../settings/resolve.ts";
import { writeYaml } from "../settings/yaml.ts";
import { isDeno } from "@bellman/files";
import { existsSync, rmSync } from "node:fs";
import process from "node:process";
import {
  asInputError,
  fileError,
  isDiskFull,
  messageOf,
  RestoreFailure,
  RunFailure,
  UsageError,
  withHint,
  writeWhole,
} from "../program/errors.ts";
import { type VideoRecorder, videoRecorder } from "./recorder.ts";
import { strayErrorsHeard } from "../program/process.ts";
import {
  actionKind,
  describeEvaluation,
  evaluateSetup,
  policyFile,
  policyPlotter,
  round,
} from "./evaluation.ts";
import { evaluationEnvsFor, infoStatisticsOf } from "./environments.ts";
import { parameterCallbacks } from "./parameters.ts";
import { loadCheckpoint, needsTrust, restoreSetup } from "./saved_run.ts";
import { dataCallbacks, learnsFromData } from "./data.ts";
import { gameCallbacks, learnersGame } from "./games.ts";
import { writeReport } from "./report.ts";
import type { RunSetup } from "./run_setup.ts";
import { turnedText } from "./scaled_environments.ts";

/** Output of a run, abort signal, and cluster of its environments. */
export interface RunOutput {
  /** Receives progress lines of the run. */
  onLine?: (line: string) => void;
  /** Receives lines for the user, such as warnings. */
  onNotice?: (line: string) => void;
  /** Progress bar, if it is visible. */
  progress?: ProgressDisplay;
  /** Only show progress bar and result. */
  quiet?: boolean;
  /** Stops the run after it saved itself. */
  signal?: AbortSignal;
  /** Cluster that steps the environments. */
  cluster?: ClusterOptions;
  /** Makes the command that resumes the run in a folder, for messages. */
  resumeCommand?: (dir: string, needsTrust: boolean) => string;
}

/** Run in training, with its parts. */
export interface TrainingRun extends RunOutput {
  setup: RunSetup;
  folder: RunFolder;
  /** Keeper of the run's record. */
  keeper: RecordKeeper;
  /** Text of the configuration at the start. */
  configText: string;
  /**
   * Number of episodes of the final evaluations.
   *
   * @default as in evaluations during training
   */
  finalEpisodes?: number;
  /** Aborted by an uncaught error: the run saves itself and stops. */
  strayError?: AbortSignal;
  /** Command that started the run. */
  command?: string;
  /** Removes the files of a new run that cannot start. */
  discard?: () => void;
  /** Saved state to resume from. */
  resumeFrom?: StateTree;
  /** Writes the changes of a resumed run, once its state is restored. */
  begin?: () => void;
  /** True if the replay buffer's file lacks rows that the state needs. */
  isReplayLost?: boolean;
  /** Lines for the user once the state is restored. */
  restored?: readonly string[];
}

/**
 * Trains to the end, evaluates the last and the best agent and writes the report.
 *
 * @returns Final record; `stopped` if the run was interrupted.
 */
export async function runTraining(run: TrainingRun): Promise<RunRecord> {
  const { keeper, folder: { recordPath } } = run, before = keeper.record;
  try {
    return await trainWhole(run);
  } catch (error) {
    // A run that could not start is removed; one that could not be restored is
    // unchanged.
    const hasBegun = keeper.record !== before && existsSync(recordPath);
    // With more disk space it can continue.
    const isOver = hasBegun && !isDiskFull(error);
    if (isOver && keeper.record.state === "running") {
      keeper.enter("failed", messageOf(error));
    }
    throw error;
  }
}

async function trainWhole(run: TrainingRun): Promise<RunRecord> {
  const { setup, folder } = run;
  const plot = setup.config.policyPlots
    ? policyPlotter(setup, folder)
    : undefined;
  const loggers = openFiles(run);
  if (!run.quiet) startWarnings(setup).forEach((it) => run.onNotice?.(it));
  const videos = setup.config.videoInterval > 0
    ? videoRecorder(setup, folder, {
      signal: run.signal,
      onVideo: (video) => loggers.forEach((it) => it.writeImage?.(video)),
    })
    : undefined;
  const result = await trained(run, { loggers, plot, videos });
  // The rest only acts, and needs no rows.
  if (setup.algorithm instanceof Agent) setup.algorithm.rows?.close();
  try {
    await hearStrayErrors(run);
    await tellingExit(
      run,
      () => result.step,
      () => conclude(run, { result, plot, videos }),
    );
    return run.keeper.record;
  } catch (error) {
    throw failureOf(run, error, result.step);
  }
}

/** Lists warnings for the user before a run trains. */
function startWarnings({ config, environments }: RunSetup): string[] {
  const { maxEpisodeSteps = Infinity } = environments.training.spec ?? {};
  const turned = turnedText(environments.spaces.observationSpace);
  return [
    ...turned === undefined ? [] : [
      `Images without channels on the last axis, ${turned}, are seen as [height, width, channels] (ChannelsLast), by policy.onnx too`,
    ],
    ...withoutUpdate(config),
    ...withoutReplay(config),
    ...maxEpisodeSteps === Infinity && !isPage(config.env) &&
        learnersGame(environments.training) === undefined
      ? [
        `${config.env} has no limit of steps, so that an episode may never end: --set maxEpisodeSteps=1000 sets one`,
      ]
      : [],
  ];
}

/** Warns about a run that ends before its first update. */
function withoutUpdate(config: ResolvedConfig): string[] {
  const { algorithm, totalTimesteps, numEnvs, learningStarts, numSteps } =
    config;
  const [setting, startsAfter] = typeof learningStarts === "number"
    ? ["learningStarts", learningStarts]
    : ["numSteps", Number(numSteps ?? 0) * numEnvs];
  if (startsAfter <= totalTimesteps) return [];
  return [
    `The run will learn nothing: ${algorithm} makes its first update after ${
      count(startsAfter)
    } steps (${setting}), the run has ${count(totalTimesteps)}`,
  ];
}

/** Warns about a run that ends before it replays any segments. */
function withoutReplay(config: ResolvedConfig): string[] {
  const { algorithm, totalTimesteps, numEnvs, replayStart, replayRatio } =
    config;
  const startsAfter = Number(replayStart ?? 0) * numEnvs;
  if (replayRatio === 0 || startsAfter <= totalTimesteps) return [];
  return [
    `The run will replay nothing: ${algorithm} replays from ${
      count(startsAfter)
    } steps on (replayStart for each environment), the run has ${
      count(totalTimesteps)
    }`,
  ];
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}

/** Opens all files that a run writes during training. */
function openFiles(run: TrainingRun): Logger[] {
  try {
    openReplay(run);
    return loggersOf(run);
  } catch (error) {
    if (run.resumeFrom === undefined) throw notBegun(run, error);
    throw error;
  }
}

/** Removes the files of a new run that cannot start, and returns the reason. */
function notBegun({ folder, discard }: TrainingRun, error: unknown): unknown {
  discard?.();
  const { path } = Object(error) as { path?: string };
  return fileError(error, path ?? folder.dir) ?? error;
}

/** Opens the replay buffer's file; an empty one if it was lost. */
function openReplay(run: TrainingRun): void {
  const { setup: { algorithm }, folder, resumeFrom } = run;
  const rows = algorithm instanceof Agent ? algorithm.rows : undefined;
  if (rows === undefined) return;
  try {
    if (run.isReplayLost) rmSync(folder.replayPath, { force: true });
    rows.open(folder.replayPath);
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
  if (!run.isReplayLost || resumeFrom === undefined) return;
  const state = resumeFrom as Record<string, StateTree>;
  run.resumeFrom = { ...state, algorithm: rows.replaceIn(state.algorithm) };
}

/** Draws the current agent after a step. */
type Plot = (step: number) => Promise<void>;

/** Plots and videos made during training. */
interface Pictures {
  plot?: Plot;
  videos?: VideoRecorder;
}

/** Outputs made during training. */
interface Outputs extends Pictures {
  loggers: Logger[];
}

/** Opens the logs of a run. */
function loggersOf(
  { setup: { config }, folder, progress, quiet }: TrainingRun,
): Logger[] {
  return [
    new CsvLogger(folder.progressPath),
    new EpisodesCsv(folder.episodesPath, {
      infoStatistics: infoStatisticsOf(config),
    }),
    new TensorBoardLogger(folder.eventsDir),
    ...progress === undefined || quiet ? [] : [progress],
    ...registeredLoggers({ dir: folder.dir, config }),
  ];
}

function trainOptions(
  run: TrainingRun,
  { loggers, plot, videos }: Outputs,
): TrainOptions {
  const { setup: { config, environments, data }, folder, progress } = run;
  const { stopReward, patience, maxSeconds } = config;
  const { during: evaluationSeed } = evaluationSeeds(config.seed);
  const callbacks: Callback[] = [
    run.keeper.callback(evaluationSeed),
    ...gameCallbacks(environments.training),
    ...dataCallbacks(data),
    ...parameterCallbacks(config, run.onNotice),
  ];
  if (stopReward !== null) callbacks.push(stopOnRewardThreshold(stopReward));
  if (patience !== null) callbacks.push(stopOnNoImprovement({ patience }));
  if (maxSeconds !== null) callbacks.push(stopAfterSeconds(maxSeconds));
  if (plot !== undefined) {
    callbacks.push({ onEvaluation: ({ step }) => plot(step) });
  }
  if (videos !== undefined) callbacks.push(videos.callback);
  return {
    totalTimesteps: config.totalTimesteps,
    seed: config.seed,
    logInterval: config.logInterval ?? undefined,
    loggers,
    hyperparameters: hyperparametersOf(config),
    callbacks,
    evaluation: {
      env: environments.evaluation(
        evaluationEnvsFor(config.evaluationEpisodes),
      ),
      everyTimesteps: config.evaluationInterval === 0
        ? Infinity
        : config.evaluationInterval ?? undefined,
      episodes: config.evaluationEpisodes,
      maxSteps: config.evaluationMaxSteps ?? undefined,
      deterministic: config.evaluationDeterministic,
      seed: evaluationSeed,
    },
    checkpoints: {
      store: new CheckpointStore(folder.checkpointsDir),
      everyTimesteps: config.checkpointInterval || Infinity,
      keepLast: config.keepCheckpoints,
      notes: {
        config: run.configText,
        // Those of several roles are not enough to act without the environment.
        ...environments.roles === undefined && {
          spaces: writeYaml(environments.spaces),
        },
        ...run.command ? { command: run.command } : {},
      },
    },
    progress,
    resumeFrom: run.resumeFrom,
    onWarning: run.onNotice,
    signal: AbortSignal.any(
      [run.signal, run.strayError].filter((it) => it !== undefined),
    ),
  };
}

/** Exports the policy; if that is impossible it is reported, and the run goes on. */
function writePolicy({ setup, folder, onNotice }: TrainingRun): void {
  const { roles } = setup.environments;
  const paths: [role: string | undefined, path: string][] = roles === undefined
    ? [[undefined, folder.policyPath]]
    : Object.keys(roles)
      .map((
        it,
      ) => [
        it,
        folder.policyPath.replace(/onnx$/, `${encodeURIComponent(it)}.onnx`),
      ]);
  for (const [role, path] of paths) {
    let policy;
    try {
      policy = policyFile(setup, { role });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      onNotice?.(error.message);
    }
    if (policy !== undefined) writeWhole(path, policy);
  }
}

/** Evaluated agent, with the environment steps of its checkpoint. */
interface EvaluatedAgent {
  step: number;
  evaluation: EvaluationResult;
}

/**
 * Evaluates the last agent and the best checkpoint on the same episodes, other than
 * those that selected the best. The setup then has the best agent.
 */
async function evaluateAgents(
  { setup, folder, configText, onNotice, signal, finalEpisodes }: TrainingRun,
  { step }: TrainResult,
): Promise<{ last: EvaluatedAgent; best: EvaluatedAgent }> {
  const { config } = setup;
  const evaluated = () =>
    evaluateSetup(setup, {
      episodes: finalEpisodes ?? config.evaluationEpisodes,
      deterministic: config.evaluationDeterministic,
      seed: evaluationSeeds(config.seed).final,
      signal,
    });
  const last = { step, evaluation: await evaluated() };
  const checkpoint = loadCheckpoint({ folder, configText }, "best");
  checkpoint.warnings.forEach((it) => onNotice?.(it));
  if (checkpoint.step === step) return { last, best: last };
  restoreSetup(setup, checkpoint);
  return {
    last,
    best: { step: checkpoint.step, evaluation: await evaluated() },
  };
}

/**
 * Trains; errors tell how to resume. A run that fails before its first checkpoint is
 * removed. A resumed one changes no file before its state is restored.
 */
async function trained(
  run: TrainingRun,
  outputs: Outputs,
): Promise<TrainResult> {
  const { setup: { algorithm, environments, config }, folder } = run;
  const env = "advance" in algorithm ? undefined : environments.training;
  const options = trainOptions(run, outputs);
  const isNew = run.resumeFrom === undefined;
  let hasBegun = false;
  let progress: Pick<TrainContext, "step"> = { step: 0 };
  const begin = {
    onStart(context: TrainContext) {
      progress = context;
      hasBegun ||= !isNew;
      run.restored?.forEach((it) => run.onNotice?.(it));
      // The old report would say that this run has ended.
      rmSync(folder.reportPath, { force: true });
      run.begin?.();
    },
    onCheckpoint() {
      hasBegun = true;
    },
  };
  try {
    return await tellingExit(
      run,
      () => progress.step,
      () =>
        train(algorithm, env, {
          ...options,
          callbacks: [begin, ...options.callbacks ?? []],
        }),
    );
  } catch (error) {
    if (!hasBegun && isNew) {
      const why = notBegun(run, error);
      if (asInputError(why)) throw why;
      throw new RunFailure(
        `Cannot begin the run of ${config.algorithm} on ${config.env}: ${
          messageOf(error)
        }`,
        { cause: error },
      );
    }
    if (error instanceof TrainingDivergedError) throw error;
    if (hasBegun) throw failureOf(run, error, progress.step);
    throw new RestoreFailure(messageOf(error), { cause: error });
  } finally {
    options.evaluation?.env.close();
  }
}

function resumeCommandOf(
  { setup: { config }, folder: { dir }, resumeCommand }: TrainingRun,
): string | undefined {
  return resumeCommand?.(dir, needsTrust(config, dir));
}

/**
 * Describes the failure of a run in training, and how to resume it. Too little device
 * memory for the settings counts as invalid input.
 */
function failureOf(run: TrainingRun, cause: unknown, step: number): Error {
  const { setup: { config }, folder } = run;
  const message = messageOf(fileError(cause) ?? cause);
  const { checkpoints } = new CheckpointStore(folder.checkpointsDir).list();
  const latest = checkpoints.at(-1);
  const resumed = resumeCommandOf(run);
  const hint = latest && resumed &&
    `resume from step ${latest.step} with: ${resumed}`;
  const isTooLarge = cause instanceof XlaError &&
    cause.code === "RESOURCE_EXHAUSTED";
  const error = new (isTooLarge ? UsageError : RunFailure)(
    `The run of ${config.algorithm} on ${config.env} failed after ${step} steps: ${message}`,
    { cause },
  );
  return Object.assign(error, { hint });
}

/**
 * Prints how to resume if an environment ends the process, as by `Deno.exit(0)`: that
 * is not the end of the run, whatever the exit code.
 */
async function tellingExit<T>(
  run: TrainingRun,
  stepOf: () => number,
  act: () => Promise<T>,
): Promise<T> {
  const tell = () => {
    process.exitCode = 1;
    const cause = new Error("its code ended the process, as Deno.exit() does");
    run.onNotice?.(`error: ${withHint(failureOf(run, cause, stepOf()))}`);
  };
  // Deno's own exit is not told to Node's listeners.
  if (isDeno()) globalThis.addEventListener("unload", tell);
  else process.on("exit", tell);
  try {
    return await act();
  } finally {
    if (isDeno()) globalThis.removeEventListener("unload", tell);
    else process.off("exit", tell);
  }
}

/** Throws the uncaught error so far, if there is one. */
async function hearStrayErrors({ strayError }: TrainingRun): Promise<void> {
  await strayErrorsHeard();
  strayError?.throwIfAborted();
}

/** Evaluates, exports the policy and writes the report after training. */
async function conclude(
  run: TrainingRun,
  { result, plot, videos }: { result: TrainResult } & Pictures,
): Promise<void> {
  const { setup, folder } = run;
  const interrupted = () => {
    const resumed = resumeCommandOf(run);
    run.onLine?.(
      `Interrupted at step ${result.step}; everything is saved${
        resumed === undefined ? "" : `. Resume with: ${resumed}`
      }`,
    );
  };
  if (result.stopReason === "interrupted") {
    await writeReport(run, { result });
    run.keeper.enter("stopped", result.stopReason, progressOf(result));
    return interrupted();
  }
  let agents;
  try {
    agents = await evaluateAgents(run, result);
  } catch (error) {
    // Its last evaluation is still to be done.
    if (run.signal?.aborted) {
      run.keeper.enter("stopped", "interrupted", progressOf(result));
      return interrupted();
    }
    throw error;
  }
  const { last, best } = agents;
  await plot?.(best.step);
  await videos?.recordBest();
  writePolicy(run);
  await hearStrayErrors(run);
  const named: [string, EvaluatedAgent][] = [
    [`Last agent (step ${last.step})`, last],
    [`Best agent (step ${best.step})`, best],
  ];
  const { evaluationDeterministic, seed } = setup.config;
  const kind = actionKind(setup.config, evaluationDeterministic);
  const about = {
    deterministic: kind !== "stochastic",
    seed: evaluationSeeds(seed).final,
  };
  const evaluations = named.map(([name, { step, evaluation }]) => [
    name,
    { ...evaluation, ...about, checkpoint: step },
  ]);
  await writeReport(run, {
    result,
    evaluations: Object.fromEntries(evaluations),
  });
  const recorded = ({ step, evaluation }: EvaluatedAgent): RecordedEvaluation =>
    recordedEvaluation(evaluation, { step, seed: about.seed });
  const { during } = run.keeper.record.evaluations;
  run.keeper.enter("ended", result.stopReason, {
    ...progressOf(result),
    evaluations: { during, last: recorded(last), best: recorded(best) },
  });
  const lines = named.map(([name, { evaluation }]) =>
    `${name}, ${kind}: ${describeEvaluation(evaluation)}`
  );
  const seconds = round(result.elapsedSeconds);
  const end = learnsFromData(setup.config)
    ? `${result.stopReason}: ${result.step} updates in ${seconds} s`
    : `${result.stopReason}: ${result.step} steps in ${seconds} s, ${
      describeEpisodes(result)
    }`;
  for (const line of [end, ...lines, `Run folder: ${folder.dir}`]) {
    run.onLine?.(line);
  }
}

/** Describes the last episodes of training. */
function describeEpisodes({ episodes, meanReturn }: TrainResult): string {
  if (episodes === 0) return "no episode ended";
  return `mean return of the last ${episodes < 100 ? "" : "100 "}episodes ${
    round(meanReturn)
  }`;
}
