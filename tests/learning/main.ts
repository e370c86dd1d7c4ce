// deno-lint-ignore-file no-console -- a program that prints
/**
 * Trains several seeds of a preset and says how good they are:
 * `deno task bench:learning a2c --env CartPole-v1 --seeds 10 --steps 200000`.
 */
import { a2cPresets } from "@bellman/a2c";
import { sacPresets } from "@bellman/sac";
import { parseArgs } from "@std/cli";
import { parse } from "@std/yaml";
import { BARS } from "./bars.ts";
import { fileNameOf } from "./file_name_of.ts";
import type { SeedResult, SeedTask } from "./train_seed.ts";

const USAGE =
  "usage: deno task bench:learning a2c|sac [--env ID] [--preset NAME] [--seeds N] [--first-seed N] [--steps N] [--episodes N] [--final] [--jobs N] [--set KEY=VALUE] [--json] [--write]";
const PRESETS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  a2c: a2cPresets,
  sac: sacPresets,
};
const ROOT = new URL("../../", import.meta.url).pathname;
const decoder = new TextDecoder();

interface Bench extends Omit<SeedTask, "seed"> {
  seeds: number;
  firstSeed: number;
  jobs: number;
  json: boolean;
  write: boolean;
  command: string;
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(2);
}

function wholeNumber(name: string, text: unknown, least = 1): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least) return value;
  return fail(
    `Cannot use --${name} ${text}: expected a whole number of at least ${least}`,
  );
}

function options(args: string[]): Bench {
  const parsed = parseArgs(args, {
    string: [
      "env",
      "preset",
      "seeds",
      "first-seed",
      "steps",
      "episodes",
      "jobs",
      "set",
    ],
    boolean: ["json", "write", "final"],
    collect: ["set"],
    default: {
      env: "CartPole-v1",
      seeds: "10",
      "first-seed": "0",
      episodes: "20",
      jobs: "2",
    },
    unknown: (name: string) =>
      name.startsWith("-") ? fail(`Unknown option '${name}': ${USAGE}`) : true,
  });
  const [algorithm] = parsed._;
  if (typeof algorithm !== "string" || !Object.hasOwn(PRESETS, algorithm)) {
    fail(`Cannot bench '${algorithm ?? ""}': expected a2c or sac; ${USAGE}`);
  }
  const preset = String(parsed.preset ?? "");
  const presets = PRESETS[algorithm];
  if (preset !== "" && !Object.hasOwn(presets, preset)) {
    const names = Object.keys(presets).join(", ");
    fail(`Unknown preset '${preset}': expected one of ${names}`);
  }
  return {
    algorithm,
    env: preset === "" ? String(parsed.env) : envOf(presets[preset]),
    preset,
    seeds: wholeNumber("seeds", parsed.seeds),
    firstSeed: wholeNumber("first-seed", parsed["first-seed"], 0),
    steps: parsed.steps === undefined
      ? null
      : wholeNumber("steps", parsed.steps),
    episodes: wholeNumber("episodes", parsed.episodes),
    jobs: wholeNumber("jobs", parsed.jobs),
    set: parsed.set as string[],
    final: parsed.final === true,
    json: parsed.json === true,
    write: parsed.write === true,
    command: `deno task bench:learning ${
      args.filter((it) => it !== "--write" && it !== "--json").join(" ")
    }`,
  };
}

/** The environment that a preset is for. */
function envOf(preset: string): string {
  return (parse(preset) as { env: string }).env;
}

async function trainSeed(task: SeedTask): Promise<SeedResult> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-q",
      "--no-check",
      "-P=run",
      "tests/learning/train_seed.ts",
      JSON.stringify(task),
    ],
    cwd: ROOT,
  }).output();
  if (!success) {
    throw new Error(`seed ${task.seed} failed: ${decoder.decode(stderr)}`);
  }
  const lines = decoder.decode(stdout).trim().split("\n");
  return JSON.parse(lines[lines.length - 1]);
}

/** Runs all seeds, `jobs` at a time, and tells of each as it ends. */
async function trainSeeds(bench: Bench): Promise<SeedResult[]> {
  const { algorithm, env, preset, steps, episodes, final, set } = bench;
  const results: SeedResult[] = [];
  let next = 0;
  const worker = async () => {
    while (next < bench.seeds) {
      const seed = bench.firstSeed + next++;
      const result = await trainSeed({
        algorithm,
        env,
        preset,
        steps,
        episodes,
        final,
        set,
        seed,
      });
      results.push(result);
      if (bench.json) continue;
      const { meanReturn, stdReturn, seconds } = result;
      console.log(
        `seed ${seed}: ${meanReturn.toFixed(1)} +- ${stdReturn.toFixed(1)} in ${
          seconds.toFixed(1)
        } s`,
      );
    }
  };
  await Promise.all(Array.from({ length: bench.jobs }, worker));
  return results.sort((a, b) => a.seed - b.seed);
}

/** What the results are called: by the preset, or by the environment. */
function nameOf({ preset, env }: Bench): string {
  return preset === "" ? env : preset;
}

async function commit(): Promise<string> {
  const { stdout } = await new Deno.Command("git", {
    args: ["rev-parse", "--short", "HEAD"],
    cwd: ROOT,
  }).output();
  return decoder.decode(stdout).trim();
}

function summarize(results: SeedResult[], bar: number | undefined) {
  const means = results.map((it) => it.meanReturn);
  const mean = means.reduce((sum, it) => sum + it, 0) / means.length;
  const spread = Math.sqrt(
    means.reduce((sum, it) => sum + (it - mean) ** 2, 0) / means.length,
  );
  const reached = bar === undefined
    ? null
    : means.filter((it) => it >= bar).length;
  return { mean, spread, reached };
}

async function writeResults(
  bench: Bench,
  results: SeedResult[],
  summary: ReturnType<typeof summarize>,
): Promise<void> {
  const folder = `${ROOT}algorithms/${bench.algorithm}/results`;
  await Deno.mkdir(folder, { recursive: true });
  const data = {
    env: bench.env,
    preset: bench.preset,
    command: bench.command,
    commit: await commit(),
    steps: results[0].steps,
    episodes: bench.episodes,
    agent: bench.final ? "final" : "best",
    bar: BARS[bench.algorithm][nameOf(bench)] ?? null,
    ...summary,
    seeds: results,
  };
  await Deno.writeTextFile(
    `${folder}/${fileNameOf(nameOf(bench))}.json`,
    JSON.stringify(data, null, 2) + "\n",
  );
}

/** How many times as good; of negative returns the smaller loss is better. */
function ratioOf(ours: number, theirs: number): number {
  return theirs < 0 ? theirs / ours : ours / theirs;
}

async function main(): Promise<void> {
  const bench = options(Deno.args);
  const results = await trainSeeds(bench);
  const bar = BARS[bench.algorithm][nameOf(bench)];
  const summary = summarize(results, bar);
  const { mean, spread, reached } = summary;
  if (bench.json) {
    console.log(JSON.stringify({
      bench: `learning ${bench.algorithm} ${nameOf(bench)}`,
      peer: "bar",
      ours: mean,
      theirs: bar ?? null,
      ratio: bar === undefined ? null : ratioOf(mean, bar),
      spread,
      reached,
      seeds: results.length,
    }));
  } else {
    const bars = reached === null
      ? ""
      : `, ${reached} of ${results.length} seeds reach ${bar}`;
    console.log(
      `${nameOf(bench)}: ${mean.toFixed(1)} +- ${spread.toFixed(1)}${bars}`,
    );
  }
  if (bench.write) await writeResults(bench, results, summary);
}

if (import.meta.main) await main();
