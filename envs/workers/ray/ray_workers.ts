import { builtin } from "@bellman/files";
import type { GroupAnswer, GroupCommand } from "../group_hosts.ts";
import { HostFailure, sendableError, thrownFailure } from "../host_failure.ts";
import { ASKS, FAILED, HEAD } from "../processes/host_messages.ts";
import type { ProcessOpening } from "../processes/serve_process.ts";
import type { RemoteWorkers, WorkerHandle } from "../threads/pooled_worker.ts";
import { checkRay, type NodeProgram, nodeProgram } from "./_code.ts";
import { RayGroup } from "./ray_group.ts";
import type { RayOptions } from "./ray_options.ts";

/** What one worker asks while it carries out a command, and is told. */
export interface WorkerService {
  /**
   * Answers a question.
   *
   * @param question What it asks.
   * @returns What it is told, in one or more parts.
   * @throws {Error} If it cannot be answered: the worker is then replaced.
   */
  answer(question: Uint8Array): readonly Uint8Array[];
  /** Ends the service, as the worker is lost or not wanted any more. */
  close(): void;
}

/** Settings of {@linkcode RayWorkers}. */
export interface RayWorkersOptions extends RayOptions {
  /** Number of the first of them in the pool. */
  readonly first: number;
  /** Number of workers, each on a CPU of the cluster. */
  readonly count: number;
  /**
   * What all workers get: plain data, in which addresses of modules are those of this
   * machine.
   */
  readonly data: object;
  /**
   * Returns what else a worker gets as it starts, each time that one does.
   *
   * @param worker Its number in the pool.
   */
  readonly own: (worker: number) => object;
  /**
   * Returns what answers the questions of a worker that starts.
   *
   * @param worker Its number in the pool.
   */
  readonly service: (worker: number) => WorkerService;
  /**
   * Deno's flags for what the processes may do.
   *
   * @default those permissions that this process has without bounds
   */
  readonly permissions?: readonly string[];
}

const bytesOf = (value: unknown) => builtin("node:v8").serialize(value);
const valueOf = (bytes: Uint8Array) => builtin("node:v8").deserialize(bytes);

/**
 * Workers of a `WorkerPool` in processes on the nodes of a Ray cluster, as of
 * `RayVecEnv`. While one carries out a command, it may ask this process.
 *
 * @example
 * ```ts ignore
 * import { RayWorkers } from "@bellman/envs/ray";
 * import { WorkerPool } from "@bellman/envs/workers";
 *
 * // Its `main` calls `serveWorker`; as a program it calls `serveProcess`.
 * const module = import.meta.resolve("./worker.ts");
 * const pool = new WorkerPool(module, {
 *   workers: 10, // two threads, and eight on the cluster
 *   data: (worker) => ({ worker }),
 *   elsewhere: (events) =>
 *     new RayWorkers(module, {
 *       cluster: "10.0.0.1:6379",
 *       first: 2,
 *       count: 8,
 *       data: {},
 *       own: (worker) => ({ worker }),
 *       service: () => ({ answer: (question) => [question], close: () => {} }),
 *     }, events),
 * });
 * pool.step();
 * pool.close();
 * ```
 */
export class RayWorkers implements RemoteWorkers {
  readonly first: number;
  readonly #options: RayWorkersOptions;
  readonly #program: NodeProgram;
  readonly #group: RayGroup;
  readonly #workers: RayWorker[] = [];
  #atUnload = (): void => this.close();

  /**
   * Reaches the cluster.
   *
   * @param module Address of the module that the nodes run: it calls `serveProcess`.
   * @param options The cluster, and what workers get and ask.
   * @param events Word of the pool that is increased with all events.
   * @throws {TypeError} If the cluster cannot be reached or used, or a module cannot
   * be sent to a node.
   * @throws {RangeError} If the cluster has too few CPUs.
   */
  constructor(module: string, options: RayWorkersOptions, events: Int32Array) {
    checkRay("host workers");
    const { first, count, data } = options;
    this.first = first;
    this.#options = options;
    this.#program = nodeProgram(module, data, options);
    const { version, folder } = this.#program;
    this.#group = new RayGroup(count, { ...options, version, folder, events });
    addEventListener("unload", this.#atUnload);
  }

  start(worker: number): WorkerHandle {
    const { data, own, service } = this.#options, child = worker - this.first;
    const { command, root } = this.#program, group = this.#group;
    group.start(child, command);
    const opening: ProcessOpening = { data: { ...data, ...own(worker) }, root };
    group.send(child, bytesOf(opening));
    return this.#workers[child] = new RayWorker(group, child, service(worker));
  }

  serve(): void {
    for (const it of this.#workers) it.serve();
  }

  /** Lists the ids of the processes on their nodes; 0 for one that is being started. */
  pids(): number[] {
    return this.#workers.map((_, child) => this.#group.pid(child));
  }

  close(): void {
    removeEventListener("unload", this.#atUnload);
    this.#group.close();
  }
}

/** One of them: a process, until it is given up. */
class RayWorker implements WorkerHandle {
  /** Nothing of it changes what is here; its group ends it. */
  readonly hasEnded = true;
  heartbeats = 0;
  readonly #group: RayGroup;
  readonly #child: number;
  readonly #service: WorkerService;
  #result: GroupAnswer | HostFailure | undefined;
  #isDropped = false;

  constructor(group: RayGroup, child: number, service: WorkerService) {
    this.#group = group;
    this.#child = child;
    this.#service = service;
  }

  get isReady(): boolean {
    return this.#result !== undefined;
  }

  begin(command: GroupCommand): void {
    if (command.type === "open") return;
    // Of one that has ended, its end is found out.
    this.#result = undefined;
    this.#group.send(this.#child, bytesOf(command));
  }

  /** Takes what it has sent since the command. */
  serve(): void {
    const group = this.#group, child = this.#child;
    while (
      !this.#isDropped && this.#result === undefined &&
      group.waitFor([child], 0)
    ) {
      try {
        this.#result = this.#take(group.receive(child, 0));
      } catch (error) {
        this.#result = error instanceof HostFailure
          ? error
          : thrownFailure(sendableError(error));
      }
    }
  }

  /** Answers a question, or returns what ends the command. */
  #take(said: Uint8Array): GroupAnswer | HostFailure | undefined {
    const data = said.subarray(HEAD);
    switch (said[0]) {
      case ASKS:
        this.heartbeats++;
        this.#group.send(this.#child, ...this.#service.answer(data));
        return undefined;
      case FAILED:
        return thrownFailure(valueOf(data));
      default:
        return valueOf(data);
    }
  }

  finish(): GroupAnswer {
    const result = this.#result;
    if (result === undefined) throw new HostFailure("timeout", "it is silent");
    if (result instanceof HostFailure) throw result;
    return result;
  }

  drop(): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#service.close();
  }
}
