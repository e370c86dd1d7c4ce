// deno-lint-ignore-file no-console -- a program that prints
/**
 * Keeps the evaluations of long runs as data and as a picture beside their
 * algorithm, in `results/curves`:
 * `deno task results:curves RUN... --command "deno task train ..." --commit ID`,
 * with `--peer NAME --peer-command TEXT --peer-log FILE...` for another library's
 * runs, whose logs end in a line of JSON with the seed and the curve, or with
 * `--beside FILE` for those that are kept of another algorithm.
 */
import { parseArgs } from "@std/cli";
import { parse } from "@std/yaml";
import { openRunFolder } from "@bellman/runs";
import { readProgress } from "@bellman/training";
import {
  type CurveRun,
  type CurvesOptions,
  renderCurves,
} from "@bellman/training/plots";
import { familyOf, fileNameOf, resultsOf } from "./result_paths.ts";

/** One run: the mean and the standard deviation of the returns by step. */
interface Curve {
  seed: number;
  steps: number[];
  mean: number[];
  std: number[];
}

/** A library and its runs. */
export interface Program {
  program: string;
  command: string;
  /** The commit of ours. */
  commit?: string;
  runs: Curve[];
}

const USAGE =
  "usage: deno task results:curves RUN... --command TEXT --commit ID [--beside FILE] [--peer NAME --peer-command TEXT --peer-log FILE...]";

type Config = Readonly<Record<string, unknown>>;

/** The method of an algorithm that has several, other than the one of its name. */
function methodOf({ algorithm, method = algorithm }: Config): string[] {
  return method === algorithm ? [] : [String(method)];
}

/** The configuration and the evaluations of a run folder. */
function readRun(dir: string): { config: Config; curve: Curve } {
  const folder = openRunFolder(dir);
  const config = parse(Deno.readTextFileSync(folder.configPath)) as Config;
  const rows = readProgress(folder.progressPath);
  const evaluated = rows.filter((it) => "eval/return_mean" in it.statistics);
  const curve = {
    seed: Number(config.seed),
    steps: evaluated.map((it) => it.step),
    mean: evaluated.map((it) => it.statistics["eval/return_mean"]),
    std: evaluated.map((it) => it.statistics["eval/return_std"]),
  };
  return { config, curve };
}

interface PeerPoint {
  step: number;
  meanReturn: number;
  stdReturn: number;
}

/** The curve in the last line of a peer's log. */
function readPeer(path: string): Curve {
  const last = Deno.readTextFileSync(path).trim().split("\n").at(-1)!;
  const { seed, curve } = JSON.parse(last) as {
    seed: number;
    curve: PeerPoint[];
  };
  return {
    seed,
    steps: curve.map((it) => it.step),
    mean: curve.map((it) => it.meanReturn),
    std: curve.map((it) => it.stdReturn),
  };
}

function line({ steps, mean, std }: Curve): CurveRun {
  return {
    x: steps,
    y: mean,
    low: mean.map((it, i) => it - std[i]),
    high: mean.map((it, i) => it + std[i]),
  };
}

/** Reads the runs that the options name: our program first, then the others. */
function readPrograms(args: string[]): { config: Config; programs: Program[] } {
  const { _: dirs, ...given } = parseArgs(args, {
    string: [
      "command",
      "commit",
      "beside",
      "peer",
      "peer-command",
      "peer-log",
    ],
    collect: ["peer-log"],
  });
  const runs = dirs.map((dir) => readRun(String(dir)));
  const { command, commit } = given;
  if (runs.length === 0 || !command || !commit) {
    console.error(USAGE);
    Deno.exit(2);
  }
  const [{ config }] = runs;
  const algorithm = String(config.algorithm), family = familyOf(algorithm);
  const programs: Program[] = [{
    program: [
      `@bellman/${family ? `${family} ${algorithm}` : algorithm}`,
      ...methodOf(config),
    ].join(" "),
    command: String(command),
    commit: String(commit),
    runs: runs.map((it) => it.curve),
  }];
  if (given.beside) {
    const kept = JSON.parse(Deno.readTextFileSync(String(given.beside)));
    programs.push(...kept.programs as Program[]);
  }
  const logs = given["peer-log"] as string[];
  if (logs.length > 0) {
    programs.push({
      program: String(given.peer ?? ""),
      command: String(given["peer-command"] ?? ""),
      runs: logs.map(readPeer),
    });
  }
  return { config, programs };
}

/** Draws the kept curves of an environment, each library with its seeds. */
export function drawCurves(
  { env, programs }: { env: string; programs: readonly Program[] },
  options: CurvesOptions = {},
): string {
  const series = programs.map((it) => ({
    name: it.program,
    runs: it.runs.map(line),
  }));
  const isSingle = programs.every(({ runs }) => runs.length === 1);
  return renderCurves(series, {
    title: env,
    subtitle: isSingle ? "band: one standard deviation over episodes" : "",
    yLabel: "Return in evaluations",
    band: "range",
    ...options,
  });
}

/** Writes the data and the picture. */
function keep(config: Config, programs: readonly Program[]): string {
  const folder = `${resultsOf(String(config.algorithm))}/curves`;
  const env = String(config.env);
  const name = [env, ...methodOf(config)].join("-");
  const path = `${folder}/${fileNameOf(name)}`;
  const data = {
    env,
    evaluation: {
      episodes: config.evaluationEpisodes,
      deterministic: config.evaluationDeterministic,
    },
    programs,
  };
  const svg = drawCurves(data);
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(`${path}.json`, JSON.stringify(data, null, 2) + "\n");
  Deno.writeTextFileSync(`${path}.svg`, svg);
  return path;
}

if (import.meta.main) {
  const { config, programs } = readPrograms(Deno.args);
  console.log(`wrote ${keep(config, programs)}.json and .svg`);
}
