import { builtin } from "@bellman/files";
import type { MessagePort } from "node:worker_threads";
import type { GroupAnswer, GroupArrays, GroupCommand } from "../group_hosts.ts";
import { HostFailure, type SentError, thrownFailure } from "../host_failure.ts";
import { startWorker } from "../start_worker.ts";
import type { WorkerHandle } from "./pooled_worker.ts";
import {
  ANSWER,
  COMMAND,
  STATE,
  WORD,
  type WorkerData,
  type WorkerMessage,
} from "./_worker_messages.ts";

const NO_ANSWER: GroupAnswer = {};
const NONE_ENDED: GroupAnswer = { episodes: [] };

/** The caller's side of one worker, whose program calls `serveWorker`. */
export class WorkerThread implements WorkerHandle {
  #words = new Int32Array(new SharedArrayBuffer(4 * WORD.length));
  #port: MessagePort;

  /** Starts the thread, which opens its program without another command. */
  constructor(
    module: string,
    { data, events }: Pick<WorkerData, "data" | "events">,
  ) {
    const { MessageChannel } = builtin("node:worker_threads");
    const { port1, port2: port } = new MessageChannel();
    this.#port = port1;
    const words = this.#words;
    Atomics.store(words, WORD.state, STATE.busy);
    const all: WorkerData = { words, events, port, data };
    const worker = startWorker(module, all);
    // What it threw comes in a message; unheard events would end the program.
    worker.on("error", () => {});
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

  get #state(): number {
    return Atomics.load(this.#words, WORD.state);
  }

  attach(arrays: GroupArrays): void {
    this.#post({ type: "attach", arrays });
  }

  begin(command: GroupCommand): void {
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
    if (state === STATE.busy || state === STATE.dropped) {
      throw new HostFailure("timeout", "it is silent");
    }
    if (state === STATE.failed) throw thrownFailure(this.#read<SentError>());
    const answer = Atomics.load(this.#words, WORD.answer);
    if (answer === ANSWER.message) return this.#read<GroupAnswer>();
    return answer === ANSWER.noEpisodes ? NONE_ENDED : NO_ANSWER;
  }

  /**
   * Releases the worker: it writes nowhere, and ends as soon as it
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

  #read<T>(): T {
    const { receiveMessageOnPort } = builtin("node:worker_threads");
    const { message } = receiveMessageOnPort(this.#port)! as { message: T };
    return message;
  }
}

/** Time for workers to close their programs. */
const GRACE_MS = 2_000;

/** Releases workers, and waits for a while until they have ended. */
export function endThreads(
  threads: readonly Pick<WorkerThread, "drop" | "hasEnded">[],
  events: Int32Array,
): void {
  threads.forEach((it) => it.drop());
  const deadline = performance.now() + GRACE_MS;
  for (;;) {
    const seen = Atomics.load(events, 0);
    const left = deadline - performance.now();
    if (threads.every((it) => it.hasEnded) || left <= 0) return;
    Atomics.wait(events, 0, seen, left);
  }
}
