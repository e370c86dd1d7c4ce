/**
 * Keeps the results that `docs/results.md` and the READMEs show equal to the data beside each
 * algorithm: `algorithms/NAME/results/*.json` and, in the algorithm's README,
 * other libraries' `results/peers/*.json` between the marks `<!-- results -->`
 * and `<!-- /results -->`; the long runs of `results/curves` between
 * `<!-- curves -->` and `<!-- /curves -->`; the steps that all algorithms took to a
 * return, `results/until/*.json`, between `<!-- until -->` and `<!-- /until -->` in
 * the README of each that has such data. `--check` only compares.
 */
import type { Program } from "../learning/keep_curves.ts";
import {
  BARS_FILE,
  barText,
  countReached,
  describePolicies,
  describeSeeds,
  describeSteps,
  type LearningResults,
  nameOf,
  policiesOf,
  UNTIL_FOLDER,
} from "../learning/results.ts";
import { ROOT } from "./packages.ts";

/** Results with the program that they are of; another library's have no commit. */
export interface ResultsRow extends Omit<LearningResults, "commit" | "preset"> {
  program: string;
  preset?: string;
  commit?: string;
}

/** The evaluations of long runs on an environment. */
export interface CurvesRow {
  env: string;
  evaluation: { episodes: number; deterministic: boolean };
  programs: Program[];
}

const SUMMARY = "mean ± sample deviation [95 % interval]; IQM [95 % interval]";

const RESULTS_NOTE =
  "**last** is the policy at the end of training, **best** the checkpoint with the highest evaluation during training (the last policy is a candidate). Both play the same episodes, deterministically; they are none of those that chose the best one, and a seed's figure is their mean return. Mean, sample standard deviation (n - 1) and Student's 95 % interval of the mean are over seeds; the interval is symmetric and may pass the highest possible return. IQM is the interquartile mean of the seeds with the 95 % percentile interval of 50,000 bootstrap resamples. A dash: not measured, or none.";

const UNTIL_NOTE =
  "Environment steps until the first evaluation whose mean return is at the bar: median over seeds, fewest and most. The evaluations' episodes are played deterministically. Each algorithm has its preset for the environment.";

const CURVES_NOTE =
  "Evaluations during the runs: **last** is the one at the end, **best** the highest one, which the same episodes chose, so that it is a little too high. A seed's figure is the mean return of the evaluation's episodes; mean, sample standard deviation (n - 1) and Student's 95 % interval of the mean are over seeds. IQM is the interquartile mean of the seeds with the 95 % percentile interval of 50,000 bootstrap resamples.";

/** The table of results, with what its columns mean. */
export function resultsTable(rows: readonly ResultsRow[]): string {
  const header = [
    ...["program", "environment", "steps", "seeds", "episodes", "bar"],
    ...[`last: ${SUMMARY}`, "last: seeds at the bar"],
    ...[`best: ${SUMMARY}`, "best: seeds at the bar"],
    "commit",
  ];
  const order = (it: ResultsRow) => `${it.program} ${nameOf(it)}`;
  const sorted = [...rows].sort((a, b) => order(a) < order(b) ? -1 : 1);
  const cells = sorted.map((row) => [
    row.program,
    environmentOf(row),
    row.steps.toLocaleString("en-US"),
    String(row.seeds.length),
    String(row.episodes),
    barText(row),
    ...column(row, "last"),
    ...column(row, "best"),
    commitCell(row.commit),
  ]);
  return `${markdownTable([header, ...cells])}\n\n${wrap(RESULTS_NOTE)}`;
}

/** Name of the results, with the arguments that the environment was given. */
function environmentOf(row: ResultsRow): string {
  const { envKwargs } = row.set ?? {};
  const [, given] = envKwargs === undefined
    ? /envKwargs=\{([^}]*)\}/.exec(row.command) ?? []
    : [
      "",
      Object.entries(envKwargs as object).map(([name, value]) =>
        `${name}: ${value}`
      ).join(", "),
    ];
  return given === undefined ? nameOf(row) : `${nameOf(row)} (${given})`;
}

function column(row: ResultsRow, which: "last" | "best"): string[] {
  const policies = policiesOf(row.seeds, which);
  if (policies === null) return ["-", "-"];
  const reached = countReached(policies, row);
  return [
    describePolicies(policies),
    reached === null ? "-" : `${reached} of ${policies.length}`,
  ];
}

/** The table of long runs, with what its columns mean. */
export function curvesTable(rows: readonly CurvesRow[]): string {
  const header = [
    ...["environment", "program", "steps", "seeds", "episodes"],
    ...[`last: ${SUMMARY}`, `best: ${SUMMARY}`, "commit"],
  ];
  const cells = rows.flatMap(({ env, evaluation, programs }) =>
    programs.map(({ program, runs, commit }) => [
      env,
      program,
      Math.max(...runs.flatMap((it) => it.steps)).toLocaleString("en-US"),
      String(runs.length),
      String(evaluation.episodes),
      describeSeeds(runs.map((it) => it.mean.at(-1)!)),
      describeSeeds(runs.map((it) => Math.max(...it.mean))),
      commitCell(commit),
    ])
  );
  return `${markdownTable([header, ...cells])}\n\n${wrap(CURVES_NOTE)}`;
}

