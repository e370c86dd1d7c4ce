import { assert, assertEquals, assertThrows } from "@std/assert";
import { isGone } from "../processes/testdata/processes.ts";
import type { RestartEvent } from "../restarts.ts";
import { WorkerPool, type WorkerPoolOptions } from "../threads/worker_pool.ts";
import { RayWorkers, type RayWorkersOptions } from "./ray_workers.ts";
import type { Remote } from "./testdata/remote_worker.ts";
import { scripted } from "./testdata/scripted.ts";
import type { Script } from "./testdata/scripted_driver.ts";

const MODULE = import.meta.resolve("./testdata/remote_worker.ts");

/** Two workers elsewhere, and what became of them. */
function open(
  data: Partial<Remote> = {},
  { script, ray, ...options }:
    & Partial<WorkerPoolOptions>
    & { script?: Script; ray?: Partial<RayWorkersOptions> } = {},
) {
  const starts = [0, 0], lines: string[] = [], closed: number[] = [];
  let workers!: RayWorkers;
  const all = {
    ...{ from: 10, module: MODULE, questions: 2, pauseMs: 0 },
    ...data,
  };
  const pool = new WorkerPool(MODULE, {
    workers: 2,
    data: () => undefined,
    elsewhere: (events) =>
      workers = new RayWorkers(MODULE, {
        ...scripted(script),
        first: 0,
        count: 2,
        data: all,
        own: (worker) => ({ worker, start: starts[worker]++ }),
        service: (worker) => ({
          answer([who, question]) {
            if (who !== worker) throw new RangeError(`${who} is not ${worker}`);
            return [Uint8Array.of(worker + 1), Uint8Array.of(question)];
          },
          close: () => closed.push(worker),
        }),
        ...ray,
      }, events),
    onRestart: ({ name, error }: RestartEvent) =>
      lines.push(`${name}: ${error.what}`),
    ...options,
  });
  return { pool, workers, starts, lines, closed };
}

/** Workers that answered, and their counts. */
function counts(answers: ReturnType<WorkerPool["step"]>): number[][] {
  return answers.flatMap(({ episodes }) =>
    episodes!.map(({ env, length }) => [env, length])
  ).sort();
}

Deno.test("workers ask while they step, and their states are saved and restored", () => {
  for (const code of ["ship", "here"] as const) {
    const { pool, lines, closed } = open({}, { ray: { code } });
    assertEquals(counts(pool.step()), [[0, 12], [1, 14]]);
    assertEquals(counts(pool.step([1])), [[1, 18]]);
    const saved = pool.save();
    assertEquals(saved, [12, 18]);
    pool.step();
    pool.load(saved);
    assertEquals(pool.save(), saved);
    pool.close();
    assertEquals([lines, closed], [[], [0, 1]]);
  }
});

const WHY = {
  throw: "it threw RangeError: it was told to",
  kill: "its process was ended by SIGKILL",
  hang: "it gave no answer within 1500 ms",
  wrong: "it threw RangeError: 255 is not 1",
};

for (const how of ["throw", "kill", "hang", "wrong"] as const) {
  Deno.test(`a worker that fails by '${how}' is replaced while the other goes on`, () => {
    const { pool, starts, lines, closed } = open({ fails: how }, {
      stepTimeoutMs: 1500,
    });
    assertEquals(counts(pool.step()), [[0, 12], [1, 14]]);
    assertEquals(counts(pool.step()), [[0, 14]]);
    assertEquals(lines, [`worker 1: ${WHY[how]}`]);
    // Where it is named, it is waited for.
    assertEquals(counts(pool.step([1])), [[1, 14]]);
    assertEquals([starts[1], closed], [2, [1]]);
    pool.close();
  });
}

Deno.test("a question is a sign of life", () => {
  const { pool, lines } = open(
    { questions: 8, pauseMs: 300 },
    { stepTimeoutMs: 1500 },
  );
  assertEquals(counts(pool.step()), [[0, 18], [1, 26]]);
  assertEquals(lines, []);
  pool.close();
});

Deno.test("nothing is left after the end, and of a start that fails", async () => {
  const { pool, workers } = open();
  const pids = workers.pids();
  pool.close();
  for (const pid of pids) assert(await isGone(pid));
  for (
    const [options, message] of [
      [
        { script: { failure: "node 10.0.0.2 has no program 'deno'" } },
        "Cannot start worker 0: node 10.0.0.2 has no program 'deno'",
      ],
      [
        { script: { hello: { cpus: 1 } } },
        "Cannot start 2 hosts: the cluster at ",
      ],
      [
        { script: { isStranger: true }, startTimeoutMs: 500 },
        "Cannot start worker 0: it gave no answer within 500 ms",
      ],
      [
        { ray: { data: { deep: ["file:///elsewhere/env.ts"] } } },
        "Cannot ship file:///elsewhere/env.ts to the cluster",
      ],
    ] as const
  ) assertThrows(() => open({}, options), Error, message);
});

Deno.test("a cluster that is gone for good ends the pool with a sentence", () => {
  const folder = Deno.makeTempDirSync(), once = `${folder}/once`;
  const { pool } = open({}, {
    script: { once, diesAfterMs: 2500 },
    restarts: 2,
  });
  assertThrows(
    () => {
      for (;;) pool.step();
    },
    Error,
    "and now Cannot reach the Ray cluster at there: nothing listens",
  );
  pool.close();
  Deno.removeSync(folder, { recursive: true });
});
