/// <reference lib="dom" />
// deno-lint-ignore-file no-console -- a bench that prints
/**
 * The board in a browser beside many runs: time until the page is drawn, until a new
 * row is seen, memory, and the part of a processor that the server takes.
 */
import type { Page } from "npm:playwright-core@^1.65.1";
import { withBrowser } from "../../tests/testdata/with_page.ts";
import { HEADER, makeRun, rowsOf } from "../runs/folder/testdata/folders.ts";

const ROOT = new URL("../..", import.meta.url);
const OPENINGS = 5, ROWS = 10, SEEDS = 5;
/** Milliseconds in which the time of a processor is counted. */
const WINDOW_MS = 10_000;

const dir = await Deno.makeTempDir({ prefix: "bellman-board-bench-" });
const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const sorted = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b);
const shown = (numbers: readonly number[]) => {
  const all = sorted(numbers), middle = all[Math.floor((all.length - 1) / 2)];
  return `${middle.toFixed(0)} ms (${all[0].toFixed(0)} to ${
    all.at(-1)!.toFixed(0)
  })`;
};

/** Starts a board in a process of its own. */
async function startBoard(folder: string) {
  const flags = ["-q", "--no-check", "--no-prompt", "-P=board"];
  const words = ["board", folder, "--port=0", "--quiet"];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, "cli/main.ts", ...words],
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const { value } = await child.stdout.pipeThrough(new TextDecoderStream())
    .getReader().read();
  // Deno itself reads files of the system with all permissions alone.
  const proc = (name: string) => {
    const args = [`/proc/${child.pid}/${name}`];
    const { stdout } = new Deno.Command("cat", { args }).outputSync();
    return new TextDecoder().decode(stdout);
  };
  return {
    url: value!.trim(),
    memory: () => Number(/VmHWM:\s+(\d+)/.exec(proc("status"))![1]) / 1000,
    /** Seconds of a processor's time. */
    cpu: () => {
      const fields = proc("stat").split(") ")[1].split(" ");
      return (Number(fields[11]) + Number(fields[12])) / 100;
    },
    async close() {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}

/** Part of a processor that the board takes. */
async function partOf({ cpu }: { cpu(): number }): Promise<string> {
  const before = cpu();
  await delay(WINDOW_MS);
  return `${(1e5 * (cpu() - before) / WINDOW_MS).toFixed(1)} %`;
}

/** Opens the page; returns milliseconds until all rows of the table and both charts are drawn. */
async function open(page: Page, url: string, runs: number): Promise<number> {
  await page.goto("about:blank");
  await page.goto(url);
  const handle = await page.waitForFunction(
    (count) => {
      const rows = document.querySelectorAll("tbody tr").length;
      const lists = document.querySelectorAll(".values");
      const isDrawn = rows === count && lists.length === 2 &&
        [...lists].every((it) => it.childElementCount > 0);
      return isDrawn && performance.now();
    },
    runs,
    { polling: "raf", timeout: 120_000 },
  );
  return await handle.jsonValue() as number;
}

async function measure(runs: number, rows: number): Promise<void> {
  const folder = `${dir}/${runs}`, log = `${HEADER}\n${rowsOf(0, rows)}`;
  const settings = { algorithm: "a2c", env: "CartPole-v1" };
  for (let run = 0; run < runs; run++) {
    const seed = run % SEEDS, learningRate = 1e-4 * (1 + run - seed);
    makeRun(`${folder}/run-${run}`, {
      log,
      record: { settings: { ...settings, learningRate, seed } },
    });
  }
  const board = await startBoard(folder), { origin } = new URL(board.url);
  await withBrowser(async (context) => {
    const page = await context.newPage();
    const first = await open(page, board.url, runs);
    const drawn: number[] = [];
    for (let i = 0; i < OPENINGS; i++) {
      drawn.push(await open(page, origin, runs));
    }
    let next = rows;
    const append = (run: number) =>
      Deno.writeTextFileSync(
        `${folder}/run-${run}/progress.csv`,
        `${10 * ++next},${next},${next / 8},80,${next},\n`,
        { append: true },
      );
    const seen: number[] = [];
    for (let i = 0; i < ROWS; i++) {
      await delay(500 + 237 * i);
      const begun = performance.now();
      append(0);
      const text = (10 * next).toLocaleString("en-US");
      await page.locator("tbody td", { hasText: text }).first().waitFor();
      seen.push(performance.now() - begun);
    }
    const writing = setInterval(() => [0, 1].forEach((it) => append(it)), 200);
    const live = await partOf(board);
    clearInterval(writing);
    await page.goto("about:blank");
    console.log(
      `${runs} runs of ${rows} rows: first page ${first.toFixed(0)} ms, then ${
        shown(drawn)
      }, a new row ${shown(seen)}, memory ${
        board.memory().toFixed(0)
      } MB, processor ${live} with 2 live, ${await partOf(
        board,
      )} with nobody looking`,
    );
  }, { viewport: { width: 1280, height: 900 } });
  await board.close();
}

try {
  await measure(200, 1_000);
  await measure(500, 10_000);
} finally {
  await Deno.remove(dir, { recursive: true });
}
