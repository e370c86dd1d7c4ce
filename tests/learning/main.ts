// deno-lint-ignore-file no-console -- a program that prints
/**
 * Trains several seeds of a preset and evaluates the last policies and the best
 * checkpoints:
 * `deno task bench:learning a2c --env CartPole-v1 --seeds 10 --steps 200000`.
 * `--preset none` trains with the algorithm's defaults, whatever the environment.
 * `--write` keeps the results beside the algorithm, after each seed anew.
 * `--until 475` ends each run at the first evaluation with that mean return, of
 * those that `--every` so many steps bring, and tells how many steps it took.
 */
import { ALGORITHMS } from "@bellman/cli";
import { studentInterval } from "@bellman/statistics";
import { parseArgs } from "@std/cli";
import { parse } from "@std/yaml";
import { existsSync } from "node:fs";
import { familyOf, fileNameOf, resultsOf } from "./result_paths.ts";
import {
  BARS_FILE,
  barText,
  countReached,
  describePolicies,
  describeSteps,
  type LearningResults,
  nameOf,
  NO_PRESET,
  policiesOf,
  type SeedResult,
  UNTIL_FOLDER,
} from "./results.ts";
import type { SeedTask, TrainedSeed } from "./train_seed.ts";

const USAGE =
  "usage: deno task bench:learning ALGORITHM [--env ID] [--preset NAME] [--seeds N] [--first-seed N] [--steps N] [--episodes N] [--jobs N] [--until RETURN [--every N]] [--set KEY=VALUE] [--json] [--write]";
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

function number(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  return fail(`Cannot use --${name} ${text}: expected a number`);
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
      "until",
      "every",
      "set",
    ],
    boolean: ["json", "write"],
    collect: ["set"],
    default: {
      env: "CartPole-v1",
      seeds: "10",
      "first-seed": "0",
      episodes: "100",
      jobs: "2",
      every: "1000",
    },
    unknown: (name: string) =>
      name.startsWith("-") ? fail(`Unknown option '${name}': ${USAGE}`) : true,
  });
  const algorithm = String(parsed._[0] ?? "");
  const definition = ALGORITHMS.find(({ name }) => name === algorithm);
  if (definition === undefined) {
    const names = ALGORITHMS.map(({ name }) => name).join(" or ");
    fail(`Cannot bench '${algorithm}': expected ${names}; ${USAGE}`);
  }
  const preset = String(parsed.preset ?? "");
  const { presets } = definition;
  const isNamed = preset !== "" && preset !== NO_PRESET;
  if (isNamed && !Object.hasOwn(presets, preset)) {
    const names = [...Object.keys(presets), NO_PRESET].join(", ");
    fail(`Unknown preset '${preset}': expected one of ${names}`);
  }
  return {
    algorithm,
    env: isNamed ? envOf(presets[preset]) : String(parsed.env),
    preset,
    seeds: wholeNumber("seeds", parsed.seeds),
    firstSeed: wholeNumber("first-seed", parsed["first-seed"], 0),
    steps: parsed.steps === undefined
      ? null
      : wholeNumber("steps", parsed.steps),
    episodes: wholeNumber("episodes", parsed.episodes),
    jobs: wholeNumber("jobs", parsed.jobs),
    set: parsed.set as string[],
    until: parsed.until === undefined ? null : {
      meanReturn: number("until", String(parsed.until)),
      every: wholeNumber("every", parsed.every),
    },
    json: parsed.json === true,
    write: parsed.write === true,
    command: `deno task bench:learning ${
      args.filter((it) => it !== "--write" && it !== "--json").map(quoted)
        .join(" ")
    }`,
  };
}

/** Quotes an argument for a shell, where it needs that. */
function quoted(argument: string): string {
  return /^[\w=.,:\/-]+$/.test(argument) ? argument : `'${argument}'`;
}

/** What counts as learned: a mean return, or one and a success rate. */
function barsOf(bench: Bench): Pick<LearningResults, "bar" | "successBar"> {
  const path = `${resultsOf(bench.algorithm)}/${BARS_FILE}`;
  const bars = existsSync(path) ? JSON.parse(Deno.readTextFileSync(path)) : {};
  const own = bars[keyOf(bench)] ?? null;
  if (typeof own !== "object" || own === null) return { bar: own };
  return { bar: own.return ?? null, successBar: own.success };
}

/** Name of the results among those of the package. */
function keyOf(bench: Bench): string {
  const isAlone = familyOf(bench.algorithm) === undefined;
  return isAlone ? nameOf(bench) : `${bench.algorithm}-${nameOf(bench)}`;
}

/** The environment that a preset is for. */
function envOf(preset: string): string {
  return (parse(preset) as { env: string }).env;
}

