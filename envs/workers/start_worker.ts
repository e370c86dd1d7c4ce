import { builtin, permissionState } from "@bellman/files";
import type { MessagePort, Worker } from "node:worker_threads";

/**
 * Starts a thread that runs the `main` of a module and keeps no process alive,
 * which only Node's kind of worker can do. That takes a file or a text, and this
 * package may have come from elsewhere.
 *
 * @param module Absolute URL of the module.
 * @param workerData Data for the thread, with its end of a channel.
 * @returns The thread.
 * @throws {Deno.errors.NotCapable} Without the permission to read the module.
 */
export function startWorker(
  module: string,
  workerData: { readonly port: MessagePort },
): Worker {
  checkReadable(new URL(".", module));
  const source = `import { main } from ${JSON.stringify(module)}; main();`;
  const { Worker } = builtin("node:worker_threads");
  const worker = new Worker(
    new URL(`data:text/javascript,${encodeURIComponent(source)}`),
    { workerData, transferList: [workerData.port] },
  );
  worker.unref();
  return worker;
}

/** Throws here, as who waits for a worker would not hear of its error. */
function checkReadable(path: URL): void {
  if (path.protocol !== "file:") return;
  if (permissionState({ name: "read", path }) === "granted") return;
  throw new Deno.errors.NotCapable(
    `Cannot start workers without the permission to read ${path.pathname}: add --allow-read`,
  );
}
