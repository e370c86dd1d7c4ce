// deno-lint-ignore-file no-console -- a program that prints
/**
 * Trains one seed as the command line does, evaluates its last policy and its best
 * checkpoint on the same fresh episodes, and prints a line of JSON. The bench
 * runs it in separate processes.
 */
import { run } from "@bellman/cli";
import { openRunFolder, readEpisodes, readProgress } from "@bellman/training";
import { parse } from "@std/yaml";
import type { EvaluatedPolicy, SeedResult } from "./results.ts";

/** Settings of one seed. */
export interface SeedTask {
  algorithm: string;
  env: string;
  /** Name of a preset, or none; empty for the environment's own, if it has one. */
  preset: string;
  seed: number;
  /** Environment steps; null takes the preset's. */
  steps: number | null;
  /** Episodes that each policy is evaluated on. */
  episodes: number;
  /** Settings instead of the preset's, as `--set` takes them. */
  set: string[];
  /** The return at which the run stops, and steps between evaluations; null trains to the end. */
  until: { meanReturn: number; every: number } | null;
}

/** Result of a seed, and the environment steps that it was trained for. */
export interface TrainedSeed {
  steps: number;
  result: SeedResult;
}

/** Runs a command line and returns what it printed. */
async function output(args: string[]): Promise<string> {
  let out = "", err = "";
  const code = await run(args, {
    out: (text) => out += text,
    err: (text) => err += text,
    outIsTerminal: false,
    errIsTerminal: false,
  });
  if (code !== 0) throw new Error(err || `exit code ${code}`);
  return out;
}

function trainArgs(task: SeedTask, dir: string): string[] {
  return [
    "train",
    task.algorithm,
    `--env=${task.env}`,
    ...(task.preset === "" ? [] : [`--preset=${task.preset}`]),
    ...(task.steps === null ? [] : [`--steps=${task.steps}`]),
    ...(task.until === null ? [] : [
      `--set=stopReward=${task.until.meanReturn}`,
      `--set=evaluationInterval=${task.until.every}`,
      `--set=evaluationEpisodes=${task.episodes}`,
    ]),
    ...task.set.map((it) => `--set=${it}`),
    `--seed=${task.seed}`,
    "--quiet",
    `--out=${dir}`,
  ];
}

/** Seed of the episodes for evaluation: none of training and its evaluations has it. */
function evaluationSeed({ seed }: SeedTask): number {
  return 1_000_000 + seed;
}

async function evaluatePolicy(
  dir: string,
  task: SeedTask,
  checkpoint: "latest" | "best",
): Promise<EvaluatedPolicy> {
  const { step, meanReturn, stdReturn, successRate } = JSON.parse(
    await output([
      "eval",
      dir,
      `--episodes=${task.episodes}`,
      `--checkpoint=${checkpoint}`,
      `--seed=${evaluationSeed(task)}`,
      "--json",
    ]),
  );
  return { step, meanReturn, stdReturn, successRate };
}

/** Returns the steps of a run's first evaluation that reached a return. */
function stepsTo(meanReturn: number, dir: string): number | null {
  const rows = readProgress(openRunFolder(dir).progressPath);
  const first = rows.find(({ statistics }) =>
    statistics["eval/return_mean"] >= meanReturn
  );
  return first?.step ?? null;
}

/** Mean return of the last 100 episodes of a training. */
function trainingReturn(dir: string): number | null {
  const last = readEpisodes(openRunFolder(dir).episodesPath).slice(-100);
  if (last.length < 100) return null;
  return last.reduce((sum, it) => sum + it.return, 0) / last.length;
}

async function runTask(task: SeedTask): Promise<TrainedSeed> {
  const root = await Deno.makeTempDir({ prefix: "bellman-learning-" });
  const dir = `${root}/run`;
  try {
    const started = performance.now();
    await output(trainArgs(task, dir));
    const seconds = (performance.now() - started) / 1000;
    const last = await evaluatePolicy(dir, task, "latest");
    const best = await evaluatePolicy(dir, task, "best");
    const config = parse(await Deno.readTextFile(`${dir}/config.yaml`));
    return {
      steps: (config as { totalTimesteps: number }).totalTimesteps,
      result: {
        seed: task.seed,
        seconds,
        last,
        best,
        training: trainingReturn(dir),
        ...(task.until !== null && {
          reached: stepsTo(task.until.meanReturn, dir),
        }),
      },
    };
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

if (import.meta.main) {
  console.log(JSON.stringify(await runTask(JSON.parse(Deno.args[0]))));
}
