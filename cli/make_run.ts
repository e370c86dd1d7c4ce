import { CheckpointStore, RunFolder, runStatus } from "@bellman/training";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { run } from "./command_line.ts";
import { registerLogger } from "./config/loggers.ts";
import {
  type EvaluatedPolicy,
  EVALUATIONS_FILE,
  lockOf,
  readEvaluations,
  type RunEvaluations,
  type RunEvent,
  type RunTask,
  trainedSoFar,
} from "./jobs/run_task.ts";
import { commitOf } from "./jobs/commit.ts";
import { lockFile } from "./run/ownership.ts";
import { loadCheckpoint, openRun } from "./run/saved_run.ts";
import {
  asInputError,
  messageOf,
  RunFailure,
  writeWhole,
} from "./terminal/errors.ts";
import { processIo } from "./terminal/process.ts";

/** A command that did not end well. */
class CommandFailure extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`A command ended with ${code}`);
    this.code = code;
  }
}

/** Runs a command line, whose errors are this process's, and returns what it printed. */
async function output(args: readonly string[]): Promise<string> {
  let text = "";
  const io = { ...processIo(), errIsTerminal: false, outIsTerminal: false };
  const code = await run(args, { ...io, out: (more) => text += more });
  if (code !== 0) throw new CommandFailure(code);
  return text;
}

function tell(event: RunEvent): void {
  processIo().out(`${JSON.stringify(event)}\n`);
}

/** Milliseconds between two rows that tell how far a run is. */
const INTERVAL_MS = 500;

/** Sends steps and evaluations of the run to the process that started this one. */
function tellProgress(): void {
  registerLogger(() => {
    // All arrays of the run are made by now.
    const { rss, external } = Deno.memoryUsage();
    tell({ memory: Math.max(rss, external) });
    let told = -Infinity;
    return {
      write({ step, statistics }) {
        const time = performance.now();
        const isEvaluation = "eval/return_mean" in statistics;
        if (!isEvaluation && time - told < INTERVAL_MS) return;
        told = time;
        tell(isEvaluation ? { step, statistics } : { step });
      },
      close() {},
    };
  });
}

/** Trains the run to its end, from where it is. */
async function trainRun({ dir, train, resume = [] }: RunTask): Promise<void> {
  const { reportPath, checkpointsDir } = new RunFolder(dir);
  const { best, checkpoints } = new CheckpointStore(checkpointsDir).list();
  if (best === undefined && checkpoints.length === 0) {
    // It was killed before it had anything to lose.
    rmSync(dir, { recursive: true, force: true });
    await output([...train, "--out", dir]);
    return;
  }
  if (existsSync(reportPath)) {
    const isTrusted = resume.includes("--trust");
    const { state } = loadCheckpoint(openRun(dir, { isTrusted }), "latest");
    if (runStatus(state).hasEnded) return;
  }
  await output(["train", "--resume", dir, "--quiet", ...resume]);
}

/** Evaluates the last policy and the best checkpoint on the same fresh episodes. */
async function evaluateRun(
  { dir, resume = [], commit }: RunTask,
  { episodes, seed }: NonNullable<RunTask["evaluation"]>,
): Promise<RunEvaluations> {
  const evaluated = async (checkpoint: string): Promise<EvaluatedPolicy> => {
    const { step, meanReturn, stdReturn, successRate } = JSON.parse(
      await output([
        "eval",
        dir,
        `--checkpoint=${checkpoint}`,
        `--episodes=${episodes}`,
        `--seed=${seed}`,
        "--json",
        ...resume,
      ]),
    );
    return { step, meanReturn, stdReturn, successRate };
  };
  const { checkpointsDir } = new RunFolder(dir);
  const store = new CheckpointStore(checkpointsDir);
  const last = await evaluated("latest");
  const isBest = store.list().best?.step === last.step;
  const best = isBest ? last : await evaluated("best");
  const { seconds } = trainedSoFar(dir);
  return {
    episodes,
    seed,
    steps: last.step,
    seconds,
    commit: commit ?? await commitOf(Deno.cwd()),
    last,
    best,
  };
}

/**
 * Makes a run: begins it, or resumes what a killed process has left, and evaluates
 * it.
 *
 * @param task The run.
 * @returns The exit code, as commands have it.
 */
export async function makeRun(task: RunTask): Promise<number> {
  const { dir, evaluation } = task;
  const evaluationsPath = `${dir}/${EVALUATIONS_FILE}`;
  try {
    mkdirSync(dirname(dir), { recursive: true });
    const lock = lockFile(
      lockOf(dir),
      (holder) => `Cannot use the run ${dir}: ${holder} makes it at present`,
    );
    try {
      if (readEvaluations(dir) !== undefined) return 0;
      tellProgress();
      await trainRun(task);
      if (evaluation === undefined) return 0;
      const evaluations = await evaluateRun(task, evaluation);
      writeWhole(evaluationsPath, `${JSON.stringify(evaluations, null, 2)}\n`);
      if (readEvaluations(dir) !== undefined) return 0;
      throw new RunFailure(
        `Cannot evaluate ${dir}: a mean return is no number`,
      );
    } finally {
      lock.release();
    }
  } catch (error) {
    if (error instanceof CommandFailure) return error.code;
    const input = asInputError(error);
    processIo().err(`error: ${messageOf(input ?? error)}\n`);
    return input === undefined ? 1 : 2;
  }
}
