// deno-lint-ignore-file no-console -- a program that prints
/**
 * Trains one seed as the command line does, evaluates the agent on
 * episodes that it was not chosen by, and prints a line of JSON. The bench runs
 * it in processes of their own, two at a time.
 */
import { run } from "@bellman/cli";
import { parse } from "@std/yaml";

/** What one seed is trained with. */
export interface SeedTask {
  algorithm: string;
  env: string;
  /** Name of a preset; empty for the environment's own, if it has one. */
  preset: string;
  seed: number;
  /** Environment steps; null takes the preset's. */
  steps: number | null;
  episodes: number;
  /** Judge the last agent instead of the best one of the evaluations. */
  final: boolean;
  /** Settings instead of the preset's, as `--set` takes them. */
  set: string[];
}

/** What came of it. */
export interface SeedResult {
  seed: number;
  /** Environment steps trained for. */
  steps: number;
  /** After how many steps the agent was saved that was judged. */
  bestStep: number;
  meanReturn: number;
  stdReturn: number;
  /** Seconds of the whole training, its evaluations included. */
  seconds: number;
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
    ...task.set.map((it) => `--set=${it}`),
    `--seed=${task.seed}`,
    "--quiet",
    `--out=${dir}`,
  ];
}

async function runTask(task: SeedTask): Promise<SeedResult> {
  const root = await Deno.makeTempDir({ prefix: "bellman-learning-" });
  const dir = `${root}/run`;
  try {
    const started = performance.now();
    await output(trainArgs(task, dir));
    const seconds = (performance.now() - started) / 1000;
    const judged = JSON.parse(
      await output([
        "eval",
        dir,
        `--episodes=${task.episodes}`,
        `--checkpoint=${task.final ? "latest" : "best"}`,
        `--seed=${1_000_000 + task.seed}`,
        "--json",
      ]),
    );
    const config = parse(await Deno.readTextFile(`${dir}/config.yaml`));
    return {
      seed: task.seed,
      steps: (config as { totalTimesteps: number }).totalTimesteps,
      bestStep: judged.step,
      meanReturn: judged.meanReturn,
      stdReturn: judged.stdReturn,
      seconds,
    };
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

if (import.meta.main) {
  console.log(JSON.stringify(await runTask(JSON.parse(Deno.args[0]))));
}
