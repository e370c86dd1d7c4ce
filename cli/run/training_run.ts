import {
  type Callback,
  CheckpointStore,
  createProgress,
  CsvLogger,
  EpisodesCsv,
  type EvaluationResult,
  evaluationSeeds,
  type Logger,
  readEpisodes,
  readProgress,
  renderReport,
  type RunFolder,
  stopAfterSeconds,
  stopOnNoImprovement,
  stopOnRewardThreshold,
  TableLogger,
  TensorBoardLogger,
  train,
  type TrainContext,
  TrainingDivergedError,
  type TrainOptions,
  type TrainResult,
} from "@bellman/training";
import type { RunConfig } from "../config/run_config.ts";
import {
  describeEvaluation,
  evaluateSession,
  policyFile,
  PolicyPlots,
  round,
} from "./agent.ts";
import { type CommandIo, strayErrorsHeard } from "../terminal/process.ts";
import { stringify } from "@std/yaml";
import type { ResolvedConfig } from "../config/resolve.ts";
import {
  asInputError,
  fileError,
  messageOf,
  RestoreFailure,
  RunFailure,
  writeWhole,
} from "../terminal/errors.ts";
import type { StateTree } from "@bellman/types";
import { rmSync } from "node:fs";
import { loadCheckpoint, restoreSession } from "./saved_run.ts";
import { notices, type Session } from "./session.ts";
import { copiesFor } from "./environments.ts";

/** The early stops that a configuration asks for, and images at evaluations. */
function callbacksOf(
  { stopReward, patience, maxSeconds }: RunConfig,
  plots?: PolicyPlots,
): Callback[] {
  const callbacks: Callback[] = [];
  if (stopReward !== null) callbacks.push(stopOnRewardThreshold(stopReward));
  if (patience !== null) callbacks.push(stopOnNoImprovement({ patience }));
  if (maxSeconds !== null) callbacks.push(stopAfterSeconds(maxSeconds));
  if (plots !== undefined) {
    callbacks.push({ onEvaluation: ({ step }) => plots.write(step) });
  }
  return callbacks;
}

/** The loggers of a run: files in its folder, a table unless it is quiet. */
function loggersOf(
  folder: RunFolder,
  io: CommandIo,
  { quiet }: { quiet: boolean },
): Logger[] {
  const files = [
    new CsvLogger(folder.progressPath),
    new EpisodesCsv(folder.episodesPath),
    new TensorBoardLogger(folder.eventsDir),
  ];
  return quiet ? files : [...files, new TableLogger({ write: io.out })];
}

/**
 * Writes the run's `report.html`: curves, configuration, final evaluations. A
 * log that is gone or cannot be read is told and left out.
 */
async function writeReport(
  folder: RunFolder,
  config: ResolvedConfig,
  { evaluations, details, onNotice }: {
    evaluations?: Readonly<Record<string, EvaluationResult>>;
    details: Record<string, string>;
    onNotice: (line: string) => void;
  },
): Promise<void> {
  const rowsOf = <Row extends { step: number }>(
    read: (path: string) => Row[],
    path: string,
  ): Row[] => {
    try {
      return read(path).filter(({ step }) => Number.isFinite(step));
    } catch (error) {
      const why = (fileError(error) ?? error as Error).message;
      onNotice(`${why}; the report is without it`);
      return [];
    }
  };
  const html = renderReport({
    title: `${config.algorithm} on ${config.env}, seed ${config.seed}`,
    progress: rowsOf(readProgress, folder.progressPath),
    episodes: rowsOf(readEpisodes, folder.episodesPath),
    configText: stringify(config),
    evaluations,
    details,
  });
  // Its presence tells that the run has ended.
  await writeWhole(folder.reportPath, html);
}

/** A run to train: what it consists of and where it prints. */
export interface TrainingRun {
  session: Session;
  folder: RunFolder;
  io: CommandIo;
  quiet: boolean;
  signal: AbortSignal;
  /** Text of the configuration that the run began with. */
  configText: string;
  /** Aborted by an error that nothing could catch: the run stops and saves itself. */
  strayError?: AbortSignal;
  /** State to go on from. */
  resumeFrom?: StateTree;
}

