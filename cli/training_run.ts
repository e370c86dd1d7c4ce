import {
  CheckpointStore,
  createProgress,
  type EvaluationResult,
  evaluationSeeds,
  type RunFolder,
  type StateTree,
  train,
  TrainingDivergedError,
  type TrainOptions,
  type TrainResult,
} from "@bellman/training";
import { callbacksOf } from "./callbacks.ts";
import {
  describeEvaluation,
  evaluateSession,
  evaluationCopies,
  round,
} from "./evaluation.ts";
import type { CommandIo } from "./io.ts";
import { loggersOf } from "./loggers.ts";
import { policyFile } from "./policy_file.ts";
import { PolicyPlots } from "./policy_plots.ts";
import { writeReport } from "./report.ts";
import { RunFailure } from "./run_failure.ts";
import { loadCheckpoint, restoreSession } from "./runs.ts";
import type { Session } from "./session.ts";
import { writeWhole } from "./whole_file.ts";

/** A run to train: what it consists of and where it prints. */
export interface TrainingRun {
  session: Session;
  folder: RunFolder;
  io: CommandIo;
  quiet: boolean;
  signal: AbortSignal;
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
      env: environments.evaluation(evaluationCopies(config.evaluationEpisodes)),
      everyTimesteps: interval(config.evaluationInterval),
      episodes: config.evaluationEpisodes,
      deterministic: config.evaluationDeterministic,
      seed: evaluationSeeds(config.seed).during,
    },
    checkpoints: {
      store: new CheckpointStore(folder.checkpointsDir),
      everyTimesteps: interval(config.checkpointInterval),
      keepLast: config.keepCheckpoints,
    },
    progress: quiet ? undefined : createProgress({
      write: io.err,
      isTerminal: io.errIsTerminal,
    }),
    resumeFrom: run.resumeFrom,
    signal: run.signal,
  };
}

/** Evaluates the best checkpoint, on other episodes than it was chosen by. */
async function evaluateBest(
  { session, folder }: TrainingRun,
): Promise<{ step: number; evaluation: EvaluationResult }> {
  const { config } = session;
  const best = loadCheckpoint(folder, "best");
  restoreSession(session, best);
  const evaluation = await evaluateSession(session, {
    episodes: config.evaluationEpisodes,
    deterministic: config.evaluationDeterministic,
    seed: evaluationSeeds(config.seed).final,
  });
  return { step: best.step, evaluation };
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

/** Trains; what an environment throws meanwhile is told with the way on. */
async function trained(
  run: TrainingRun,
  plots: PolicyPlots | undefined,
): Promise<TrainResult> {
  const { session: { algorithm, environments, config }, folder } = run;
  const options = trainOptions(run, plots);
  let hasBegun = false;
  const begin = { onStart: () => void (hasBegun = true) };
  try {
    return await train(algorithm, environments.training, {
      ...options,
      callbacks: [...options.callbacks ?? [], begin],
    });
  } catch (error) {
    if (!hasBegun || error instanceof TrainingDivergedError) throw error;
    const message = (error as Error).message.split("\n")[0];
    const { checkpoints } = new CheckpointStore(folder.checkpointsDir).list();
    const next = checkpoints.length === 0
      ? ""
      : `; go on from step ${
        checkpoints.at(-1)!.step
      } with: deno task train --resume ${folder.dir}`;
    throw new RunFailure(
      `The run of ${config.algorithm} on ${config.env} failed: ${message}${next}`,
      { cause: error },
    );
  }
}

/**
 * Trains to the end, evaluates the best agent and writes the report. Returns
 * the exit code: 130 if it was interrupted.
 */
export async function runTraining(run: TrainingRun): Promise<number> {
  const { session, folder, io } = run;
  const plots = plotsOf(run);
  const result = await trained(run, plots);
  const details = describeResult(result);
  if (result.stopReason === "interrupted") {
    await writeReport(folder, session.config, { details });
    io.out(
      `Interrupted at step ${result.step}; everything is saved. Go on with: deno task train --resume ${folder.dir}\n`,
    );
    return 130;
  }
  const { step, evaluation } = await evaluateBest(run);
  await plots?.write(step);
  const policy = policyFile(session);
  if (policy !== undefined) await writeWhole(folder.policyPath, policy);
  await writeReport(folder, session.config, {
    evaluation,
    details: { ...details, "Best checkpoint": `step ${step}` },
  });
  const kind = session.config.evaluationDeterministic
    ? "deterministic"
    : "stochastic";
  io.out(
    `${result.stopReason}: ${result.step} steps in ${
      round(result.elapsedSeconds)
    } s, mean return of the last 100 episodes ${round(result.meanReturn)}
Best agent (step ${step}), ${kind}: ${describeEvaluation(evaluation)}
Run folder: ${folder.dir}
`,
  );
  return 0;
}
