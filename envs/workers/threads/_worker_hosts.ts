import type { VecEnv } from "@bellman/types";
import type {
  GroupAnswer,
  GroupArrays,
  GroupCommand,
  GroupHosts,
  GroupRange,
} from "../group_hosts.ts";
import { GroupRunner } from "../_group_runner.ts";
import {
  HostFailure,
  sendableError,
  type SentError,
  thrownFailure,
} from "../host_failure.ts";
import {
  ANSWER,
  COMMAND,
  Spinner,
  STATE,
  WORD,
  type WorkerData,
} from "./_worker_words.ts";
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
} from "node:worker_threads";
import { startWorker } from "../start_worker.ts";
import type { CheckedSource } from "../group_source.ts";
import "./_worker_main.ts";

/** A group that the calling thread hosts itself, while it would only wait. */
class LocalSlot {
  /** The count of events when it last became ready. */
  readyAt = 0;
  readonly hasEnded = true;
  readonly signs = 0;
  #make: () => VecEnv;
  #first: number;
  #runner: GroupRunner | undefined;
  #arrays: GroupArrays | undefined;
  #asked: GroupCommand | undefined;
  #answer: GroupAnswer | undefined;
  #failure: HostFailure | undefined;

  /**
   * @param make Makes the environments.
   * @param first Number of the first of them among all groups.
   */
  constructor(make: () => VecEnv, first: number) {
    this.#make = make;
    this.#first = first;
  }

  get isReady(): boolean {
    return this.#asked === undefined;
  }

  attach(arrays: GroupArrays): void {
    this.#arrays = arrays;
    this.#runner?.attach(arrays);
  }

  begin(command: GroupCommand): void {
    this.#asked = command;
    this.#answer = this.#failure = undefined;
  }

  /** Does what was asked. */
  run(): void {
    const command = this.#asked;
    if (command === undefined) return;
    this.#asked = undefined;
    try {
      const runner = this.#runner ??= this.#open();
      this.#answer = runner.run(command);
      runner.write();
    } catch (error) {
      this.#failure = thrownFailure(sendableError(error));
    }
  }

