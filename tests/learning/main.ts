// deno-lint-ignore-file no-console -- a program that prints
/**
 * Runs the plan of an algorithm's results, `algorithms/NAME/results/plan.yaml`, as
 * `deno task experiment` does and with its options, in `experiments/NAME`:
 * `deno task bench:learning a2c --only 'a2c/CartPole-v1' --jobs 2 --write`.
 * `--write` keeps the results beside the algorithm where all seeds of a variant in
 * an environment are finished.
 */
import { run } from "@bellman/cli";
import { ALGORITHMS } from "@bellman/runs/settings";
import { parseArgs } from "@std/cli";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { PLAN_FILE } from "../../lab/experiments/folder.ts";
import { parsePlan } from "../../lab/experiments/plan.ts";
import { shellWord } from "@bellman/runs/program";
import { writeWhole } from "../../lab/runs/program/errors.ts";
import { familyOf, folderOf } from "./result_paths.ts";
import {
  barText,
  countReached,
  describePolicies,
  describeSteps,
  type LearningResults,
  nameOf,
  policiesOf,
} from "./results.ts";
import {
  resultCells,
  resultsFrom,
  resultsPath,
  type ResultsPlace,
} from "./write_results.ts";

const USAGE =
  "usage: deno task bench:learning NAME [--write] and options of 'deno task experiment', such as --only, --jobs and --set";
/** Options with which nothing is told of the results but what they ask for. */
const ALONE = /^(--print|--help|-h|--table(=.*)?)$/;

/** Finds the plan of a package. */
function placeOf(name: string): ResultsPlace | string {
  const folder = `algorithms/${folderOf(name)}/results`;
  if (existsSync(`${folder}/${PLAN_FILE}`)) return { name, folder };
  if (ALGORITHMS.some((it) => it.meta.name === name)) {
    const family = familyOf(name);
    return `Cannot bench '${name}' by a plan of its own: its variants are in that of ${family}, as in 'deno task bench:learning ${family} --only ${name}'`;
  }
  const names = [...Deno.readDirSync("algorithms")].map((it) => it.name)
    .filter((it) => existsSync(`algorithms/${it}/results/${PLAN_FILE}`))
    .map((it) => it.replaceAll("_", "-"));
  return `Cannot bench '${name}': expected ${
    names.sort().join(" or ")
  }; ${USAGE}`;
}

/** Words of a command line that the numbers or the seconds depend on. */
function wordsOf(args: readonly string[]): string[] {
  const { jobs, set } = parseArgs([...args], {
    string: ["jobs", "set"],
    collect: ["set"],
  });
  return [
    ...jobs === undefined ? [] : ["--jobs", String(jobs)],
    ...(set as string[]).flatMap((it) => ["--set", shellWord(it)]),
  ];
}

/** The figures of the last policies and of the best ones, or the steps to a return. */
function summary(name: string, results: LearningResults): string[] {
  const { bar, seeds } = results;
  if (results.every !== undefined) {
    const reached = seeds.filter((it) => it.reached !== null).length;
    return [
      `${name}: a mean return of ${bar} after a median of ${
        describeSteps(seeds)
      } steps, ${reached} of ${seeds.length} seeds`,
    ];
  }
  return (["last", "best"] as const).map((which) => {
    const policies = policiesOf(seeds, which)!;
    const reached = countReached(policies, results);
    const bars = reached === null
      ? ""
      : `, ${reached} of ${policies.length} seeds reach ${barText(results)}`;
    return `${name}, ${which}: ${describePolicies(policies)}${bars}`;
  });
}

/** True where a file has these results, by whichever command. */
function isWritten(results: LearningResults, path: string): boolean {
  if (!existsSync(path)) return false;
  const text = (it: LearningResults) => JSON.stringify({ ...it, command: "" });
  return text(JSON.parse(Deno.readTextFileSync(path))) === text(results);
}

/**
 * Runs the plan of results, tells its figures and, with `--write`, writes those of
 * which all seeds are finished.
 *
 * @param place Where the plan and the results are.
 * @param given Options of the command line.
 * @returns The exit code.
 */
export async function benchLearning(
  place: ResultsPlace,
  given: readonly string[],
): Promise<number> {
  const args = given.filter((it) => it !== "--write");
  const path = `${place.folder}/${PLAN_FILE}`;
  // The plans are the project's own.
  const code = await run(["experiment", path, "--trust", ...args]);
  if (code === 2 || args.some((it) => ALONE.test(it))) return code;
  const plan = parsePlan(Deno.readTextFileSync(path), path, place.name);
  const { out, only } = parseArgs(args, { string: ["out", "only"] });
  const dir = String(out ?? `experiments/${plan.name}`);
  const { episodes } = plan;
  for (const of of resultCells(plan, dir, only as string | undefined)) {
    const { length } = of.cells.filter(({ state }) => state === "finished");
    if (length === 0) continue;
    const results = resultsFrom(of, { episodes, words: wordsOf(args), place });
    const name = `${of.variant.name} on ${nameOf(results)}`;
    for (const line of summary(name, results)) console.log(line);
    if (given.length === args.length) continue;
    const to = resultsPath(of, place);
    if (length < of.cells.length) {
      console.log(
        `not written: ${to}, ${length} of ${of.cells.length} seeds are finished`,
      );
      continue;
    }
    // What was written is by the command that ran it.
    if (isWritten(results, to)) continue;
    Deno.mkdirSync(dirname(to), { recursive: true });
    writeWhole(to, `${JSON.stringify(results, null, 2)}\n`);
    console.log(`wrote ${to}`);
  }
  return code;
}

if (import.meta.main) {
  const [name = "", ...args] = Deno.args;
  const place = placeOf(name);
  if (typeof place === "string") {
    console.error(place);
    Deno.exit(2);
  }
  Deno.exit(await benchLearning(place, args));
}
