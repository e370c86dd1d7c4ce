/**
 * Runs the tests in several processes at once: `deno task test [PATH...]
 * [FLAG...]`. Flags, such as `--filter=NAME`, go to every `deno test`; paths
 * are files of tests and folders, without any the whole project but
 * `tests/long`. `DENO_JOBS` says how many processes run at a time, by default
 * one more than there are cores. Processes, not the threads of
 * `deno test --parallel`: some tests count the descriptors and the children of
 * their process.
 *
 * The examples of doc comments and of Markdown are tests, too.
 *
 * The output of each process is printed when it ends, that of failed ones at
 * the end; the last line adds them up, as `deno test` does. The line before it
 * says what ignored tests need, which their names end with: `numbers are the
 * same [XLA]`.
 */
import { packages, ROOT } from "./packages.ts";

/** Folders that only run when they are named. */
const LEFT_OUT = ["tests/long"];

/** Arguments of one `deno test`. */
type Part = string[];

interface Counts {
  passed: number;
  failed: number;
  ignored: number;
}

/** Files below a path whose names fit. */
function filesIn(path: string, fits: RegExp): string[] {
  if (Deno.statSync(ROOT + path).isFile) return fits.test(path) ? [path] : [];
  return Array.from(Deno.readDirSync(ROOT + path)).flatMap((entry) => {
    const inside = `${path}/${entry.name}`;
    return LEFT_OUT.includes(inside) ? [] : filesIn(inside, fits);
  }).sort();
}

/** Every `count`-th file together: slow ones lie beside each other. */
function dealt(files: string[], count: number): Part[] {
  return Array.from(
    { length: Math.min(count, files.length) },
    (_, i) => files.filter((_, j) => j % count === i),
  );
}

/** A fence of TypeScript, in Markdown or in a doc comment. */
const EXAMPLE = /^( *\* |)```ts\n(.*?)^\1```/gms;

/**
 * Writes the examples of a folder's sources and of Markdown as modules, and a
 * file with a test of each. `deno test --doc` runs each example in a process's
 * thread of its own, and loads TensorFlow.js anew there.
 */
function writeExamples(path: string): Part[] {
  const sources = filesIn(path, /(?<!_test)\.ts$|\.md$/);
  const tests = sources.flatMap((source) => {
    const text = Deno.readTextFileSync(ROOT + source);
    return [...text.matchAll(EXAMPLE)].map(({ index, 1: margin, 2: body }) => {
      const line = text.slice(0, index).split("\n").length + 1;
      const module = `${source.replaceAll("/", "_")}_${line}.ts`;
      const code = margin === "" ? body : body.replaceAll(/^ *\* ?/gm, "");
      Deno.writeTextFileSync(`${examples}/${module}`, code);
      return `Deno.test("example of ${source}:${line}", () => import("./${module}").then(() => {}));\n`;
    });
  });
  if (tests.length === 0) return [];
  const file = `${examples}/${path.replaceAll("/", "_")}_test.ts`;
  Deno.writeTextFileSync(file, tests.join(""));
  return [[file]];
}

async function partsOf(paths: string[]): Promise<Part[]> {
  const folders = (await packages()).map(({ folder }) => folder);
  const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
  const documented = [...folders, "docs", ...pages];
  const tested = [...folders, "tests"];
  const hasPaths = paths.length > 0;
  const files = (hasPaths ? paths : tested)
    .flatMap((it) => filesIn(it, /_test\.ts$/));
  return [
    ...(hasPaths ? paths : documented).flatMap(writeExamples),
    ...dealt([...new Set(files)], Math.min(32, Math.ceil(files.length / 2))),
  ];
}

function countsOf(output: string): Counts {
  const summary = output.match(/^(ok|FAILED) \| \d+ passed.*$/gm)?.at(-1) ?? "";
  const count = (what: string): number =>
    Number(summary.match(`(\\d+) ${what}`)?.[1] ?? 0);
  return {
    passed: count("passed"),
    failed: count("failed"),
    ignored: count("ignored"),
  };
}

/** Counts ignored tests by what their names say that they need. */
function countNeeds(output: string): void {
  for (const [line] of output.matchAll(/^.* \.\.\. ignored \(.*$/gm)) {
    const [, need = "no reason"] = line.match(/ \[([^\]]+)\] \.\.\. /) ?? [];
    needs.set(need, (needs.get(need) ?? 0) + 1);
  }
}

/** What is missing, the most needed first: `XLA 412, ALE 63`. */
function needsOf(): string {
  return [...needs].sort(([, a], [, b]) => b - a)
    .map(([need, count]) => `${need} ${count}`).join(", ");
}

async function run(part: Part): Promise<{ success: boolean; output: string }> {
  const decoder = new TextDecoder();
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "-q", "--no-check", "-P=test", ...flags, ...part],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
  }).output();
  const output = decoder.decode(stdout) + decoder.decode(stderr);
  return { success, output: output.trim() };
}

const flags = Deno.args.filter((it) => it.startsWith("-"));
const paths = Deno.args.filter((it) => !it.startsWith("-"));
for (const path of paths) {
  if (await Deno.stat(ROOT + path).catch(() => null)) continue;
  console.error(`Cannot test '${path}' as there is no such file or folder`);
  Deno.exit(2);
}
// Inside the workspace, where its packages have their names.
const examples = await Deno.makeTempDir({ dir: ROOT, prefix: ".examples-" });
addEventListener(
  "unload",
  () => Deno.removeSync(examples, { recursive: true }),
);
const started = performance.now();
const total: Counts = { passed: 0, failed: 0, ignored: 0 };
const needs = new Map<string, number>();
const failures: string[] = [];
const parts = await partsOf(paths);

async function work(): Promise<void> {
  for (let part = parts.shift(); part; part = parts.shift()) {
    const { success, output } = await run(part);
    const counts = countsOf(output);
    // One that fails without a count broke off.
    if (!success && counts.failed === 0) counts.failed = 1;
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.ignored += counts.ignored;
    countNeeds(output);
    if (!success) failures.push(output);
    else if (counts.passed + counts.ignored > 0) console.log(output);
  }
}

// One more than there are cores, as tests of hosts that hang wait for them.
const jobs = Number(Deno.env.get("DENO_JOBS")) ||
  navigator.hardwareConcurrency + 1;
await Promise.all(Array.from({ length: jobs }, work));
for (const output of failures) console.log(output);
const seconds = Math.round((performance.now() - started) / 1000);
if (needs.size > 0) console.log(`\nignored for want of: ${needsOf()}`);
console.log(
  `\n${total.failed > 0 ? "FAILED" : "ok"} | ${total.passed} passed | ` +
    `${total.failed} failed | ${total.ignored} ignored (${seconds}s)`,
);
if (total.failed > 0) Deno.exit(1);
