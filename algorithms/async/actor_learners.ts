import { deriveSeed } from "@bellman/envs";
import { startWorker } from "@bellman/envs/workers";
import type { EpisodeStatistics, StateTree, Statistics } from "@bellman/types";
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
} from "node:worker_threads";
import {
  type FleetData,
  type FromWorker,
  OWN,
  signal,
  STATE,
  WORD,
  type WorkerData,
} from "./_worker_main.ts";
import type { SharedParameters } from "./parameter_server.ts";

/** Restarts of a worker in a row, each after few steps, after which training ends. */
const MAX_RESTARTS = 3;
const FEW_STEPS = 10;

/** Milliseconds for a worker to make its environment and to compile. */
const START_MS = 120_000;

/** Milliseconds for a worker that was given up to end by itself. */
const GRACE_MS = 1_000;

/** Milliseconds between two looks for workers that hang. */
const LOOK_MS = 200;

/** Module that a worker runs. */
const MAIN: string = import.meta.resolve("./_worker_main.ts");

function allocateWords(count: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * count));
}

/** One worker, as it is seen from outside. */
class Slot {
  readonly #own: Int32Array = allocateWords(2);
  readonly #words: Int32Array;
  readonly #port: MessagePort;
  /** Error that it told of. */
  failure: string | undefined;
  /** Last change of its steps or state that was seen, and its time. */
  #seen = { steps: 0, state: STATE.starting, at: performance.now() };

  constructor(data: Omit<WorkerData, "port" | "own">) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#words = data.words;
    const workerData: WorkerData = { ...data, own: this.#own, port: port2 };
    const worker = startWorker(MAIN, workerData);
    // What it threw comes in a message; unheard events would end the program.
    worker.on("error", (error) => {
      this.failure ??= error.message;
    });
  }