/** An interval in steps; 0 means never. */
function interval(steps: number): number {
  return steps === 0 ? Infinity : steps;
}

/** Images at evaluations, where they are asked for. */
function plotsOf({ session, folder }: TrainingRun): PolicyPlots | undefined {
  const { policyPlots, seed } = session.config;
  return policyPlots
    ? new PolicyPlots(session, { folder, seed: evaluationSeeds(seed).during })
    : undefined;
}

function trainOptions(run: TrainingRun, plots?: PolicyPlots): TrainOptions {
  const { session: { config, environments }, folder, io, quiet } = run;
  return {
    totalTimesteps: config.totalTimesteps,
    seed: config.seed,
    logInterval: config.logInterval,
    loggers: loggersOf(folder, io, { quiet }),
    callbacks: callbacksOf(config, plots),
    evaluation: {
      env: environments.evaluation(copiesFor(config.evaluationEpisodes)),
      everyTimesteps: interval(config.evaluationInterval),
      episodes: config.evaluationEpisodes,
      deterministic: config.evaluationDeterministic,
      seed: evaluationSeeds(config.seed).during,
    },
    checkpoints: {
      store: new CheckpointStore(folder.checkpointsDir),
      everyTimesteps: interval(config.checkpointInterval),
      keepLast: config.keepCheckpoints,
      notes: { config: run.configText, spaces: stringify(environments.spaces) },
    },
    progress: quiet ? undefined : createProgress({
      write: io.err,
      isTerminal: io.errIsTerminal,
    }),
    resumeFrom: run.resumeFrom,
    onWarning: notices(io),
    signal: run.strayError === undefined
      ? run.signal
      : AbortSignal.any([run.signal, run.strayError]),
  };
}

/** An agent that was judged, and the environment steps after which it was saved. */
interface JudgedAgent {
  step: number;
  evaluation: EvaluationResult;
}

/**
 * Evaluates the agent of the end and the best checkpoint on the same episodes,
 * other ones than the best was chosen by. The session is left with the best.
 */
async function evaluateAgents(
  { session, folder, configText, io, signal }: TrainingRun,
  step: number,
): Promise<{ last: JudgedAgent; best: JudgedAgent }> {
  const { config } = session;
  const judge = () =>
    evaluateSession(session, {
      episodes: config.evaluationEpisodes,
      deterministic: config.evaluationDeterministic,
      seed: evaluationSeeds(config.seed).final,
      signal,
    });
  const last = { step, evaluation: await judge() };
  const checkpoint = loadCheckpoint({ folder, configText }, "best");
  checkpoint.warnings.forEach(notices(io));
  if (checkpoint.step === step) return { last, best: last };
  restoreSession(session, checkpoint);
  return { last, best: { step: checkpoint.step, evaluation: await judge() } };
}

function describeResult(result: TrainResult): Record<string, string> {
  return {
    "Stopped": result.stopReason,
    "Environment steps": result.step.toLocaleString("en-US"),
    "Updates": result.updates.toLocaleString("en-US"),
    "Episodes": result.episodes.toLocaleString("en-US"),
    "Mean return of the last 100 episodes": round(result.meanReturn),
    "Training time": `${round(result.elapsedSeconds)} s`,
  };
}

/**
 * Trains; what an environment throws meanwhile is told with the way on. A run that
 * fails before its first checkpoint cannot go on: its folder is taken away.
 */