  finish(): GroupAnswer {
    this.run();
    if (this.#failure !== undefined) throw this.#failure;
    return this.#answer!;
  }

  #open(): GroupRunner {
    const runner = new GroupRunner(this.#make(), this.#first);
    if (this.#arrays !== undefined) runner.attach(this.#arrays);
    return runner;
  }

  /** Forgets the environments; those of the next command are new. */
  drop(): void {
    try {
      this.#runner?.env.close();
    } catch {
      // It is broken; what it does at its end is of no interest.
    }
    this.#runner = undefined;
  }
}

const NO_ANSWER: GroupAnswer = {};
const NONE_ENDED: GroupAnswer = { episodes: [] };

/** Module that a worker runs. */
const MAIN: string = import.meta.resolve("./_worker_main.ts");

/** Environments of a worker. */
interface SlotOptions {
  readonly source: CheckedSource;
  readonly range: GroupRange;
  readonly events: Int32Array;
  readonly arrays: GroupArrays | undefined;
  readonly spins: number;
}

/** The caller's side of one worker. */
class WorkerSlot {
  #words = new Int32Array(new SharedArrayBuffer(4 * WORD.length));
  #port: MessagePort;

  constructor(options: SlotOptions) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const words = this.#words;
    const workerData: WorkerData = { ...options, words, port: port2 };
    // It makes its copies without being asked again.
    Atomics.store(words, WORD.state, STATE.asked);
    const worker = startWorker(MAIN, workerData);
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

  /** Count of the events of all workers when it became ready. */
  get readyAt(): number {
    return Atomics.load(this.#words, WORD.readyAt);
  }

  /** Signs of life so far. */
  get signs(): number {
    return Atomics.load(this.#words, WORD.signs);
  }

  get #state(): number {
    return Atomics.load(this.#words, WORD.state);
  }

  attach(arrays: GroupArrays): void {
    this.#port.postMessage({ type: "attach", arrays });
  }

  begin(command: GroupCommand): void {
    if (command.type === "open") return;
    const isStep = command.type === "step";
    if (!isStep) this.#port.postMessage(command);
    const words = this.#words;
    Atomics.store(words, WORD.command, isStep ? COMMAND.step : COMMAND.message);
    const state = this.#state;
    if (state !== STATE.done && state !== STATE.failed) return;
    // One that has ended meanwhile stays so.
    Atomics.compareExchange(words, WORD.state, state, STATE.asked);
    Atomics.notify(words, WORD.state);
  }

  finish(): GroupAnswer {
    const state = this.#settle(STATE.asked);
    if (state === STATE.gone) throw new HostFailure("exit", "its worker ended");
    if (state === STATE.asked || state === STATE.dropped) {
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
    for (const state of [STATE.asked, STATE.done, STATE.failed]) {
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
    const { message } = receiveMessageOnPort(this.#port)! as { message: T };
    return message;
  }
}

/** Time for workers to close their environments. */
const GRACE_MS = 2_000;

/** Environments of the workers. */
interface WorkerHostsOptions {
  readonly source: CheckedSource;
  readonly groups: readonly GroupRange[];
  /** Number of looks of a thread before it goes to sleep. */
  readonly spins: number;
  /** Makes the environments of the last group in this thread. */
  readonly makeLocal?: () => VecEnv;
}

/** Groups in workers, and the last one perhaps in the calling thread. */
export class WorkerHosts implements GroupHosts {
  readonly groups: readonly GroupRange[];
  /** Number of the last command of each group. */
  #begun: number[] = [];
  #commands = 0;
  #options: WorkerHostsOptions;
  #events = new Int32Array(new SharedArrayBuffer(4));
  #slots: (WorkerSlot | LocalSlot)[] = [];
  #local: LocalSlot | undefined;
  #arrays: readonly GroupArrays[] | undefined;
  #spinner: Spinner;
  #isClosed = false;
  /** Those that are ready; reused. */
  #ready: number[] = [];

  constructor(options: WorkerHostsOptions) {
    this.groups = options.groups;
    this.#options = options;
    this.#spinner = new Spinner(options.spins);
    const { makeLocal } = options;
    if (makeLocal === undefined) return;
    const last = options.groups.length - 1, { first } = options.groups[last];
    this.#slots[last] = this.#local = new LocalSlot(makeLocal, first);
  }

  start(group: number): void {
    if (this.#isClosed) {
      throw new TypeError("Cannot start a worker as its copies were closed");
    }
    const before = this.#slots[group];
    before?.drop();
    if (before instanceof LocalSlot) return;
    const { source, spins } = this.#options;
    this.#slots[group] = new WorkerSlot({
      source,
      range: this.groups[group],
      events: this.#events,
      arrays: this.#arrays?.[group],
      spins,
    });
  }

  attach(arrays: readonly GroupArrays[]): void {
    this.#arrays = arrays;
    arrays.forEach((it, group) => this.#slots[group].attach(it));
  }

  begin(group: number, command: GroupCommand): void {
    this.#begun[group] = this.#commands++;
    this.#slots[group].begin(command);
  }

  waitFor(
    groups: readonly number[],
    { count, timeoutMs }: { count: number; timeoutMs: number },
  ): readonly number[] {
    let deadline: number | undefined;
    if (count < groups.length && this.#isLocalDue(groups)) {
      this.#runLocal(groups);
    }
    for (;;) {
      const seen = Atomics.load(this.#events, 0);
      const ready = this.#readyOf(groups);
      if (ready.length >= count) return this.#inOrder(ready, count);
      // Its share is done while the workers do theirs.
      if (this.#runLocal(groups)) continue;
      deadline ??= performance.now() + timeoutMs;
      const left = deadline - performance.now();
      if (left <= 0) return this.#inOrder(ready, count);
      this.#spinner.wait(this.#events, 0, { value: seen, timeoutMs: left });
    }
  }

  signs(group: number): number {
    return this.#slots[group].signs;
  }

  finish(group: number): GroupAnswer {
    return this.#slots[group].finish();
  }

  /** Workers print to where this thread does. */
  output(): string {
    return "";
  }

  close(): void {
    this.#isClosed = true;
    this.#slots.forEach((slot) => slot.drop());
    const deadline = performance.now() + GRACE_MS;
    for (;;) {
      const seen = Atomics.load(this.#events, 0);
      const left = deadline - performance.now();
      if (this.#slots.every((slot) => slot.hasEnded) || left <= 0) return;
      Atomics.wait(this.#events, 0, seen, left);
    }
  }

  #readyOf(groups: readonly number[]): number[] {
    this.#ready.length = 0;
    for (const group of groups) {
      if (this.#slots[group].isReady) this.#ready.push(group);
    }
    return this.#ready;
  }

  /** True where this thread's own group was asked before all that are ready. */
  #isLocalDue(groups: readonly number[]): boolean {
    const asked = this.#begun[this.groups.length - 1];
    return this.#readyOf(groups).every((group) => this.#begun[group] > asked);
  }

  #runLocal(groups: readonly number[]): boolean {
    const local = this.#local;
    if (local === undefined || local.isReady) return false;
    if (!groups.includes(this.groups.length - 1)) return false;
    local.run();
    local.readyAt = Atomics.load(this.#events, 0);
    return true;
  }

  #inOrder(ready: number[], count: number): readonly number[] {
    // Who waits for all takes them in any order.
    if (count === this.groups.length) return ready;
    const at = (group: number): number => this.#slots[group].readyAt;
    // The counter may have gone over its end between two of them.
    return ready.sort((a, b) => (at(a) - at(b)) | 0);
  }
}
