/**
 * Runs the tests in several processes at once: `deno task test [PATH...]
 * [FLAG...]`. Flags, such as `--filter=NAME`, go to every `deno test`; paths
 * are files of tests and folders, without any the whole project but
 * `tests/long`. `DENO_JOBS` says how many processes run at a time, by default
 * one a core. Processes, not the threads of `deno test --parallel`: some tests
 * count the descriptors and the children of their process.
 *
 * The output of each process is printed when it ends, that of failed ones at
 * the end; the last line adds them up, as `deno test` does.
 */
import { packages, ROOT } from "./packages.ts";

/** Folders that only run when they are named. */
const LEFT_OUT = ["tests/long"];

/** What one `deno test` gets. */
type Part = string[];

interface Counts {
  passed: number;
  failed: number;
  ignored: number;
}

/** The test files of a path, a file or a folder. */
function filesOf(path: string, isNamed: boolean): string[] {
  if (Deno.statSync(ROOT + path).isFile) return [path];
  if (!isNamed && LEFT_OUT.includes(path)) return [];
  return Array.from(Deno.readDirSync(ROOT + path)).flatMap((entry) => {
    const inside = `${path}/${entry.name}`;
    if (entry.isDirectory) return filesOf(inside, false);
    return entry.name.endsWith("_test.ts") ? [inside] : [];
  }).sort();
}

/** Every `count`-th file together: slow ones lie beside each other. */
function dealt(files: string[], count: number): Part[] {
  return Array.from(
    { length: Math.min(count, files.length) },
    (_, i) => files.filter((_, j) => j % count === i),
  );
}

/** The examples of a path's sources: a folder, or a file of Markdown. */
function examplesOf(path: string): Part {
  return ["--doc", "--permit-no-files", "--ignore=**/*_test.ts", path];
}

async function partsOf(paths: string[]): Promise<Part[]> {
  if (paths.length > 0) {
    const files = [...new Set(paths.flatMap((it) => filesOf(it, true)))];
    return dealt(files, Math.ceil(files.length / 2));
  }
  const folders = (await packages()).map(({ folder }) => folder);
  const files = [...folders, "tests"].flatMap((it) => filesOf(it, false));
  // The longest first, so that none is left alone at the end.
  return [
    ...[...folders, "README.md", "CONTRIBUTING.md"].map(examplesOf),
    ...dealt(files, 48),
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
const started = performance.now();
const total: Counts = { passed: 0, failed: 0, ignored: 0 };
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
    if (!success) failures.push(output);
    else if (counts.passed + counts.ignored > 0) console.log(output);
  }
}

const jobs = Number(Deno.env.get("DENO_JOBS")) || navigator.hardwareConcurrency;
await Promise.all(Array.from({ length: jobs }, work));
for (const output of failures) console.log(output);
const seconds = Math.round((performance.now() - started) / 1000);
console.log(
  `\n${total.failed > 0 ? "FAILED" : "ok"} | ${total.passed} passed | ` +
    `${total.failed} failed | ${total.ignored} ignored (${seconds}s)`,
);
if (total.failed > 0) Deno.exit(1);
