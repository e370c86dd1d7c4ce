import { assert, assertEquals, assertMatch } from "@std/assert";
import { lockRun } from "@bellman/runs";
import { type StartRun, startRun } from "../runs/tasks/run_task.ts";
import { resolveConfig } from "@bellman/runs/settings";
import { type Cell, type CellResult, nameOf, readCell } from "./cells.ts";
import { CellDriver, type DriverOptions } from "./driver.ts";

/** Cells of one variant, with a seed each. */
function cellsIn(dir: string, seeds: number): CellResult[] {
  return Array.from({ length: seeds }, (_, seed) =>
    readCell({
      variant: "a2c",
      environment: "CartPole-v1",
      seed,
      dir: `${dir}/a2c/CartPole-v1/seed-${seed}`,
    }));
}

/** Settings of a cell. */
function settingsOf(changes: Record<string, unknown>) {
  const all = {
    ...{ env: "CartPole-v1", hiddenSizes: [4] },
    ...{ checkpointInterval: 2000, logInterval: 1000, ...changes },
  };
  return resolveConfig("a2c", { entries: Object.entries(all) });
}

/** Makes a driver, and notes what it tells. */
function driverOf(
  cells: CellResult[],
  { steps = 400, ...options }: Partial<DriverOptions> & { steps?: number } = {},
) {
  const ended: string[] = [], told: string[] = [];
  const stop = new AbortController();
  const driver = new CellDriver(cells, {
    waiting: cells,
    jobs: 2,
    taskOf: ({ dir, seed }: Cell) => ({
      dir,
      settings: settingsOf({ seed, totalTimesteps: steps }),
      episodes: 1,
    }),
    stepsOf: () => steps,
    onEnd: (cell) => void ended.push(`${nameOf(cell)} ${cell.state}`),
    onNotice: (line) => void told.push(line),
    signal: stop.signal,
    ...options,
  });
  return { driver, ended, told, stop };
}

/** Waits until something holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

Deno.test("fewer cells run at a time where their memory is short", async () => {
  const dir = await Deno.makeTempDir();
  const { driver, ended, told } = driverOf(cellsIn(dir, 2), { memory: 1 });
  await driver.run();
  assertEquals(ended.toSorted(), [
    "a2c/CartPole-v1/seed-0 finished",
    "a2c/CartPole-v1/seed-1 finished",
  ]);
  assertEquals(told.length, 1);
  assertMatch(
    told[0],
    /^The 2 cells at a time take .* of memory, of 0\.0 GiB: --jobs 1 from now on$/,
  );
  await Deno.remove(dir, { recursive: true });
});

Deno.test("a cell that signals end is resumed, and has failed where it makes no progress", async () => {
  const dir = await Deno.makeTempDir();
  let kills = 0;
  const start: StartRun = (task, onEvent, signal) => {
    const job = startRun(task, (event) => {
      onEvent?.(event);
      kills++;
      job.kill();
    }, signal);
    return job;
  };
  const { driver, ended, told } = driverOf(cellsIn(dir, 1), {
    ...{ steps: 1e9, start },
  });
  await driver.run();
  assert(kills >= 3);
  const line = "a2c/CartPole-v1/seed-0 was ended by SIGKILL; it is resumed";
  // Where it had made progress, it is tried again.
  assert(told.length >= 2);
  assertEquals([...new Set(told)], [line]);
  assertEquals(ended, ["a2c/CartPole-v1/seed-0 failed"]);
  const [cell] = driver.cells;
  assertEquals(readCell(cell), cell);
  assertMatch(cell.message, /ended by SIGKILL 3 times without progress/);
  await Deno.remove(dir, { recursive: true });
});

Deno.test("a cell that another process has is waited for, and others are run first", async () => {
  const dir = await Deno.makeTempDir();
  const cells = cellsIn(dir, 2);
  await Deno.mkdir(cells[0].dir, { recursive: true });
  const lock = lockRun(cells[0].dir);
  const { driver, ended, told } = driverOf(cells, { jobs: 1 });
  const done = driver.run();
  await until(() => ended.length === 1);
  lock.release();
  await done;
  assertEquals(
    ended,
    [1, 0].map((it) => `a2c/CartPole-v1/seed-${it} finished`),
  );
  assertEquals(told.length, 1);
  assertMatch(
    told[0],
    /^Waiting for a2c\/CartPole-v1\/seed-0, which process \d+ on/,
  );
  await Deno.remove(dir, { recursive: true });
});

Deno.test("the longest cells of a seed come first once times are known", async () => {
  const dir = await Deno.makeTempDir();
  const [known, short, long] = cellsIn(dir, 3);
  const finished: CellResult[] = [
    { ...known, variant: "short", state: "finished", seconds: 1 },
    {
      ...known,
      dir: "b/long/CartPole-v1/seed-0",
      variant: "long",
      state: "finished",
      seconds: 9,
    },
  ];
  const waiting: CellResult[] = [
    { ...short, variant: "short" },
    { ...long, variant: "long", seed: short.seed },
  ];
  const { driver, ended } = driverOf([...finished, ...waiting]);
  const only = new CellDriver(driver.cells, {
    waiting,
    jobs: 1,
    taskOf: ({ dir }) => ({ dir, settings: settingsOf({ env: "none" }) }),
    stepsOf: () => 400,
    onEnd: ({ variant, state }) => void ended.push(`${variant} ${state}`),
    onNotice: () => {},
    signal: new AbortController().signal,
  });
  assertEquals(only.secondsLeft(), 10);
  await only.run();
  assertEquals(ended, ["long failed", "short failed"]);
  assertEquals(only.secondsLeft(), 0);
  await Deno.remove(dir, { recursive: true });
});
