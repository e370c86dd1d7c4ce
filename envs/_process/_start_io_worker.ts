import { Worker } from "node:worker_threads";
import { checkStartable } from "./check_startable.ts";
import { CLOSED, GROUP } from "./_layout.ts";

const MAIN = import.meta.resolve("./_io_worker.ts");

/**
 * The thread that serves the pipes of a group, whose words are given. It alone
 * keeps no process alive, which only Node's kind of worker can do. That starts
 * from a `data:` address, as it takes none of `https:`.
 */
export function startIoWorker(words: Int32Array): Worker {
  checkStartable(MAIN);
  const source = `import ${JSON.stringify(MAIN)};`;
  const worker = new Worker(
    new URL(`data:text/javascript,${encodeURIComponent(source)}`),
  );
  // Deno prints what it threw. Nothing is to be waited for any more.
  worker.on("error", () => Atomics.store(words, GROUP, CLOSED));
  worker.unref();
  return worker;
}
