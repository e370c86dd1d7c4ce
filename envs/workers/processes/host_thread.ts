/** The thread that speaks to processes of hosts, as seen from both sides. */
import { builtin } from "@bellman/files";
import type { MessagePort, Worker } from "node:worker_threads";
import { startWorker } from "../start_worker.ts";
import type { WorkerData } from "../threads/_worker_messages.ts";
import { type HostProgram, HostSide } from "../threads/serve_worker.ts";
import type { Launcher } from "../threads/worker_thread.ts";

/** Starts hosts in processes, to all of which one thread speaks. */
export class HostThread implements Launcher {
  readonly events: Int32Array;
  /** Time for the system to end a process. */
  readonly patienceMs = 30_000;
  readonly #worker: Worker;
  readonly #control: MessagePort;

  /**
   * @param module Absolute URL of the module whose `main` calls `serveHosts`.
   * @param events Counter of events, where others count there, too.
   */
  constructor(
    module: string,
    events: Int32Array = new Int32Array(new SharedArrayBuffer(4)),
  ) {
    const { MessageChannel } = builtin("node:worker_threads");
    const { port1, port2: port } = new MessageChannel();
    this.events = events;
    this.#control = port1;
    this.#worker = startWorker(module, { port });
    // Deno prints what it threw; unheard events would end the program.
    this.#worker.on("error", () => {});
  }

  start(data: WorkerData): void {
    const { port, aside } = data;
    this.#control.postMessage(data, aside ? [port, aside] : [port]);
  }

  close(): void {
    this.#worker.terminate();
    this.#control.close();
  }
}

/**
 * Serves hosts in processes, in the thread that a `HostThread` has started.
 *
 * @param make Makes what speaks to a host, of its data.
 */
export function serveHosts<Data>(
  make: (
    data: Data,
    host: { readonly side: HostSide; readonly aside?: MessagePort },
  ) => HostProgram,
): void {
  const { port } = builtin("node:worker_threads").workerData as {
    port: MessagePort;
  };
  const sides = new Set<HostSide>();
  const process = builtin("node:process");
  const die = (error: unknown): void => {
    for (const it of sides) {
      it.fail(error);
      it.end();
    }
    process.exit();
  };
  process.on("unhandledRejection", die);
  process.on("uncaughtException", die);
  // It keeps this thread alive, which else only waits for shared memory.
  port.on("message", async (data: WorkerData) => {
    const side = new HostSide(data);
    sides.add(side);
    await side.follow(make(data.data as Data, { side, aside: data.aside }));
    sides.delete(side);
  });
}