/** The table of steps to a return, with what its columns mean. */
export function untilTable(rows: readonly ResultsRow[]): string {
  const header = [
    ...["environment", "bar", "program", "steps: median [fewest, most]"],
    ...["seeds at the bar", "evaluated every", "episodes", "commit"],
  ];
  const order = (it: ResultsRow) => `${nameOf(it)} ${it.program}`;
  const sorted = [...rows].sort((a, b) => order(a) < order(b) ? -1 : 1);
  const cells = sorted.map((row) => [
    nameOf(row),
    String(row.bar),
    row.program,
    describeSteps(row.seeds),
    `${
      row.seeds.filter(({ reached }) => reached !== null).length
    } of ${row.seeds.length}`,
    `${row.every!.toLocaleString("en-US")} steps`,
    String(row.episodes),
    commitCell(row.commit),
  ]);
  return `${markdownTable([header, ...cells])}\n\n${wrap(UNTIL_NOTE)}`;
}

function commitCell(commit: string | undefined): string {
  return commit === undefined ? "-" : `\`${commit}\``;
}

/** A Markdown table as `deno fmt` writes it, with columns of equal width. */
function markdownTable(lines: string[][]): string {
  const widths = lines[0].map((_, i) =>
    Math.max(3, ...lines.map((line) => line[i].length))
  );
  const render = (line: string[]): string =>
    `| ${line.map((cell, i) => cell.padEnd(widths[i])).join(" | ")} |`;
  const rule = widths.map((width) => "-".repeat(width));
  return [lines[0], rule, ...lines.slice(1)].map(render).join("\n");
}

/** Lines of at most 80 characters, as `deno fmt` has them. */
function wrap(text: string): string {
  return text.replaceAll(/(?=\S)(.{1,80})(?:\s|$)/g, "$1\n").trimEnd();
}

/** The data of a folder, by file name; none where there is no folder. */
async function readData<T>(folder: string): Promise<T[]> {
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) {
      if (name.endsWith(".json") && name !== BARS_FILE) names.push(name);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return Promise.all(
    names.sort().map(async (name) =>
      JSON.parse(await Deno.readTextFile(`${folder}/${name}`))
    ),
  );
}

/** Puts a text between the marks of a README, or compares it with what is there. */
async function refresh(
  readme: string,
  mark: "results" | "curves" | "until",
  content: string,
): Promise<void> {
  const path = `${ROOT}${readme}`;
  const text = await Deno.readTextFile(path);
  const marked = new RegExp(
    `(<!-- ${mark} -->\n)[\\s\\S]*?(<!-- /${mark} -->)`,
  );
  if (!marked.test(text)) {
    throw new SyntaxError(
      `Cannot write the ${mark} into ${readme}: expected the marks <!-- ${mark} --> and <!-- /${mark} -->`,
    );
  }
  const wanted = text.replace(marked, `$1\n${content}\n\n$2`);
  if (wanted === text) return;
  if (Deno.args.includes("--check")) {
    console.error(
      `${readme} shows other results than the data: run 'deno task results'`,
    );
    Deno.exitCode = 1;
    return;
  }
  await Deno.writeTextFile(path, wanted);
  console.log(`wrote the ${mark} into ${readme}`);
}

if (import.meta.main) {
  const all: ResultsRow[] = [], until: ResultsRow[] = [];
  const untilReadmes: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${ROOT}algorithms`)) {
    if (!isDirectory) continue;
    const program = `@bellman/${name.replaceAll("_", "-")}`;
    const folder = `${ROOT}algorithms/${name}/results`;
    const readme = `algorithms/${name}/README.md`;
    const rows = (await readData<LearningResults>(folder))
      .map((it) => ({ program, ...it }));
    const peers = await readData<ResultsRow>(`${folder}/peers`);
    if (rows.length > 0) {
      await refresh(readme, "results", resultsTable([...rows, ...peers]));
    }
    const curves = await readData<CurvesRow>(`${folder}/curves`);
    if (curves.length > 0) await refresh(readme, "curves", curvesTable(curves));
    all.push(...rows);
    const steps = await readData<LearningResults>(`${folder}/${UNTIL_FOLDER}`);
    if (steps.length > 0) untilReadmes.push(readme);
    until.push(...steps.map((it) => ({ program, ...it })));
  }
  for (const readme of untilReadmes) {
    await refresh(readme, "until", untilTable(until));
  }
  await refresh("docs/results.md", "results", resultsTable(all));
}
