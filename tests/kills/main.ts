/**
 * Kills random runs at random moments, resumes them, and compares what they
 * leave with the same runs in one go: `deno task test:kills --runs N --seed S`.
 * The last line is `N kills in M runs, D differences`; the exit code is 1 where
 * there is one. Runs and the moments of kills follow from the seed, but for
 * those between two operations on files, which the clock decides as well.
 */
import { deriveSeed, SeededRandom } from "@bellman/envs";
import { parseArgs } from "@std/cli";
import { argumentsOf, DRAWN_ALGORITHMS, drawRun } from "./draw_run.ts";
import { killRun } from "./kill_run.ts";

const USAGE = `usage: deno task test:kills [--runs N] [--seed S] [--first I]
       [--algorithm A] [--engine E]

  --runs N       runs to kill, each several times (40)
  --seed S       seed of runs and moments (0)
  --first I      number of the first run: to have a single one again (0)
  --algorithm A  algorithm of all runs (drawn)
  --engine E     engine of all runs: onnx, xla or eager (drawn)
`;

function fail(message: string): never {
  console.error(message);
  Deno.exit(2);
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(value) && value >= least) {
    return value;
  }
  return fail(
    `Cannot use --${name} '${text}': expected a whole number of at least ${least}`,
  );
}

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  algorithm: DRAWN_ALGORITHMS,
  engine: ["onnx", "xla", "eager"],
};
const names = ["runs", "seed", "first", ...Object.keys(CHOICES)];
const given = parseArgs(Deno.args, {
  string: names,
  boolean: ["help"],
  default: { runs: "40", seed: "0", first: "0" },
});
if (given.help) {
  console.log(USAGE);
  Deno.exit(0);
}
const unknown = Object.keys(given).find((it) =>
  !["_", "help", ...names].includes(it)
);
if (unknown !== undefined) {
  fail(
    `Unknown option '--${unknown}': expected ${
      names.map((it) => `--${it}`).join(", ")
    }`,
  );
}
if (given._.length > 0) {
  fail(`Cannot use '${given._[0]}': expected options, as in --runs 40`);
}
const runs = wholeNumber("runs", String(given.runs), 1);
const seed = wholeNumber("seed", String(given.seed), 0);
const first = wholeNumber("first", String(given.first), 0);
const chosen = Object.entries(CHOICES)
  .filter(([name]) => given[name] !== undefined)
  .map(([name, choices]) => {
    const value = String(given[name]);
    if (choices.includes(value)) return [name, value];
    return fail(
      `Cannot use --${name} '${value}': expected ${choices.join(", ")}`,
    );
  });

const started = performance.now();
const moments: Record<string, number> = {};
let kills = 0, differences = 0;
const decimal = (value: number) => value.toFixed(1);

for (let i = 0; i < runs; i++) {
  const random = new SeededRandom(deriveSeed(seed, first + i));
  const run = drawRun(random, Object.fromEntries(chosen));
  const root = await Deno.makeTempDir({ prefix: "bellman-kills-" });
  const killed = await killRun(run, random, root);
  kills += killed.moments.length;
  for (const it of killed.moments) moments[it] = (moments[it] ?? 0) + 1;
  if (killed.differences.length === 0) {
    await Deno.remove(root, { recursive: true });
  } else {
    differences++;
    console.log(`run ${first + i} differs, its folders are in ${root}:
  ${argumentsOf(run).join(" ")}
  ${killed.differences.join("\n  ")}`);
  }
  const minutes = (performance.now() - started) / 60_000;
  const left = minutes / (i + 1) * (runs - i - 1);
  console.log(
    `run ${first + i}: ${killed.moments.length} kills; ${
      i + 1
    } of ${runs} runs, ` +
      `${decimal(kills / minutes)} kills a minute, ${decimal(left)} min left`,
  );
}
console.log(
  Object.entries(moments).map(([name, count]) => `${count} ${name}`).join(", "),
);
console.log(`${kills} kills in ${runs} runs, ${differences} differences`);
if (differences > 0) Deno.exit(1);
