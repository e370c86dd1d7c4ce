// deno-lint-ignore-file no-console -- a program that prints
/**
 * Runs every fixture file of a folder, or one, through the public API of the
 * packages and prints a line for each: `deno task reference DIR [--backend B]`; with
 * `--host node` in Node.
 */
import { type Engine, selectBackend, selectEngine } from "@bellman/compute";
import { parseArgs } from "@std/cli";
import * as tf from "@tensorflow/tfjs";
import { hintAt } from "@bellman/files/options";
import { type Dirent, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import process from "node:process";
import { Comparison, type Outcome } from "./comparison.ts";
import { runners } from "./runners.ts";

const BACKENDS = ["auto", "tensorflow", "wasm", "cpu"] as const;
const ENGINES = ["eager", "onnx", "xla"] as const;
const HOSTS = ["deno", "node"] as const;
const USAGE =
  "usage: deno task reference DIR [--backend wasm|cpu|tensorflow] [--engine eager|onnx|xla] [--host deno|node]";

/** A mistake of the person at the command line: one line, exit code 2. */
class UsageError extends Error {}

interface Options {
  dir: string;
  backend: typeof BACKENDS[number];
  engine: Engine;
  host: typeof HOSTS[number];
}

function oneOf<T extends string>(
  what: string,
  value: string,
  choices: readonly T[],
): T {
  const found = choices.find((it) => it === value);
  if (found !== undefined) return found;
  throw new UsageError(
    `Unknown ${what} '${value}': ${hintAt(value, choices)}`,
  );
}

function parse(args: string[]): Options {
  const options = parseArgs(args, {
    string: ["backend", "engine", "host"],
    default: { backend: "wasm", engine: "eager", host: "deno" },
    unknown: (name: string) => {
      if (!name.startsWith("-")) return true;
      throw new UsageError(`Unknown option '${name}': ${USAGE}`);
    },
  });
  const engine = oneOf("engine", String(options.engine), ENGINES);
  const backend = oneOf("backend", String(options.backend), BACKENDS);
  const host = oneOf("host", String(options.host), HOSTS);
  if (options._.length !== 1) {
    throw new UsageError(
      `Cannot run ${options._.length} folders of fixtures: ${USAGE}`,
    );
  }
  return { dir: String(options._[0]), backend, engine, host };
}

/** Paths of a folder's fixtures, files or folders of a runner, or of the one that is named. */
function fixtureFiles(dir: string): string[] {
  const isOne = dir.endsWith(".json") || Object.hasOwn(runners, basename(dir));
  if (isOne) return [dir];
  let entries: Dirent[];
  try {
    entries = readdirSync(dir, { withFileTypes: true });
  } catch {
    throw new UsageError(`Cannot read fixtures from ${dir}: no such folder`);
  }
  const names = entries.filter((it) =>
    it.isDirectory()
      ? Object.hasOwn(runners, it.name)
      : it.name.endsWith(".json")
  ).map((it) => it.name);
  if (names.length > 0) return names.sort().map((it) => `${dir}/${it}`);
  throw new UsageError(`Cannot find fixtures in ${dir}: it has no .json file`);
}

async function runFile(
  path: string,
  { name, engine }: { name: string; engine: Engine },
): Promise<Outcome | null> {
  const fixture = path.endsWith(".json")
    ? JSON.parse(readFileSync(path, "utf8"))
    : { folder: path };
  const load = runners[fixture.file] ?? runners[name];
  if (load === undefined) return null;
  const { runner } = await load();
  const comparison = new Comparison();
  tf.engine().startScope();
  try {
    await runner(fixture, comparison, engine);
  } finally {
    tf.engine().endScope();
  }
  return comparison.outcome;
}

function line(name: string, { passed, failures, worst }: Outcome): string {
  const deviation = worst === 0 ? "0" : worst.toExponential(1);
  return `${name}: ${passed} passed, ${failures.length} failed, worst deviation ${deviation}`;
}

async function runFolder(
  { dir, backend, engine }: Omit<Options, "host">,
): Promise<boolean> {
  const files = fixtureFiles(dir);
  const chosen = await selectBackend(backend);
  const { description } = selectEngine(engine);
  console.error(`${description}; backend ${chosen.description}`);
  let good = true;
  for (const file of files) {
    const name = file.replace(/^.*\//, "").replace(/\.json$/, "");
    let outcome: Outcome | null;
    try {
      outcome = await runFile(file, { name, engine });
    } catch (error) {
      console.log(`${name}: cannot be run: ${(error as Error).message}`);
      good = false;
      continue;
    }
    if (outcome === null) {
      console.log(`${name}: no runner`);
      continue;
    }
    console.log(line(name, outcome));
    for (const failure of outcome.failures) console.log(`  ${failure}`);
    // A file in which nothing was checked has not passed.
    good &&= outcome.failures.length === 0 && outcome.passed > 0;
  }
  return good;
}

async function run(args: string[]): Promise<number> {
  const { host, ...options } = parse(args);
  if (host === "deno") return await runFolder(options) ? 0 : 1;
  const { runInNode } = await import("./node.ts");
  return await runInNode(options);
}

/** Runs the command line, in the present host. */
export async function main(): Promise<void> {
  try {
    process.exitCode = await run(process.argv.slice(2));
  } catch (error) {
    console.error((error as Error).message.split("\n")[0]);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

if (import.meta.main) await main();
