import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { Screen } from "../../algorithms/training/testdata/screen.ts";
import { capture } from "../testdata/capture.ts";
import { testsWith } from "../../tests/testdata/tests_with.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dir = await Deno.makeTempDir({ prefix: "bellman-terminal-" });

/** Lines of a bar: a percentage, then the bar or numbers. */
const BAR = /^ *\d+% {2}/;

/** What a run showed in a terminal, and how long it took. */
interface Shown {
  lines: string[];
  minutes: number;
  text: string;
}

/** Trains in a pseudo-terminal; there is a bar in each sample, once there was one. */
async function trainInTerminal(
  args: readonly string[],
  { columns = 80, rows = 24 } = {},
): Promise<Shown> {
  const words = [Deno.execPath(), "task", "-q", "train", ...args]
    .map((word) => `'${word}'`).join(" ");
  const command = `stty cols ${columns} rows ${rows}; exec ${words}`;
  const begin = performance.now();
  const child = new Deno.Command("script", {
    args: ["-qefc", command, "/dev/null"],
    cwd: root,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const screen = new Screen({ columns, rows });
  let text = "", hasBar = false;
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += part;
    screen.write(part);
    const { lines } = screen;
    const isShown = lines.some((line) => BAR.test(line));
    assert(isShown || !hasBar, `no bar in:\n${lines.join("\n")}`);
    hasBar = isShown;
  }
  const { code } = await child.status;
  const { lines } = screen;
  assertEquals(code, 0, lines.join("\n"));
  assert(hasBar, lines.join("\n"));
  const minutes = (performance.now() - begin) / 60_000;
  return { lines: lines.filter((line) => line !== ""), minutes, text };
}

const missing = Deno.build.os !== "linux" ||
  !(await new Deno.Command("sh", { args: ["-c", "command -v script stty"] })
    .output()).success;
const test = testsWith("script", !missing);

const RUNS: [string, string[]][] = [
  ["train", []],
  ["a first run of sac", ["sac", "--env", "CartPole-v1", "--steps", "8000"]],
];

for (const [name, args] of RUNS) {
  test(`${name}: at most 30 lines a minute, always with a bar`, async () => {
    const { lines, minutes, text } = await trainInTerminal(
      [...args, `--out=${dir}/${name.replaceAll(" ", "-")}`],
    );
    assert(
      lines.length <= 30 * Math.max(1, minutes),
      `${lines.length} lines:\n${lines.join("\n")}`,
    );
    assert(lines.some((line) => /^Evaluation at step \d/.test(line)));
    assert(
      lines.some((line) => /(^| )train( |$)/.test(line)),
      lines.join("\n"),
    );
    // deno-lint-ignore no-control-regex -- colours
    assertEquals(/\x1b\[[\d;]*m/.test(text), false);
    assertEquals(/\b(NaN|nan|undefined|1 environments)\b/.test(text), false);
  });
}

const SHORT = ["--steps=4000", "--set=evaluationEpisodes=2"];

test("a narrow terminal has a bar and no line that it wraps in the table", async () => {
  const size = { columns: 40, rows: 24 };
  const args = [...SHORT, `--out=${dir}/narrow`];
  const { lines } = await trainInTerminal(args, size);
  assert(lines.every((line) => line.length <= 40));
  const table = lines.slice(lines.indexOf("time"));
  assert(table.findIndex((line) => BAR.test(line)) > 10, table.join("\n"));
});

test("--quiet shows the bar and the result alone", async () => {
  const args = [...SHORT, "--quiet", `--out=${dir}/quiet`];
  const { lines } = await trainInTerminal(args);
  const [bar, end, last, best, folder, ...others] = lines;
  assert(BAR.test(bar), bar);
  assert(/^completed: 4000 steps in .* s, mean return of /.test(end), end);
  assert(/^Last agent .*/.test(last) && /^Best agent .*/.test(best));
  assertEquals([folder, others], [`Run folder: ${dir}/quiet`, []]);
});

Deno.test("elsewhere there are plain lines, and with --quiet the result alone", async () => {
  const args = ["train", ...SHORT];
  const plain = await capture(...args, `--out=${dir}/plain`);
  assertEquals([plain.code, plain.out.includes("\x1b")], [0, false]);
  assert(/^Evaluation at step 4,000: return /m.test(plain.out));
  assert(/^100% {2}4,000\/4,000 steps {2}/m.test(plain.err), plain.err);
  const quiet = await capture(...args, "--quiet", `--out=${dir}/quiet-pipe`);
  assertEquals(quiet.err, "");
  assert(quiet.out.startsWith("completed: "), quiet.out);
});

Deno.test("a run without an update tells so before and after", async () => {
  const { err } = await capture(
    ...["train", "sac", "--env=CartPole-v1", "--backend=cpu", "--steps=20"],
    ...["--set=learningStarts=1000", "--set=evaluationEpisodes=1"],
    `--out=${dir}/none`,
  );
  assert(
    err.startsWith(
      "The run will learn nothing: sac makes its first update after 1,000 steps (learningStarts), the run has 20\n",
    ),
    err,
  );
  const after = "\nThe run learned next to nothing: 20 steps brought 0 updates";
  assert(err.includes(after), err);
});

Deno.test("a run whose best agent is the first one has learned all the same", async () => {
  const { code, out, err } = await capture(
    ...["train", "a2c", "--preset=none", "--steps=800", "--set=numSteps=40"],
    // Every episode is as good: the first evaluation, before an update, is best.
    ...["--set=maxEpisodeSteps=5", "--set=evaluationInterval=80"],
    ...["--set=evaluationEpisodes=1", "--backend=cpu", "--quiet"],
    `--out=${dir}/first`,
  );
  assertEquals(code, 0, err);
  assert(out.includes("Best agent (step 80)"), out);
  assertEquals(err.includes("learned next to nothing"), false, err);
});

globalThis.addEventListener("unload", () => {
  Deno.removeSync(dir, { recursive: true });
});
