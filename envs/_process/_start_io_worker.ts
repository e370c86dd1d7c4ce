import { Worker } from "node:worker_threads";

/**
 * The thread that serves the pipes. It alone keeps no process alive, which only
 * Node's kind of worker can do. That starts from a `data:` address, as it takes
 * none of `https:`.
 */
export function startIoWorker(): Worker {
  const module = import.meta.resolve("./_io_worker.ts");
  const source = `import ${JSON.stringify(module)};`;
  const worker = new Worker(
    new URL(`data:text/javascript,${encodeURIComponent(source)}`),
  );
  worker.unref();
  return worker;
}
