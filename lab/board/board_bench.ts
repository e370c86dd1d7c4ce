// deno-lint-ignore-file no-console -- a bench that prints
/**
 * The board's server beside many runs: its first answers, new rows, memory and time of
 * a processor, and a training with and without it, in turn.
 */
import { askerOf, eventsOf, type ServerEvent } from "./testdata/requests.ts";
import {
  HEADER,
  makeRun,
  rowsOf,
} from "../../lab/runs/folder/testdata/folders.ts";

const ROOT = new URL("../..", import.meta.url);
const STATISTIC = "rollout/return_mean", POINTS = 600, ROWS = 30, PAIRS = 9;
/** Milliseconds in which the time of a processor is counted. */
const WINDOW_MS = 10_000;

const dir = await Deno.makeTempDir({ prefix: "bellman-board-bench-" });

function deno(permissions: string, args: readonly string[]): Deno.Command {
  const flags = ["-q", "--no-check", "--no-prompt", `-P=${permissions}`];
  return new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, "cli/main.ts", ...args],
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  });
}

const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const sorted = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b);
const quantile = (numbers: readonly number[], part: number) =>
  sorted(numbers)[Math.floor(part * (numbers.length - 1))];
const median = (numbers: readonly number[]) => quantile(numbers, 0.5);

/** Starts a board in a process of its own. */
async function startBoard(folder: string) {
  const child = deno("board", ["board", folder, "--port=0", "--quiet"]).spawn();
  const { value } = await child.stdout.pipeThrough(new TextDecoderStream())
    .getReader().read();
  // Deno itself reads files of the system with all permissions alone.
  const proc = (name: string) => {
    const args = [`/proc/${child.pid}/${name}`];
    const { stdout } = new Deno.Command("cat", { args }).outputSync();
    return new TextDecoder().decode(stdout);
  };
  return {
    ...await askerOf(value!.trim()),
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

/** Reads a stream until it is aborted. */
async function readOn(events: AsyncIterable<ServerEvent>): Promise<void> {
  try {
    for await (const _ of events);
  } catch {
    // It was aborted.
  }
}

/** Part of a processor that the board takes. */
async function partOf({ cpu }: { cpu(): number }): Promise<string> {
  const before = cpu();
  await delay(WINDOW_MS);
  return `${(1e5 * (cpu() - before) / WINDOW_MS).toFixed(2)} %`;
}

async function measure(runs: number, rows: number): Promise<void> {
  const folder = `${dir}/${runs}`, log = `${HEADER}\n${rowsOf(0, rows)}`;
  for (let seed = 0; seed < runs; seed++) {
    makeRun(`${folder}/run-${seed}`, { config: { seed }, log });
  }
  const board = await startBoard(folder);
  const start = performance.now();
  const index = await (await board.get("/api/index")).json();
  const table = performance.now() - start;
  const ids = index.runs.map(({ id }: { id: string }) => id);
  const controller = new AbortController();
  const request = ["steps", "means", POINTS, encodeURIComponent(STATISTIC)];
  const query = new URLSearchParams({
    version: index.version,
    curves: [...request, ids.join("*")].join(" "),
  });
  const events = eventsOf(
    await board.get(`/api/events?${query}`, controller.signal),
  );
  /** Waits for the new points of some runs. */
  const until = async (count: number) => {
    for (const left = new Set(); left.size < count;) {
      const { value } = await events.next();
      if (value!.event === "curves") left.add(value!.data.run);
    }
    return performance.now();
  };
  const curves = await until(runs) - start;
  let next = rows;
  const append = (run: number) =>
    Deno.writeTextFileSync(
      `${folder}/run-${run}/progress.csv`,
      rowsOf(next, ++next),
      { append: true },
    );
  const seen: number[] = [];
  for (let i = 0; i < ROWS; i++) {
    await delay(100 + 13 * i);
    append(0);
    seen.push(-performance.now() + await until(1));
  }
  const writing = setInterval(() => [0, 1].forEach((run) => append(run)), 200);
  const reading = readOn(events);
  const live = await partOf(board);
  clearInterval(writing);
  controller.abort();
  await reading;
  await delay(500);
  console.log(
    `${runs} runs of ${rows} rows: table ${table.toFixed(0)} ms, curves ${
      curves.toFixed(0)
    } ms, a new row median ${median(seen).toFixed(0)} ms, 95 % ${
      quantile(seen, 0.95).toFixed(0)
    } ms, memory ${
      board.memory().toFixed(0)
    } MB, processor ${live} with 2 live, ${await partOf(
      board,
    )} with nobody looking`,
  );
  await board.close();
}

/** Trains, and returns the seconds that it took. */
async function train(out: string): Promise<number> {
  const settings = ["a2c", "--steps=400000", "--quiet", `--out=${out}`];
  const { success } = await deno("run", ["train", ...settings]).output();
  if (!success) throw new Error("the training failed");
  const [header, ...rows] = Deno.readTextFileSync(`${out}/progress.csv`)
    .trim().split("\n").map((it) => it.split(","));
  return Number(rows.at(-1)![header.indexOf("time/seconds")]);
}

async function measureTraining(): Promise<void> {
  const folder = `${dir}/training`, alone: number[] = [], beside: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    alone.push(await train(`${folder}/alone-${pair}`));
    const board = await startBoard(folder);
    const controller = new AbortController();
    const events = eventsOf(
      await board.get("/api/events?version=", controller.signal),
    );
    const reading = readOn(events);
    beside.push(await train(`${folder}/beside-${pair}`));
    controller.abort();
    await reading;
    await board.close();
  }
  console.log(
    `training: ${median(alone)} s alone, ${median(beside)} s beside a board (${
      (median(beside) / median(alone)).toFixed(3)
    }; ${PAIRS} pairs, ${sorted(alone)[0]} to ${sorted(alone).at(-1)} s alone)`,
  );
}

try {
  await measure(200, 1_000);
  await measure(500, 10_000);
  await measureTraining();
} finally {
  await Deno.remove(dir, { recursive: true });
}
