/** The thread that speaks to Ray's driver and to the processes that it starts. */
import { builtin } from "@bellman/files";
import type { MessagePort } from "node:worker_threads";
import {
  type GymnasiumGroup,
  GymnasiumProgram,
} from "../../gymnasium/_gymnasium_hosts.ts";
import type { GroupAnswer } from "../group_hosts.ts";
import { HostFailure, type SentError, thrownFailure } from "../host_failure.ts";
import { printToStderr } from "../_print_to_stderr.ts";
import type { Child, ChildCommand } from "../processes/child.ts";
import { frameOf } from "../processes/frames.ts";
import {
  ASKS,
  deserialize,
  FAILED,
  HEAD,
  serialize,
} from "../processes/host_messages.ts";
import { HostThread, serveHosts } from "../processes/host_thread.ts";
import { type DenoGroup, DenoProgram } from "../processes/_process_hosts.ts";
import type { ProcessOpening } from "../processes/serve_process.ts";
import type { HostProgram, HostSide } from "../threads/serve_worker.ts";
import {
  awaitThat,
  endThreads,
  WorkerThread,
} from "../threads/worker_thread.ts";
import { type ClusterSettings, RayCluster, RayHost } from "./_cluster.ts";
import type { RayOptions } from "./ray_options.ts";

function warn(line: string): void {
  printToStderr(new TextEncoder().encode(`Warning: ${line}\n`));
}

/** Time for a cluster to be reached; its driver gives up sooner. */
const REACH_MS = 150_000;

/** Starts processes through a driver of Ray, once that has reached its cluster. */
export class RayLauncher extends HostThread {
  readonly #cluster: WorkerThread;
  readonly #notices: MessagePort;
  readonly #onNotice: (line: string) => void;

  /**
   * Reaches the cluster and listens for hosts.
   *
   * @param count Number of hosts.
   * @param options The cluster, and the version of the program of the hosts.
   * @param events Counter of events, where others count there, too.
   * @throws {TypeError} If the cluster cannot be reached.
   * @throws {RangeError} If the cluster has too few CPUs.
   * @throws {Error} If this process cannot listen there.
   */
  constructor(
    count: number,
    options: RayOptions & { readonly version?: string },
    events?: Int32Array,
  ) {
    super(import.meta.url, events);
    const { cluster, python, listen, code, folder, version } = options;
    const settings = { cluster, python, listen, code, folder, version, count };
    const { MessageChannel } = builtin("node:worker_threads");
    const { port1, port2: aside } = new MessageChannel();
    this.#notices = port1;
    this.#onNotice = options.onNotice ?? warn;
    const data: RayData = { cluster: settings };
    this.#cluster = new WorkerThread(this, { data, aside });
    try {
      awaitThat(() => this.#cluster.isReady, this.events, REACH_MS);
      this.serve();
      this.#cluster.finish();
    } catch (error) {
      this.close();
      throw error instanceof HostFailure ? error.toThrow() : error;
    }
  }

  serve(): void {
    const { receiveMessageOnPort } = builtin("node:worker_threads");
    for (let it; (it = receiveMessageOnPort(this.#notices));) {
      this.#onNotice(it.message);
    }
  }

  override close(): void {
    endThreads([this.#cluster], this);
    this.#notices.close();
    super.close();
  }
}

/** Data of the cluster, or of a host. */
export type RayData =
  | { readonly cluster: ClusterSettings }
  | { readonly command: ChildCommand; readonly group: number }
    & (
      | DenoGroup
      | GymnasiumGroup
      | { readonly opening: ProcessOpening }
    );

/** Serves the cluster and its hosts, in a thread of this very module. */
export function main(): void {
  let cluster: RayCluster;
  serveHosts<RayData>((data, { side, aside }) => {
    if ("cluster" in data) {
      return cluster = new RayCluster(data.cluster, (line) => {
        aside!.postMessage(line);
        side.beat();
      });
    }
    const host = new RayHost(cluster, data.group, data.command);
    if ("opening" in data) {
      return remoteProgram(data.opening, host, { side, aside: aside! });
    }
    return "python" in data
      ? new GymnasiumProgram(data, host)
      : new DenoProgram(data, host);
  });
}

/** Speaks to a process that calls `serveProcess`, and passes on its questions. */
function remoteProgram(
  opening: ProcessOpening,
  host: Child,
  { side, aside }: { side: HostSide; aside: MessagePort },
): HostProgram {
  /** Passes a question on; returns the frame with what it is told. */
  async function pass({ buffer }: Uint8Array<ArrayBuffer>) {
    const { promise, resolve } = Promise.withResolvers<
      ArrayBuffer | SentError
    >();
    aside.once("message", resolve);
    // Memory itself: of a view each number would be looked at.
    aside.postMessage(buffer, [buffer]);
    side.beat();
    const told = await promise;
    if (told instanceof ArrayBuffer) return new Uint8Array(told);
    throw thrownFailure(told);
  }
  return {
    get pid() {
      return host.pid;
    },
    async run(command) {
      const request = command.type === "open" ? opening : command;
      let said = await host.ask(frameOf(serialize(request)));
      while (said[0] === ASKS) said = await host.ask(await pass(said));
      const data = said.subarray(HEAD);
      if (said[0] === FAILED) throw thrownFailure(deserialize(data));
      const answer = deserialize<GroupAnswer>(data);
      return () => answer;
    },
    close(isBusy) {
      aside.close();
      return host.close(isBusy);
    },
  };
}
