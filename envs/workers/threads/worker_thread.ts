import { builtin } from "@bellman/files";
import type { MessagePort } from "node:worker_threads";
import type { GroupAnswer, GroupArrays } from "../group_hosts.ts";
import {
  HostFailure,
  type SentError,
  silentFailure,
  thrownFailure,
} from "../host_failure.ts";
import { startWorker } from "../start_worker.ts";
import type { WorkerHandle } from "./pooled_worker.ts";
import {
  ANSWER,
  COMMAND,
  type HostCommand,
  NO_ANSWER,
  NONE_ENDED,
  STATE,
  WORD,
  type WorkerData,
  type WorkerMessage,
} from "./_worker_messages.ts";

/** Starts hosts, and knows what they have in common. */
export interface Launcher {
  /** Counter of the events of all of them, on which the caller waits. */
  readonly events: Int32Array;
  /**
   * Time for one that is given up to end; 0 where one that hangs cannot be ended.
   */
  readonly patienceMs: number;
  /** Starts one; it does not wait. */
  start(data: WorkerData): void;
  /** Takes what they say beside their answers; it does not wait. */
  serve?(): void;
  /** Ends what is left once all of them have ended. */
  close(): void;
}

/** Starts a thread for each host. */
export class ThreadLauncher implements Launcher {
  readonly events = new Int32Array(new SharedArrayBuffer(4));
  readonly patienceMs = 0;
  readonly #module: string;

  /** @param module Absolute URL of the module whose `main` calls `serveWorker`. */
  constructor(module: string) {
    this.#module = module;
  }

  start(data: WorkerData): void {
    // What it threw comes in a message; unheard events would end the program.
    startWorker(this.#module, data).on("error", () => {});
  }

  close(): void {}
}

/**
 * The caller's side of one host: a thread whose program calls `serveWorker`, or a
 * process that a thread speaks to.
 */
export class WorkerThread implements WorkerHandle {
  #words = new Int32Array(new SharedArrayBuffer(4 * WORD.length));
  #port: MessagePort;
  #launcher: Launcher;

  /** Starts the host, which opens its program without another command. */
  constructor(
    launcher: Launcher,
    { data, aside }: Pick<WorkerData, "data" | "aside">,
  ) {
    const { MessageChannel } = builtin("node:worker_threads");
    const { port1, port2: port } = new MessageChannel();
    this.#port = port1;
    this.#launcher = launcher;
    const words = this.#words, { events } = launcher;
    Atomics.store(words, WORD.state, STATE.busy);
    launcher.start({ words, events, port, aside, data });
  }

  /** True where it has answered or ended. */
  get isReady(): boolean {
    const state = this.#state;
    return state === STATE.done || state === STATE.failed ||
      state === STATE.gone;
  }

  get hasEnded(): boolean {
    return Atomics.load(this.#words, WORD.ended) === 1;
  }

  /** Heartbeats so far. */
  get heartbeats(): number {
    return Atomics.load(this.#words, WORD.heartbeats);
  }

  /** Id of its process; 0 before it has answered. */
  get pid(): number {
    return Atomics.load(this.#words, WORD.pid);
  }

  get #state(): number {
    return Atomics.load(this.#words, WORD.state);
  }

  attach(arrays: GroupArrays): void {
    this.#post({ type: "attach", arrays });
  }

  begin(command: HostCommand): void {
    if (command.type === "open") return;
    const isStep = command.type === "step";
    if (!isStep) this.#post(command);
    const words = this.#words;
    Atomics.store(words, WORD.command, isStep ? COMMAND.step : COMMAND.message);
    const state = this.#state;
    if (state !== STATE.done && state !== STATE.failed) return;
    // One that has ended meanwhile stays so.
    Atomics.compareExchange(words, WORD.state, state, STATE.busy);
    Atomics.notify(words, WORD.state);
  }

  #post(message: WorkerMessage): void {
    this.#port.postMessage(message);
  }

  finish(): GroupAnswer {
    const state = this.#settle(STATE.busy);
    if (state === STATE.gone) throw new HostFailure("exit", "its worker ended");
    if (state === STATE.busy || state === STATE.dropped) throw this.#silence();
    if (state === STATE.failed) throw thrownFailure(this.#read<SentError>()!);
    const answer = Atomics.load(this.#words, WORD.answer);
    if (answer === ANSWER.message) return this.#read<GroupAnswer>()!;
    return answer === ANSWER.noEpisodes ? NONE_ENDED : NO_ANSWER;
  }

  /** Waits for the end of a process that was silent, which tells what it printed. */
  #silence(): HostFailure {
    const { events, patienceMs } = this.#launcher;
    Atomics.notify(this.#words, WORD.state);
    awaitThat(() => this.hasEnded, events, patienceMs);
    const told = this.#read<SentError>();
    return told ? thrownFailure(told) : silentFailure();
  }

  /**
   * Releases the host: it writes nowhere, and ends as soon as it
   * neither calculates nor waits. `terminate` is not called: it stops no worker
   * that does either, and one that ends by itself afterwards is left spinning.
   */
  drop(): void {
    for (const state of [STATE.busy, STATE.done, STATE.failed]) {
      this.#settle(state);
    }
    Atomics.notify(this.#words, WORD.state);
    this.#port.close();
  }

  /** Releases it if it is in that state; returns the state that it was in. */
  #settle(wanted: number): number {
    const words = this.#words;
    for (;;) {
      const state = Atomics.compareExchange(
        words,
        WORD.state,
        wanted,
        STATE.dropped,
      );
      if (state !== STATE.writing) return state;
      // A moment: it copies its numbers.
      Atomics.wait(words, WORD.state, STATE.writing, 1);
    }
  }

  #read<T>(): T | undefined {
    const { receiveMessageOnPort } = builtin("node:worker_threads");
    return receiveMessageOnPort(this.#port)?.message as T | undefined;
  }
}

/** Time for workers to close their programs. */
const GRACE_MS = 2_000;

/** Releases hosts, and waits for a while until they have ended. */
export function endThreads(
  threads: readonly Pick<WorkerThread, "drop" | "hasEnded">[],
  { events, patienceMs }: Pick<Launcher, "events" | "patienceMs">,
): void {
  threads.forEach((it) => it.drop());
  const timeoutMs = Math.max(patienceMs, GRACE_MS);
  awaitThat(() => threads.every((it) => it.hasEnded), events, timeoutMs);
}

/** Waits for a while until something is so that comes with events. */
export function awaitThat(
  isSo: () => boolean,
  events: Int32Array,
  timeoutMs: number,
): void {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const seen = Atomics.load(events, 0);
    const left = deadline - performance.now();
    if (isSo() || left <= 0) return;
    Atomics.wait(events, 0, seen, left);
  }
}