async function trainSeed(task: SeedTask): Promise<TrainedSeed> {
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
async function trainSeeds(bench: Bench): Promise<LearningResults> {
  const { algorithm, env, preset, steps, episodes, set, until } = bench;
  const family = familyOf(bench.algorithm);
  const results: LearningResults = {
    ...(family && { program: `@bellman/${family} ${algorithm}` }),
    env,
    preset,
    command: bench.command,
    commit: await commit(),
    steps: 0,
    episodes,
    ...(until === null ? barsOf(bench) : { bar: until.meanReturn }),
    ...(until !== null && { every: until.every }),
    seeds: [],
  };
  let next = 0;
  const worker = async () => {
    while (next < bench.seeds) {
      const seed = bench.firstSeed + next++;
      const task = {
        algorithm,
        env,
        preset,
        steps,
        episodes,
        set,
        until,
        seed,
      };
      const trained = await trainSeed(task);
      results.steps = trained.steps;
      results.seeds.push(trained.result);
      results.seeds.sort((a, b) => a.seed - b.seed);
      if (bench.write) writeResults(bench, results);
      if (!bench.json) console.log(describeSeed(trained.result));
    }
  };
  await Promise.all(Array.from({ length: bench.jobs }, worker));
  return results;
}

function describeSeed(
  { seed, seconds, last, best, training, reached }: SeedResult,
): string {
  if (reached !== undefined) {
    return `seed ${seed}: ${
      reached === null ? "not reached" : `reached at step ${reached}`
    } in ${seconds.toFixed(1)} s`;
  }
  const [end, chosen] = [last, best].map((it) =>
    `${it!.meanReturn.toFixed(1)} (step ${it!.step})`
  );
  const learned = training === undefined || training === null
    ? ""
    : `, last episodes of training ${training.toFixed(1)}`;
  return `seed ${seed}: last ${end}, best ${chosen}${learned} in ${
    seconds.toFixed(1)
  } s`;
}

async function commit(): Promise<string> {
  const { stdout } = await new Deno.Command("git", {
    args: ["rev-parse", "--short", "HEAD"],
    cwd: ROOT,
  }).output();
  return decoder.decode(stdout).trim();
}

function writeResults(bench: Bench, results: LearningResults): void {
  const folder = bench.until === null
    ? resultsOf(bench.algorithm)
    : `${resultsOf(bench.algorithm)}/${UNTIL_FOLDER}`;
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(
    `${folder}/${fileNameOf(keyOf(bench))}.json`,
    JSON.stringify(results, null, 2) + "\n",
  );
}

/** Returns how many times as good ours is; of negative returns the smaller loss is better. */
function ratioOf(ours: number, theirs: number): number {
  return theirs < 0 ? theirs / ours : ours / theirs;
}

function printSummary(
  { algorithm, json }: Bench,
  results: LearningResults,
  which: "last" | "best",
): void {
  const { bar, successBar } = results;
  const policies = policiesOf(results.seeds, which)!;
  const reached = countReached(policies, results);
  const name = nameOf(results);
  if (!json) {
    const bars = reached === null
      ? ""
      : `, ${reached} of ${policies.length} seeds reach ${barText(results)}`;
    console.log(`${name}, ${which}: ${describePolicies(policies)}${bars}`);
    return;
  }
  const { mean, deviation, interval } = studentInterval(
    policies.map((it) => it.meanReturn),
  );
  console.log(JSON.stringify({
    bench: `learning ${algorithm} ${name} ${which}`,
    peer: "bar",
    ours: mean,
    theirs: bar,
    ratio: bar === null ? null : ratioOf(mean, bar),
    deviation,
    interval,
    ...(successBar !== undefined && {
      successBar,
      successRates: policies.map((it) => it.successRate),
    }),
    reached,
    seeds: policies.length,
  }));
}

/** Prints after how many steps the seeds reached the return. */
function printSteps({ algorithm, json }: Bench, results: LearningResults) {
  const { bar, seeds } = results;
  const steps = describeSteps(seeds);
  const reached = seeds.filter((it) => it.reached !== null).length;
  const name = nameOf(results);
  console.log(
    json
      ? JSON.stringify({
        bench: `steps ${algorithm} ${name}`,
        bar,
        steps,
        reached,
        seeds: seeds.length,
      })
      : `${name}: a mean return of ${bar} after a median of ${steps} steps, ${reached} of ${seeds.length} seeds`,
  );
}

if (import.meta.main) {
  const bench = options(Deno.args);
  const results = await trainSeeds(bench);
  if (bench.until !== null) printSteps(bench, results);
  else {for (const which of ["last", "best"] as const) {
      printSummary(bench, results, which);
    }}
}
