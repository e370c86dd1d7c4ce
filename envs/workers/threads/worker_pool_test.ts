import { assertEquals, assertThrows } from "@std/assert";
import type { RestartEvent } from "../restarts.ts";
import { leavesNothing } from "../testdata/leftovers.ts";
import {
  type Failure,
  FAILURES,
  LENGTH,
  PAUSE_MS,
  type Scripted,
  STARTS,
  STEPS,
} from "../testdata/scripted_worker.ts";
import { WorkerPool, type WorkerPoolOptions } from "./worker_pool.ts";
import { assertRefused } from "../../../tests/testdata/refused.ts";

const MODULE = import.meta.resolve("../testdata/scripted_worker.ts");

/** Workers of which the first one fails, so many times. */
function pool(
  script: Partial<Omit<Scripted, "worker" | "memory">> & {
    failures?: number;
    workers?: number;
  },
  options: Partial<WorkerPoolOptions> = {},
) {
  const { failures = 0, workers = 2, ...rest } = script;
  const memory = new Int32Array(new SharedArrayBuffer(4 * LENGTH * workers));
  memory[FAILURES] = failures;
  const events: RestartEvent[] = [];
  const all = new WorkerPool(MODULE, {
    workers,
    data: (worker): Scripted => ({
      commands: ["step"],
      how: "throw",
      heartbeats: 0,
      ...rest,
      worker,
      memory,
    }),
    onRestart: (event) => events.push(event),
    ...options,
  });
  const of = (place: number, worker: number) => memory[worker * LENGTH + place];
  return { pool: all, memory, events, of };
}

/** Workers that answered, from the episodes that they tell of. */
function workersIn(answers: ReturnType<WorkerPool["step"]>): number[] {
  return answers.map(({ episodes }) => episodes![0].env).sort();
}

Deno.test("all that are there take a step, or those that are named", async () => {
  await leavesNothing(() => {
    const { pool: all, of } = pool({ workers: 3 });
    assertEquals(workersIn(all.step()), [0, 1, 2]);
    assertEquals(workersIn(all.step([1])), [1]);
    assertEquals([0, 1, 2].map((it) => of(STEPS, it)), [1, 2, 1]);
    const saved = all.save();
    assertEquals(saved, [1, 2, 1]);
    all.step();
    all.load(saved);
    assertEquals(all.save(), saved);
    assertRefused({
      "RangeError: Cannot restore 3 workers from a snapshot of 1": () =>
        all.load([1]),
    });
    all.close();
  });
});

const REASONS = { throw: "error", exit: "exit", hang: "timeout" } as const;

for (const [how, reason] of Object.entries(REASONS)) {
  Deno.test(`a worker that fails by '${how}' is replaced while the others go on`, () => {
    const { pool: all, events, of } = pool(
      { failures: 2, how: how as Failure },
      { stepTimeoutMs: 500 },
    );
    assertEquals(workersIn(all.step()), [1]);
    // It is waited for where it is named.
    assertEquals(workersIn(all.step([0])), []);
    assertEquals(workersIn(all.step([0])), [0]);
    assertEquals(workersIn(all.step()), [0, 1]);
    assertEquals(
      events.map(({ host, name, error }) => [host, name, error.reason]),
      Array(2).fill([0, "worker 0", reason]),
    );
    assertEquals([of(STARTS, 0), of(STARTS, 1)], [3, 1]);
    all.close();
  });
}

Deno.test("one that fails as it starts is replaced in its turn, and too many in a row end it", () => {
  for (const failures of [3, 4]) {
    const { pool: all, memory, of } = pool(
      { commands: ["step", "open"], how: "exit", workers: 1 },
      { restarts: 3 },
    );
    memory[FAILURES] = failures;
    assertEquals(workersIn(all.step()), []);
    if (failures === 3) {
      assertEquals(workersIn(all.step()), [0]);
      assertEquals(of(STARTS, 0), 4);
    } else {
      assertThrows(() => all.step(), Error, "restarted 3 times in a row, and");
    }
    all.close();
  }
});

