// deno-lint-ignore-file no-console -- a bench that prints
/**
 * Pushes a second of workers in processes, which exchange gradients for parameters
 * through sockets of this machine, against those of threads, in turn.
 */
import process from "node:process";
import { selectBackend } from "@bellman/compute";
import { RayWorkers } from "@bellman/envs/ray";
import { WorkerPool } from "@bellman/envs/workers";
import { scripted } from "../../envs/workers/ray/testdata/scripted.ts";
import { serveParameters } from "./_serve_parameters.ts";
import { defaultAsyncConfig } from "./config.ts";
import { SharedParameters } from "./parameter_server.ts";
import type { Sleeper } from "./testdata/sleeper.ts";

await selectBackend("cpu");

const MODULE = import.meta.resolve("./testdata/sleeper.ts");
const WORKERS = 4, WINDOW_MS = 30, ROUNDS = 5, PUSHES = 400;

/** Workers of a kind, and a function that has them push. */
function open(size: number, isElsewhere: boolean) {
  const options = { ...defaultAsyncConfig, workers: WORKERS };
  const shared = SharedParameters.from(new Float32Array(size), options);
  const data = { size, windowMs: WINDOW_MS, options };
  const pool = new WorkerPool(MODULE, {
    workers: WORKERS,
    data: (worker): Sleeper => ({ ...data, worker, memory: shared.memory }),
    ...isElsewhere && {
      elsewhere: (events) =>
        new RayWorkers(MODULE, {
          ...scripted({ hello: { cpus: WORKERS }, isDirect: true }),
          ...{ first: 0, count: WORKERS, data },
          own: (worker) => ({ worker }),
          service: serveParameters(shared),
        }, events),
    },
  });
  const push = (pushes: number) => {
    const cpu = process.cpuUsage(), start = performance.now();
    shared.allow(pushes);
    pool.step();
    const ms = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    return { rate: 1000 * pushes / ms, cpuMs: (user + system) / 1000 / pushes };
  };
  push(WORKERS);
  return { pool, push };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}

for (const size of [4_600, 680_000]) {
  const [near, far] = [open(size, false), open(size, true)];
  const seen = Array.from({ length: ROUNDS }, () => ({
    near: near.push(PUSHES),
    far: far.push(PUSHES),
  }));
  near.pool.close();
  far.pool.close();
  const rates = seen.map(({ near, far }) => far.rate / near.rate);
  console.log(
    `${size} parameters, ${WORKERS} workers, windows of ${WINDOW_MS} ms: ${
      median(seen.map((it) => it.near.rate)).toFixed(0)
    } pushes/s of threads, ${
      median(seen.map((it) => it.far.rate)).toFixed(0)
    } of processes (${median(rates).toFixed(2)}, from ${
      Math.min(...rates).toFixed(2)
    } to ${Math.max(...rates).toFixed(2)}); ${
      median(seen.map((it) => it.far.cpuMs)).toFixed(2)
    } ms of this process's time a push of a process`,
  );
}
