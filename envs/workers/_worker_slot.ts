import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from "node:worker_threads";
import type { CheckedSource } from "./_check_source.ts";
import type {
  GroupAnswer,
  GroupArrays,
  GroupCommand,
  GroupRange,
} from "./group_hosts.ts";
import { HostFailure } from "./host_failure.ts";
import "./_worker_main.ts";
import {
  ANSWER,
  ASKED,
  COMMAND,
  DONE,
  DROPPED,
  ENDED,
  FAILED,
  GONE,
  MESSAGE,
  NO_EPISODES,
  READ_MESSAGE,
  READY_AT,
  type SentError,
  STATE,
  TAKE_STEP,
  WORDS,
  type WorkerData,
  WRITING,
} from "./_worker_words.ts";

const NO_ANSWER: GroupAnswer = {};
const NONE_ENDED: GroupAnswer = { episodes: [] };

/** What a worker runs. */
export const MAIN: string = import.meta.resolve("./_worker_main.ts");

/**
 * What a worker starts with. `node:worker_threads` takes a file or a text; this
 * package may have come from elsewhere.
 */
const ENTRY = new URL(
  `data:text/javascript,${
    encodeURIComponent(`import { hostGroup } from "${MAIN}"; hostGroup();`)
  }`,
);

/** What a worker is to host, and how. */
export interface SlotOptions {
  readonly source: CheckedSource;
  readonly range: GroupRange;
  readonly events: Int32Array;
  readonly arrays: GroupArrays | undefined;
  readonly spins: number;
}

/** The caller's side of one worker. */
export class WorkerSlot {
  #words = new Int32Array(new SharedArrayBuffer(4 * WORDS));
  #port: MessagePort;

  constructor(options: SlotOptions) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const words = this.#words;
    const workerData: WorkerData = { ...options, words, port: port2 };
    // It makes its copies without being asked again.
    Atomics.store(words, STATE, ASKED);
    const worker = new Worker(ENTRY, {
      workerData,
      transferList: [port2],
    });
    // What it threw comes in a message; unheard events would end the program.
    worker.on("error", () => {});
    // A program that forgets to close its environments ends all the same.
    worker.unref();
  }

  /** Whether it has answered or ended. */
  get isReady(): boolean {
    const state = this.#state;
    return state === DONE || state === FAILED || state === GONE;
  }

  get hasEnded(): boolean {
    return Atomics.load(this.#words, ENDED) === 1;
  }

  /** When it became ready, in events of all workers. */
  get readyAt(): number {
    return Atomics.load(this.#words, READY_AT);
  }

  get #state(): number {
    return Atomics.load(this.#words, STATE);
  }

  attach(arrays: GroupArrays): void {
    this.#port.postMessage({ type: "attach", arrays });
  }

  begin(command: GroupCommand): void {
    if (command.type === "open") return;
    const isStep = command.type === "step";
    if (!isStep) this.#port.postMessage(command);
    const words = this.#words;
    Atomics.store(words, COMMAND, isStep ? TAKE_STEP : READ_MESSAGE);
    const state = this.#state;
    if (state !== DONE && state !== FAILED) return;
    // One that has ended meanwhile stays so.
    Atomics.compareExchange(words, STATE, state, ASKED);
    Atomics.notify(words, STATE);
  }

  finish(): GroupAnswer {
    const state = this.#settle(ASKED);
    if (state === GONE) throw new HostFailure("exit", "its worker ended");
    if (state === ASKED || state === DROPPED) {
      throw new HostFailure("timeout", "it is silent");
    }
    if (state === FAILED) {
      const { message, ...thrown } = this.#read<SentError>();
      throw new HostFailure("error", message, thrown);
    }
    const answer = Atomics.load(this.#words, ANSWER);
    if (answer === MESSAGE) return this.#read<GroupAnswer>();
    return answer === NO_EPISODES ? NONE_ENDED : NO_ANSWER;
  }

  /**
   * Wants nothing of it any more: it writes nowhere, and ends as soon as it
   * neither calculates nor waits. `terminate` is not called: it stops no worker
   * that does either, and one that ends by itself afterwards is left spinning.
   */
  drop(): void {
    for (const state of [ASKED, DONE, FAILED]) this.#settle(state);
    Atomics.notify(this.#words, STATE);
    this.#port.close();
  }

  /** Drops it if it stands so; tells how it stood. */
  #settle(wanted: number): number {
    const words = this.#words;
    for (;;) {
      const state = Atomics.compareExchange(words, STATE, wanted, DROPPED);
      if (state !== WRITING) return state;
      // A moment: it copies its numbers.
      Atomics.wait(words, STATE, WRITING, 1);
    }
  }

  #read<T>(): T {
    const { message } = receiveMessageOnPort(this.#port)! as { message: T };
    return message;
  }
}