async function trained(
  run: TrainingRun,
  plots: PolicyPlots | undefined,
): Promise<TrainResult> {
  const { session: { algorithm, environments, config }, folder } = run;
  const options = trainOptions(run, plots);
  const isNew = run.resumeFrom === undefined;
  let hasBegun = false;
  let progress: Pick<TrainContext, "step"> = { step: 0 };
  const begin = {
    onStart(context: TrainContext) {
      progress = context;
      // That of an interrupted run: it would tell that this one has ended.
      rmSync(folder.reportPath, { force: true });
      hasBegun ||= !isNew;
    },
    onCheckpoint() {
      hasBegun = true;
    },
  };
  try {
    return await train(algorithm, environments.training, {
      ...options,
      callbacks: [begin, ...options.callbacks ?? []],
    });
  } catch (error) {
    if (!hasBegun && isNew) {
      // Without a checkpoint it could not go on.
      rmSync(folder.dir, { recursive: true, force: true });
      if (asInputError(error)) throw error;
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

/** The command that goes on with a run, as a shell reads it. */
function wayOn({ dir }: RunFolder): string {
  const path = dir.startsWith("-") ? `./${dir}` : dir;
  const isPlain = /^[\p{L}\p{N}/._:@%+=,-]+$/u.test(path);
  const word = isPlain ? path : `'${path.replaceAll("'", "'\\''")}'`;
  return `deno task train --resume ${word}`;
}

/** Says what ended a run that began well, with the way on. */
function failureOf(
  { session: { config }, folder }: TrainingRun,
  cause: unknown,
  step: number,
): RunFailure {
  const message = messageOf(fileError(cause) ?? cause);
  const { checkpoints } = new CheckpointStore(folder.checkpointsDir).list();
  const next = checkpoints.length === 0
    ? ""
    : `; go on from step ${checkpoints.at(-1)!.step} with: ${wayOn(folder)}`;
  return new RunFailure(
    `The run of ${config.algorithm} on ${config.env} failed after ${step} steps: ${message}${next}`,
    { cause },
  );
}

/**
 * Trains to the end, evaluates the last and the best agent and writes the report. Returns
 * the exit code: 130 if it was interrupted.
 */
export async function runTraining(run: TrainingRun): Promise<number> {
  const plots = plotsOf(run);
  const result = await trained(run, plots);
  try {
    await hearStrayErrors(run);
    return await concluded(run, { result, plots });
  } catch (error) {
    throw failureOf(run, error, result.step);
  }
}

/** Fails if something was thrown by now that nothing could catch. */
async function hearStrayErrors({ strayError }: TrainingRun): Promise<void> {
  await strayErrorsHeard();
  strayError?.throwIfAborted();
}

/** What is left to do once the training has stopped. */
async function concluded(
  run: TrainingRun,
  { result, plots }: { result: TrainResult; plots?: PolicyPlots },
): Promise<number> {
  const { session, folder, io } = run;
  const details = describeResult(result);
  const interrupted = () => {
    io.out(
      `Interrupted at step ${result.step}; everything is saved. Go on with: ${
        wayOn(folder)
      }\n`,
    );
    return 130;
  };
  if (result.stopReason === "interrupted") {
    const onNotice = notices(io);
    await writeReport(folder, session.config, { details, onNotice });
    return interrupted();
  }
  let agents;
  try {
    agents = await evaluateAgents(run, result.step);
  } catch (error) {
    // Without a report, the evaluation is still to be done.
    if (run.signal.aborted) return interrupted();
    throw error;
  }
  const { last, best } = agents;
  await plots?.write(best.step);
  const policy = policyFile(session);
  if (policy !== undefined) await writeWhole(folder.policyPath, policy);
  await hearStrayErrors(run);
  const named: [string, JudgedAgent][] = [
    [`Last agent (step ${last.step})`, last],
    [`Best agent (step ${best.step})`, best],
  ];
  await writeReport(folder, session.config, {
    evaluations: Object.fromEntries(
      named.map(([name, { evaluation }]) => [name, evaluation]),
    ),
    details,
    onNotice: notices(io),
  });
  const kind = session.config.evaluationDeterministic
    ? "deterministic"
    : "stochastic";
  const judged = named.map(([name, { evaluation }]) =>
    `${name}, ${kind}: ${describeEvaluation(evaluation)}\n`
  );
  io.out(
    `${result.stopReason}: ${result.step} steps in ${
      round(result.elapsedSeconds)
    } s, mean return of the last 100 episodes ${round(result.meanReturn)}
${judged.join("")}Run folder: ${folder.dir}
`,
  );
  return 0;
}
