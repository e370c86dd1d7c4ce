/**
 * Runs the tests in several processes at once: `deno task test [PATH...]
 * [FLAG...]`. Flags, such as `--filter=NAME`, go to every `deno test`; paths
 * are files of tests and folders, without any the whole project but
 * `tests/long` and `tests/cluster`. `DENO_JOBS` says how many processes run at a time, by default
 * one more than there are cores. Processes, not the threads of
 * `deno test --parallel`: some tests count the descriptors and the children of
 * their process. The files of a process load each module once.
 *
 * The examples of doc comments and of Markdown are tests, too.
 *
 * A line for each file says how its tests ended, and about how long the other
 * files take. The last lines are what failed, the slowest files, what ignored
 * tests need, which their names end with (`numbers are the same [XLA]`), and
 * the sum of all, as `deno test` prints it.
 */
import { LOCK, packages, ROOT } from "./packages.ts";

/** Folders that only run when they are named, each file in its own process. */
const LEFT_OUT = ["tests/long", "tests/cluster"];

/** Files that count what a process has open or registered, or register when they are imported. */
const ALONE = [
  ...LEFT_OUT,
  "envs/check_env_test.ts",
  "envs/workers/threads/worker_pool_test.ts",
  "lab/runs/settings/algorithms_test.ts",
  "tests/own_algorithm_test.ts",
];

/** Beginning of the names of examples. */
const EXAMPLES = "examples of";

/** Files at most that share a process. */
const TOGETHER = 60;

/** Files of tests by the name that is printed. */
type Files = [name: string, path: string][];

/** How the tests of a file ended. */
interface Results {
  passed: number;
  FAILED: number;
  ignored: number;
  needs: Set<string>;
  seconds: number;
}

/** Files below a path whose names fit. */
function filesIn(path: string, fits: RegExp): string[] {
  if (Deno.statSync(ROOT + path).isFile) return fits.test(path) ? [path] : [];
  return Array.from(Deno.readDirSync(ROOT + path)).flatMap((entry) => {
    const inside = `${path}/${entry.name}`;
    return LEFT_OUT.includes(inside) ? [] : filesIn(inside, fits);
  }).sort();
}

/** A fence of TypeScript, in Markdown or in a doc comment. */
const EXAMPLE = /^( *\* |)```ts\n(.*?)^\1```/gms;

/**
 * Writes the examples of a folder's sources and of Markdown as modules, and a
 * file with a test of each. `deno test --doc` runs each example in a process's
 * thread of its own, and loads TensorFlow.js anew there.
 */
function writeExamples(path: string): Files {
  const sources = filesIn(path, /(?<!_test)\.ts$|\.md$/);
  const tests = sources.flatMap((source) => {
    const text = Deno.readTextFileSync(ROOT + source);
    return [...text.matchAll(EXAMPLE)].map(({ index, 1: margin, 2: body }) => {
      const line = text.slice(0, index).split("\n").length + 1;
      const module = `${source.replaceAll("/", "_")}_${line}.ts`;
      const code = margin === "" ? body : body.replaceAll(/^ *\* ?/gm, "");
      Deno.writeTextFileSync(`${written}/${module}`, code);
      return `Deno.test("example of ${source}:${line}", () => import("./${module}").then(() => {}));\n`;
    });
  });
  if (tests.length === 0) return [];
  const file = `${written}/${path.replaceAll("/", "_")}_examples.ts`;
  Deno.writeTextFileSync(file, tests.join(""));
  return [[`${EXAMPLES} ${path}`, file]];
}

async function filesOf(paths: string[]): Promise<Files> {
  const folders = (await packages()).map(({ folder }) => folder);
  const pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
  const documented = [...folders, "docs", ...pages];
  const tested = [...folders, "tests"];
  const hasPaths = paths.length > 0;
  const files = (hasPaths ? paths : tested)
    .flatMap((it) => filesIn(it, /_test\.ts$/));
  return [
    ...(hasPaths ? paths : documented).flatMap(writeExamples),
    ...[...new Set(files)].map((it): Files[number] => [it, ROOT + it]),
  ];
}

/** Deals files to processes: slow ones lie beside each other. */
function dealt(files: Files): Files[] {
  const isAlone = ([name]: Files[number]) =>
    ALONE.some((it) => name.startsWith(it));
  // Examples register what is of one's own, which tests of the others would see.
  const isExample = ([name]: Files[number]) => name.startsWith(EXAMPLES);
  const parts = [isExample, (it: Files[number]) => !isExample(it)]
    .flatMap((fits) => {
      const shared = files.filter((it) => !isAlone(it) && fits(it));
      const count = Math.max(jobs, Math.ceil(shared.length / TOGETHER));
      return Array.from(
        { length: count },
        (_, i) => shared.filter((_, j) => j % count === i),
      );
    });
  return [...parts, ...files.filter(isAlone).map((it) => [it])]
    .filter((part) => part.length > 0);
}

/** Lines of a stream as they come. */
async function* linesOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
  yield rest;
}

/** The line of a test: its file, its name, what it needs, how it ended. */
const RESULT =
  /^(.+?): .*?(?: \[([^\]]+)\])? \.\.\. (ok|FAILED|ignored) \([^()]+\)$/;