Deno.test("a worker that dies over its state is replaced, and asked again", () => {
  for (const command of ["save", "load"] as const) {
    const { pool: all, events } = pool({
      commands: [command],
      how: "exit",
      failures: 1,
    });
    if (command === "save") assertEquals(all.save(), [0, 0]);
    else all.load([4, 5]);
    assertEquals(events.length, 1);
    assertEquals(all.save(), command === "save" ? [0, 0] : [4, 5]);
    all.close();
  }
});

Deno.test("what a worker throws over its state reaches the caller, and it goes on", () => {
  const { pool: all, events } = pool({ commands: ["save"], failures: 1 });
  assertThrows(() => all.save(), RangeError, "it was told to");
  assertEquals(all.save(), [0, 0]);
  assertEquals(events, []);
  all.close();
});

Deno.test("a worker that cannot start is one clear error", async () => {
  await leavesNothing(() => {
    const memory = new Int32Array(new SharedArrayBuffer(4 * LENGTH));
    memory[FAILURES] = 1;
    assertRefused({
      "RangeError: Cannot start worker 0: it was told to": () =>
        new WorkerPool(MODULE, {
          workers: 1,
          data: (worker) => ({
            worker,
            memory,
            commands: ["open"],
            how: "throw",
          }),
        }),
    });
  });
});

Deno.test("a worker that fails again and again ends the pool", () => {
  const { pool: all } = pool({ failures: 9, workers: 1 }, { restarts: 2 });
  all.step();
  all.step();
  for (let i = 0; i < 2; i++) {
    assertRefused({
      "Error: Cannot go on with worker 0: it was restarted 2 times within 600 s, and now it threw RangeError: it was told to":
        () => all.step(),
    });
  }
  all.close();
});

Deno.test("a worker that gives heartbeats may take long", () => {
  const { pool: all, events } = pool(
    { heartbeats: 9, workers: 1 },
    { stepTimeoutMs: 5 * PAUSE_MS },
  );
  assertEquals(workersIn(all.step()), [0]);
  assertEquals(events, []);
  all.close();
});

Deno.test("a worker that was given up changes nothing any more", () => {
  const { pool: all, events, of } = pool(
    { how: "pause", failures: 1, workers: 1 },
    { stepTimeoutMs: 100 },
  );
  assertEquals(workersIn(all.step()), []);
  assertEquals(events.map((it) => it.error.reason), ["timeout"]);
  assertEquals(workersIn(all.step()), [0]);
  // By now the one before has woken, and found that nobody waits for it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  assertEquals(of(STEPS, 0), 1);
  all.close();
});

Deno.test("time passes only while the pool waits", () => {
  const { pool: all, events } = pool({ how: "exit", failures: 1 }, {
    startTimeoutMs: 20_000,
  });
  assertEquals(workersIn(all.step()), [1]);
  const { now } = performance;
  let hours = 0;
  // This process is stopped for an hour again and again while a worker starts.
  performance.now = () => now.call(performance) + 3_600_000 * hours++;
  try {
    assertEquals(workersIn(all.step([0])), [0]);
  } finally {
    performance.now = now;
  }
  assertEquals(events.length, 1);
  all.close();
});

Deno.test("a worker that starts is waited for before the others take their step", () => {
  const { pool: all, of } = pool({
    commands: ["step"],
    how: "exit",
    failures: 1,
  });
  assertEquals(workersIn(all.step()), [1]);
  // The first one is replaced while the second one is there.
  assertEquals(workersIn(all.step([1, 0])), [0, 1]);
  assertEquals([of(STEPS, 0), of(STEPS, 1)], [1, 2]);
  all.close();
});

Deno.test("closed workers are neither used nor started again", async () => {
  await leavesNothing(() => {
    const { pool: all, events } = pool({});
    all.close();
    assertRefused({
      "TypeError: Cannot use workers that were closed": () => all.step(),
    });
    assertRefused({
      "TypeError: Cannot use workers that were closed": () => all.step([1]),
    });
    assertRefused({
      "TypeError: Cannot use workers that were closed": () => all.save(),
    });
    assertEquals(events, []);
    all.close();
  });
});

Deno.test("a number of workers that cannot be is refused", () => {
  for (const workers of [0, -1, 1.5, NaN, Infinity]) {
    assertThrows(
      () => new WorkerPool(MODULE, { workers, data: () => ({}) }),
      RangeError,
      `Cannot start ${workers} workers: expected a whole number of at least 1`,
    );
  }
});
