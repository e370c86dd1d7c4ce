import { builtin } from "@bellman/files";
import type { MessagePort } from "node:worker_threads";
import { sendableError } from "../host_failure.ts";
import { frameOf } from "../processes/frames.ts";
import { HEAD } from "../processes/host_messages.ts";
import type { RemoteWorkers, WorkerHandle } from "../threads/pooled_worker.ts";
import { endThreads, WorkerThread } from "../threads/worker_thread.ts";
import { checkRay, type NodeProgram, nodeProgram } from "./code_on_nodes.ts";
import { type RayData, RayLauncher } from "./_ray_thread.ts";
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

/** One of them, until another takes its place. */
interface Remote {
  readonly worker: WorkerThread;
  readonly questions: MessagePort;
  readonly service: WorkerService;
}

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
  readonly #launcher: RayLauncher;
  readonly #workers: Remote[] = [];
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
    const ray = { ...options, version, folder };
    this.#launcher = new RayLauncher(count, ray, events);
    addEventListener("unload", this.#atUnload);
  }

  start(worker: number): WorkerHandle {
    const { data, own, service } = this.#options, group = worker - this.first;
    const { command, root } = this.#program;
    if (this.#workers[group]) forget(this.#workers[group]);
    const { MessageChannel } = builtin("node:worker_threads");
    const { port1: questions, port2: aside } = new MessageChannel();
    const opening = { data: { ...data, ...own(worker) }, root };
    const all: RayData = { command, group, opening };
    const handle = new WorkerThread(this.#launcher, { data: all, aside });
    const remote = { worker: handle, questions, service: service(worker) };
    this.#workers[group] = remote;
    return handle;
  }

  serve(): void {
    this.#launcher.serve();
    this.#workers.forEach(answer);
  }

  /** Lists the ids of the processes on their nodes; 0 for one that is being started. */
  pids(): number[] {
    return this.#workers.map((it) => it.worker.pid);
  }

  close(): void {
    removeEventListener("unload", this.#atUnload);
    const all = this.#workers.splice(0);
    endThreads(all.map((it) => it.worker), this.#launcher);
    all.forEach(forget);
    this.#launcher.close();
  }
}

/** Answers the question of a worker, if it has one. */
function answer({ questions, service }: Remote): void {
  const { receiveMessageOnPort } = builtin("node:worker_threads");
  const asked = receiveMessageOnPort(questions);
  if (asked === undefined) return;
  try {
    const question = new Uint8Array(asked.message, HEAD);
    const { buffer } = frameOf(...service.answer(question));
    questions.postMessage(buffer, [buffer]);
  } catch (error) {
    questions.postMessage(sendableError(error));
  }
}

function forget({ questions, service }: Remote): void {
  questions.close();
  service.close();
}