/** The line of a test that takes long: all before its result. */
const SLOW = /^(.+? \.\.\.)'.*' has been running for over \(/;

/** Runs files in one process. */
async function run(part: Files, index: number): Promise<void> {
  const file = `${written}/part_${index}_test.ts`;
  const together = JSON.stringify(import.meta.resolve("./together.ts"));
  Deno.writeTextFileSync(
    file,
    `import { testTogether } from ${together};\n` +
      `await testTogether(${JSON.stringify(part)});\n`,
  );
  const child = new Deno.Command(Deno.execPath(), {
    args: ["test", LOCK, "-q", "--no-check", "-P=test", ...flags, file],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(child.stderr).text();
  const names = part.map(([name]) => name), output: string[] = [];
  let last = performance.now(), now: string | undefined;
  const end = () => now !== undefined && tell(now, results.get(now)!);
  let slow = "";
  for await (const line of linesOf(child.stdout)) {
    output.push(line);
    // A test of more than a minute is told of in the middle of its line.
    slow = SLOW.exec(line)?.[1] ?? slow;
    const whole = slow + (/^ (ok|FAILED) \(/.test(line) ? line : "");
    const [, name, need = "no reason", ending] = RESULT.exec(line) ??
      RESULT.exec(whole) ?? [];
    if (!names.includes(name)) continue;
    if (name !== now) {
      end();
      results.set(name, resultsOf());
      now = name;
    }
    const found = results.get(name)!, time = performance.now();
    found[ending === "ok" ? "passed" : ending as "FAILED" | "ignored"]++;
    if (ending === "ignored") {
      found.needs.add(need);
      needs.set(need, (needs.get(need) ?? 0) + 1);
    }
    found.seconds += (time - last) / 1000;
    last = time;
  }
  end();
  const { success } = await child.status;
  // Those without a test that fits the flags.
  for (const name of names.filter((it) => !results.has(it))) {
    results.set(name, resultsOf());
    done++;
  }
  if (success) return;
  // One that fails without a test that failed broke off.
  if (!names.some((it) => results.get(it)!.FAILED > 0)) {
    results.get(now ?? names[0])!.FAILED = 1;
  }
  const from = output.indexOf(" ERRORS ");
  failures.push(
    [...output.slice(from < 0 ? -40 : from), await errors].join("\n").trim(),
  );
}

function resultsOf(): Results {
  return { passed: 0, FAILED: 0, ignored: 0, needs: new Set(), seconds: 0 };
}

/** A time as `7 s` or `3 min`. */
function timeOf(seconds: number): string {
  return seconds < 90
    ? `${Math.ceil(seconds)} s`
    : `${Math.round(seconds / 60)} min`;
}

/** Prints how a file ended, and what is left. */
function tell(name: string, { seconds, needs, ...counts }: Results): void {
  done++;
  const elapsed = (performance.now() - started) / 1000;
  const left = timeOf(elapsed / done * (files.length - done));
  const texts = Object.entries(counts).filter(([, count]) =>
    count as number > 0
  )
    .map(([what, count]) => `${count} ${what}`);
  const wanting = needs.size > 0 ? ` [${[...needs].join(", ")}]` : "";
  console.log(
    `${done}/${files.length}, ${left} left | ${name}: ${
      texts.join(", ")
    }${wanting} (${seconds.toFixed(1)}s)`,
  );
}

/** The sum of what all files have. */
function sum(what: "passed" | "FAILED" | "ignored"): number {
  return [...results.values()].reduce((sum, it) => sum + it[what], 0);
}

const flags = Deno.args.filter((it) => it.startsWith("-"));
const paths = Deno.args.filter((it) => !it.startsWith("-"));
for (const path of paths) {
  if (await Deno.stat(ROOT + path).catch(() => null)) continue;
  console.error(`Cannot test '${path}' as there is no such file or folder`);
  Deno.exit(2);
}
// One more than there are cores, as tests of hosts that hang wait for them.
const jobs = Number(Deno.env.get("DENO_JOBS")) ||
  navigator.hardwareConcurrency + 1;
// Inside the workspace, where its packages have their names.
const written = await Deno.makeTempDir({ dir: ROOT, prefix: ".examples-" });
addEventListener("unload", () => Deno.removeSync(written, { recursive: true }));
const started = performance.now();
const results = new Map<string, Results>();
const needs = new Map<string, number>();
const failures: string[] = [];
let done = 0;
const files = await filesOf(paths);
const parts = dealt(files);
const queue = parts.entries();
await Promise.all(
  Array.from({ length: jobs }, async () => {
    for (const [i, part] of queue) await run(part, i);
  }),
);

for (const output of failures) console.log(`\n${output}`);
const slowest = [...results].sort(([, a], [, b]) => b.seconds - a.seconds);
console.log("\nslowest:");
for (const [name, { seconds }] of slowest.slice(0, 10)) {
  console.log(`${seconds.toFixed(1).padStart(6)}s ${name}`);
}
if (needs.size > 0) {
  const counts = [...needs].sort(([, a], [, b]) => b - a)
    .map(([need, count]) => `${need} ${count}`);
  console.log(`\nignored for want of: ${counts.join(", ")}`);
}
const seconds = Math.round((performance.now() - started) / 1000);
console.log(
  `\n${sum("FAILED") > 0 ? "FAILED" : "ok"} | ${sum("passed")} passed | ` +
    `${sum("FAILED")} failed | ${sum("ignored")} ignored (${timeOf(seconds)})`,
);
if (sum("FAILED") > 0) Deno.exit(1);
