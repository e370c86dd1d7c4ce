// deno-lint-ignore-file no-console -- a program that prints
/**
 * Speed beside peers, in one run: `deno task bench:peers [SUITE...]`. The
 * programs of a suite take turns, on one core where possible.
 */
import { parseArgs } from "@std/cli";
import { peersPython } from "./python.ts";
import type {
  Bound,
  Comparison,
  Figures,
  Program,
  Suite,
} from "./suites/suite.ts";
import { SUITES } from "./suites/suites.ts";

const USAGE = `usage: deno task bench:peers [${
  Object.keys(SUITES).join("|")
}]... [--repeats N] [--core N] [--json]`;
const ROOT = new URL("../../", import.meta.url).pathname;

/** Path of the peers' Python; undefined where there is none. */
type Python = string | undefined;

/** Figures of every program, round by round. */
type Rounds = Record<string, Figures[]>;

function fail(message: string): never {
  console.error(message);
  Deno.exit(2);
}

async function hasTaskset(): Promise<boolean> {
  try {
    const command = new Deno.Command("taskset", { args: ["--version"] });
    return (await command.output()).success;
  } catch {
    return false;
  }
}

/** The command of a program, pinned to its cores where that can be done. */
async function commandOf(
  { language, file, task = {} }: Program,
  { python, core, cores }: { python: Python; core: number; cores: number },
): Promise<string[]> {
  const text = typeof task === "string" ? task : JSON.stringify(task);
  const path = `tests/peers/${file}`;
  const command = language === "deno"
    ? [Deno.execPath(), "run", "--no-check", "-P=bench", path, text]
    : [python!, path, text];
  if (Deno.build.os !== "linux" || !await hasTaskset()) return command;
  return ["taskset", "-c", `${core}-${core + cores - 1}`, ...command];
}

/** Runs a program; what it prints last are its figures. */
async function measure(
  [program, ...args]: string[],
  python: Python,
): Promise<Figures> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd: ROOT,
    env: {
      OMP_NUM_THREADS: "1",
      MKL_NUM_THREADS: "1",
      ...python !== undefined && { BELLMAN_PYTHON: python },
    },
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stderr));
  const lines = decoder.decode(stdout).trim().split("\n");
  return figuresOf(JSON.parse(lines[lines.length - 1]));
}

/** Numbers by the keys that lead to them. */
function figuresOf(printed: unknown, prefix = ""): Figures {
  if (typeof printed === "number") return { [prefix || "value"]: printed };
  return Object.assign(
    {},
    ...Object.entries(printed as object).map(([key, value]) =>
      figuresOf(value, prefix ? `${prefix}.${key}` : key)
    ),
  );
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
}

const column = (rounds: Rounds, [program, figure]: readonly [string, string]) =>
  rounds[program].map((it) => it[figure]);

/** Result of a comparison: medians, and the ratios of the rounds. */
function compared(it: Comparison, rounds: Rounds) {
  const ours = column(rounds, it.ours);
  const theirs = column(rounds, it.theirs);
  const ratios = ours.map((our, i) =>
    it.unit === "steps/s" ? our / theirs[i] : theirs[i] / our
  );
  return {
    what: it.what,
    unit: it.unit,
    ours: median(ours),
    theirs: median(theirs),
    ratio: median(ratios),
    spread: Math.max(...ratios) - Math.min(...ratios),
    wanted: it.wanted,
    aim: it.aim,
  };
}

function bounded({ what, figure, unit, atMost }: Bound, rounds: Rounds) {
  return { what, unit, ours: median(column(rounds, figure)), atMost };
}

const short = (value: number) =>
  value >= 1000 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();

function print(suite: Suite, rounds: Rounds): void {
  for (const it of suite.comparisons) {
    const { ours, theirs, ratio, spread } = compared(it, rounds);
    const wanted = it.wanted > 0
      ? `, wanted at least ${Number(it.wanted.toFixed(2))}`
      : "";
    const aim = it.aim === undefined ? "" : `, aimed at ${it.aim}`;
    console.log(
      `  ${it.what}: ours ${short(ours)} ${it.unit}, theirs ${
        short(theirs)
      } ${it.unit}: ${ratio.toFixed(2)} times as fast (spread ${
        spread.toFixed(2)
      })${wanted}${aim}`,
    );
  }
  for (const it of suite.bounds ?? []) {
    const { ours } = bounded(it, rounds);
    const wanted = it.atMost === undefined
      ? ""
      : `, wanted at most ${it.atMost}`;
    console.log(`  ${it.what}: ${short(ours)} ${it.unit}${wanted}`);
  }
}

async function runSuite(
  suite: Suite,
  { python, core, repeats, quiet }: {
    python: Python;
    core: number;
    repeats: number;
    quiet: boolean;
  },
): Promise<Rounds> {
  const rounds: Rounds = {}, { cores = 1 } = suite;
  for (let round = 0; round < repeats; round++) {
    for (const [name, program] of Object.entries(suite.programs)) {
      const command = await commandOf(program, { python, core, cores });
      (rounds[name] ??= []).push(await measure(command, python));
    }
    if (!quiet) console.error(`  round ${round + 1} of ${repeats}`);
  }
  return rounds;
}

/** Leaves out what needs a Python: of comparisons our figure remains. */
function withoutPython(suite: Suite): Suite {
  const programs = Object.fromEntries(
    Object.entries(suite.programs)
      .filter(([, { language }]) => language === "deno"),
  );
  const isThere = ([program]: readonly [string, string]) =>
    Object.hasOwn(programs, program);
  return {
    ...suite,
    programs,
    comparisons: suite.comparisons.filter(({ theirs }) => isThere(theirs)),
    bounds: [
      ...suite.comparisons.filter(({ theirs }) => !isThere(theirs))
        .map(({ what, ours, unit }) => ({
          what: `ours, without ${what}`,
          figure: ours,
          unit,
        })),
      ...(suite.bounds ?? []).filter(({ figure }) => isThere(figure)),
    ],
  };
}

function wholeNumber(name: string, text: unknown, minimum: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= minimum) return value;
  return fail(
    `Cannot use --${name} ${text}: expected a whole number of at least ${minimum}`,
  );
}

async function main(): Promise<void> {
  const options = parseArgs(Deno.args, {
    string: ["repeats", "core"],
    boolean: ["json"],
    default: { repeats: "7", core: "0" },
    unknown: (name: string) =>
      name.startsWith("-") ? fail(`Unknown option '${name}': ${USAGE}`) : true,
  });
  const names = options._.length > 0
    ? options._.map(String)
    : Object.keys(SUITES);
  const unknown = names.find((name) => !Object.hasOwn(SUITES, name));
  if (unknown !== undefined) fail(`Cannot bench '${unknown}': ${USAGE}`);
  const repeats = wholeNumber("repeats", options.repeats, 1);
  const core = wholeNumber("core", options.core, 0);
  for (const name of names) {
    if (!options.json) console.log(`${name}: ${SUITES[name].about}`);
    const python = await peersPython(ROOT, SUITES[name].peers);
    const suite = python === undefined
      ? withoutPython(SUITES[name])
      : SUITES[name];
    const rounds = await runSuite(suite, {
      python,
      core,
      repeats,
      quiet: Boolean(options.json),
    });
    if (!options.json) {
      print(suite, rounds);
      continue;
    }
    const comparisons = suite.comparisons.map((it) => compared(it, rounds));
    const bounds = (suite.bounds ?? []).map((it) => bounded(it, rounds));
    const { about: bench } = suite;
    console.log(JSON.stringify({ name, bench, comparisons, bounds }));
  }
}

if (import.meta.main) await main();