  get state(): number {
    return Atomics.load(this.#own, OWN.state);
  }

  get steps(): number {
    return Atomics.load(this.#own, OWN.steps);
  }

  /** Milliseconds since its last step, while it takes one or starts. */
  get silence(): number {
    const { steps, state } = this, now = performance.now();
    const isSame = steps === this.#seen.steps && state === this.#seen.state;
    const isWaiting = state === STATE.waiting || state === STATE.parked;
    if (isWaiting || !isSame) this.#seen = { steps, state, at: now };
    return now - this.#seen.at;
  }

  /** Asks for its state, after it has restored one or not. */
  ask(state: StateTree): void {
    this.#port.postMessage(state);
    signal(this.#words, WORD.wake);
  }

  receive(): FromWorker | undefined {
    const received = receiveMessageOnPort(this.#port);
    return (received as { message: FromWorker } | undefined)?.message;
  }

  /** Gives it up: it changes nothing any more, and ends. */
  drop(): void {
    const own = this.#own, words = this.#words;
    for (;;) {
      const { state } = this;
      if (state === STATE.ended || state === STATE.dropped) break;
      // A moment: it changes shared memory.
      if (state === STATE.changing) Atomics.wait(own, OWN.state, state, 1);
      else Atomics.compareExchange(own, OWN.state, state, STATE.dropped);
    }
    // Those that wait would not hear of it otherwise.
    signal(words, WORD.wake);
    Atomics.notify(words, WORD.next);
    this.#port.close();
  }
}

/** Options of {@link ActorLearners}. */
export interface ActorLearnersOptions {
  /** Parameters that they learn. */
  readonly shared: SharedParameters;
  /** Takes a line about a worker that was replaced. */
  readonly onNotice: (line: string) => void;
}

/** Actor-learner workers: lets them take steps, and replaces those that fail. */
export class ActorLearners {
  /** Episodes that ended before the last stop. */
  readonly episodes: EpisodeStatistics[] = [];
  /** Steps a second of each worker in the last advance. */
  rates: readonly number[] = [];
  readonly #data: FleetData;
  readonly #options: ActorLearnersOptions;
  readonly #words: Int32Array = allocateWords(4);
  readonly #slots: Slot[] = [];
  readonly #restarts: number[];
  /** Restarts of each worker in a row, after few steps. */
  readonly #inARow: number[];
  readonly #reports: Statistics[] = [];
  #hasStarted = false;

  constructor(data: FleetData, options: ActorLearnersOptions) {
    this.#data = data;
    this.#options = options;
    this.#restarts = Array.from({ length: data.workers }, () => 0);
    this.#inARow = this.#restarts.slice();
  }

  /** Means of the statistics that workers reported at the last stop. */
  get statistics(): Statistics | undefined {
    if (this.#reports.length === 0) return undefined;
    const means: Statistics = {};
    for (const name in this.#reports[0]) {
      const sum = this.#reports.reduce((sum, it) => sum + it[name], 0);
      means[name] = sum / this.#reports.length;
    }
    return means;
  }

  /** Starts all workers; one that cannot start is an error. */
  async start(): Promise<void> {
    this.#restarts.forEach((_, worker) => this.#open(worker));
    await this.#until(() =>
      this.#slots.every(({ state }) => state === STATE.parked)
    );
    this.#hasStarted = true;
  }

  #open(worker: number): void {
    const seed = deriveSeed(this.#data.seed, worker);
    this.#slots[worker] = new Slot({
      ...this.#data,
      worker,
      seed: deriveSeed(seed, this.#restarts[worker]),
      memory: this.#options.shared.memory,
      words: this.#words,
    });
  }

  /** Lets all workers together take so many steps; all stand still afterwards. */
  async advance(steps: number): Promise<void> {
    const limit = this.#options.shared.steps + steps;
    const before = this.#slots.map((slot) => slot.steps);
    const start = performance.now();
    this.episodes.length = this.#reports.length = 0;
    this.#release(limit);
    await this.#until(() => this.#hasReached(limit));
    const seconds = (performance.now() - start) / 1000;
    this.rates = this.#slots.map((slot, i) =>
      Math.max(0, slot.steps - before[i]) / seconds
    );
    this.#slots.forEach((slot) => this.#read(slot));
  }

  /** Lets workers that stand still take the steps that are left before a limit. */
  #release(limit: number): void {
    // The limit comes last: one that wakes late claims nothing in between.
    if (this.#data.config.workerOrder === "free") {
      Atomics.store(this.#words, WORD.next, this.#options.shared.steps);
    }
    Atomics.store(this.#words, WORD.limit, limit);
    signal(this.#words, WORD.wake);
  }

  #hasReached(limit: number): boolean {
    const isStill = this.#slots.every(({ state }) =>
      state === STATE.parked || state === STATE.starting
    );
    if (!isStill) return false;
    if (this.#options.shared.steps >= limit) return true;
    // Workers that were given up took their claims with them.
    if (Atomics.load(this.#words, WORD.next) >= limit) this.#release(limit);
    return false;
  }

  /** Waits, and replaces workers that fail or hang. */
  async #until(isDone: () => boolean): Promise<void> {
    const words = this.#words;
    // Neither a wait nor a worker keeps the event loop going.
    const timer = setInterval(() => {}, LOOK_MS);
    try {
      for (;;) {
        const seen = Atomics.load(words, WORD.events);
        this.#look();
        if (isDone()) return;
        const change = Atomics.waitAsync(words, WORD.events, seen, LOOK_MS);
        if (change.async) await change.value;
      }
    } finally {
      clearInterval(timer);
    }
  }

  #look(): void {
    this.#slots.forEach((slot, worker) => {
      if (slot.state === STATE.ended || slot.failure !== undefined) {
        this.#read(slot);
        this.#replace(worker, slot.failure ?? "it ended");
        return;
      }
      const isStarting = slot.state === STATE.starting;
      const patience = isStarting ? START_MS : this.#data.stepTimeoutMs;
      if (slot.silence <= patience) return;
      this.#replace(worker, `it was silent for ${patience / 1000} s`);
    });
  }

  #replace(worker: number, why: string): void {
    if (!this.#hasStarted) {
      const isWhole = /^(Cannot|Unknown) /.test(why);
      throw new Error(isWhole ? why : `Cannot start a worker: ${why}`);
    }
    const restarts = ++this.#restarts[worker], slot = this.#slots[worker];
    slot.drop();
    const inARow = slot.steps < FEW_STEPS ? this.#inARow[worker] + 1 : 1;
    this.#inARow[worker] = inARow;
    if (inARow > MAX_RESTARTS) {
      throw new Error(
        `Cannot go on with worker ${worker}: it failed ${inARow} times in a row before step ${FEW_STEPS}: ${why}`,
      );
    }
    this.#options.onNotice(
      `Worker ${worker} is replaced (restart ${restarts}): ${why}`,
    );
    this.#open(worker);
  }

  /** Takes in what a worker has reported; returns its state, if it sent one. */
  #read(slot: Slot): StateTree | undefined {
    let state: StateTree | undefined;
    for (;;) {
      const message = slot.receive();
      if (message === undefined) return state;
      state = message.state ?? state;
      slot.failure = message.failure ?? slot.failure;
      this.episodes.push(...message.episodes ?? []);
      if (message.statistics) this.#reports.push(message.statistics);
    }
  }

  /** Saves each worker: its agent, its environment, its restarts. */
  save(): StateTree {
    return {
      turn: Atomics.load(this.#words, WORD.next),
      restarts: this.#restarts.slice(),
      states: this.#ask(),
    };
  }

  /** Checks that a state is of as many workers. */
  check(state: StateTree): void {
    const { length } = (state as { states: StateTree[] }).states;
    const { workers } = this.#data;
    if (length === workers) return;
    throw new RangeError(
      `Cannot restore ${length} workers: expected ${workers}`,
    );
  }

  /** Restores what `save` gave. */
  load(state: StateTree): void {
    const { turn, restarts, states } = state as Record<string, StateTree>;
    // A state may be of before the last limit: nobody takes a step meanwhile.
    Atomics.store(this.#words, WORD.limit, 0);
    Atomics.store(this.#words, WORD.next, turn as number);
    (restarts as number[]).forEach((it, i) => this.#restarts[i] = it);
    this.#ask(states as StateTree[]);
  }

  /** Asks all workers, which stand still, and waits with the thread for their states. */
  #ask(restored: readonly StateTree[] = []): StateTree[] {
    const words = this.#words, states: (StateTree | undefined)[] = [];
    const asked: (Slot | undefined)[] = [];
    for (;;) {
      const seen = Atomics.load(words, WORD.events);
      this.#look();
      this.#slots.forEach((slot, i) => {
        // A successor is asked anew.
        if (asked[i] !== slot && slot.state === STATE.parked) {
          slot.ask(restored[i] ?? null);
          asked[i] = slot;
        }
        if (asked[i] === slot) states[i] ??= this.#read(slot);
      });
      if (this.#slots.every((_, i) => states[i] !== undefined)) {
        return states as StateTree[];
      }
      Atomics.wait(words, WORD.events, seen, LOOK_MS);
    }
  }

  /** Ends all workers, and waits a moment until they have ended. */
  close(): void {
    const words = this.#words, deadline = performance.now() + GRACE_MS;
    for (const slot of this.#slots) slot.drop();
    for (;;) {
      const seen = Atomics.load(words, WORD.events);
      const left = deadline - performance.now();
      const haveEnded = this.#slots.every(({ state }) => state === STATE.ended);
      if (haveEnded || left <= 0) return;
      Atomics.wait(words, WORD.events, seen, left);
    }
  }
}
