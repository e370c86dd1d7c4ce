import type { EpisodeStatistics, StateTree, Statistics } from "@bellman/types";
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from "node:worker_threads";
import type { FromWorker, ToWorker, WorkerData } from "./_worker_main.ts";
import type { SharedParameters } from "./parameter_server.ts";
import { allocateWords, OWN, SHARED, STATE } from "./worker_control.ts";

/** Restarts of a worker in a row, each after few steps, after which training ends. */
const MAX_RESTARTS = 3;
const FEW_STEPS = 10;

/** Milliseconds for a worker to make its environment and to compile. */
const START_MS = 120_000;

/** Milliseconds for a worker that was given up to end by itself. */
const GRACE_MS = 1_000;

/** Milliseconds between two looks for workers that hang. */
const LOOK_MS = 200;

/** Options of {@link ActorLearners}. */
export interface ActorLearnersOptions {
  readonly shared: SharedParameters;
  readonly onNotice: (line: string) => void;
  /** Everything that all workers are started with. */
  readonly data: Omit<
    WorkerData,
    | "port"
    | "control"
    | "memory"
    | "worker"
    | "seed"
  >;
  /** Seed of a worker after so many restarts. */
  readonly seedOf: (worker: number, restarts: number) => number;
}

/** One worker, as it is seen from outside. */
class Slot {
  readonly own: Int32Array = allocateWords(2);
  readonly #port: MessagePort;
  /** Error that it told of. */
  failure: string | undefined;
  /** Last change of its steps or state that was seen, and its time. */
  #seen = { steps: 0, state: STATE.starting, at: performance.now() };

  constructor(data: Omit<WorkerData, "port">) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const own = this.own, control = { ...data.control, own };
    const worker = new Worker(
      new URL(
        `data:text/javascript,${
          encodeURIComponent(
            `import { main } from ${JSON.stringify(MAIN)}; main();`,
          )
        }`,
      ),
      { workerData: { ...data, control, port: port2 }, transferList: [port2] },
    );
    worker.unref();
    // What it threw comes in a message; unheard events would end the program.
    worker.on("error", (error) => {
      this.failure ??= error.message;
    });
  }

  get state(): number {
    return Atomics.load(this.own, OWN.state);
  }

  get steps(): number {
    return Atomics.load(this.own, OWN.steps);
  }

  /** Milliseconds since its last step, while it takes one or starts. */
  get silence(): number {
    const { steps, state } = this, now = performance.now();
    const isSame = steps === this.#seen.steps && state === this.#seen.state;
    const isWaiting = state === STATE.waiting || state === STATE.parked;
    if (isWaiting || !isSame) this.#seen = { steps, state, at: now };
    return now - this.#seen.at;
  }

  send(message: ToWorker): void {
    this.#port.postMessage(message);
  }

  receive(): FromWorker | undefined {
    const received = receiveMessageOnPort(this.#port);
    return (received as { message: FromWorker } | undefined)?.message;
  }

  /** Gives it up: it changes nothing any more, and ends. */
  drop(shared: Int32Array): void {
    for (;;) {
      const state = this.state;
      if (state === STATE.ended || state === STATE.dropped) break;
      // A moment: it changes shared memory.
      if (state === STATE.changing) Atomics.wait(this.own, OWN.state, state, 1);
      else Atomics.compareExchange(this.own, OWN.state, state, STATE.dropped);
    }
    // Those that wait would not hear of it otherwise.
    Atomics.add(shared, SHARED.wake, 1);
    Atomics.notify(shared, SHARED.wake);
    Atomics.notify(shared, SHARED.turn);
    this.#port.close();
  }
}

/** Module that a worker runs. */
const MAIN: string = import.meta.resolve("./_worker_main.ts");

/** Actor-learner workers: lets them take steps, and replaces those that fail. */
export class ActorLearners {
  /** Episodes that ended before the last stop. */
  readonly episodes: EpisodeStatistics[] = [];
  readonly #options: ActorLearnersOptions;
  readonly #shared: Int32Array = allocateWords(5);
  readonly #slots: Slot[] = [];
  readonly #restarts: number[];
  /** Restarts of each worker in a row, after few steps. */
  readonly #inARow: number[];
  #reports: Statistics[] = [];
  #rates: number[] = [];

  constructor(options: ActorLearnersOptions) {
    this.#options = options;
    this.#restarts = Array.from({ length: options.data.workers }, () => 0);
    this.#inARow = this.#restarts.slice();
  }

  /** Steps a second of each worker in the last advance. */
  get rates(): readonly number[] {
    return this.#rates;
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
    const { workers } = this.#options.data;
    for (let i = 0; i < workers; i++) this.#open(i);
    await this.#until(
      () => this.#slots.every(({ state }) => state === STATE.parked),
      (_, why) => {
        throw new Error(
          /^(Cannot|Unknown) /.test(why)
            ? why
            : `Cannot start a worker: ${why}`,
        );
      },
    );
  }

  #open(worker: number): void {
    const { data, shared, seedOf } = this.#options;
    this.#slots[worker] = new Slot({
      ...data,
      memory: shared.memory,
      control: { shared: this.#shared, own: this.#shared },
      worker,
      seed: seedOf(worker, this.#restarts[worker]),
    });
  }

  /** Lets all workers together take so many steps; all stand still afterwards. */
  async advance(steps: number): Promise<void> {
    const shared = this.#shared, limit = this.#options.shared.steps + steps;
    const before = this.#slots.map((slot) => slot.steps);
    const start = performance.now();
    this.episodes.length = this.#reports.length = 0;
    Atomics.store(shared, SHARED.claims, limit - steps);
    Atomics.store(shared, SHARED.limit, limit);
    this.#wake();
    await this.#until(() => this.#hasReached(limit));
    const seconds = (performance.now() - start) / 1000;
    this.#rates = this.#slots.map((slot, i) =>
      Math.max(0, slot.steps - before[i]) / seconds
    );
    this.#slots.forEach((slot) => this.#read(slot));
  }

  #hasReached(limit: number): boolean {
    const isStill = this.#slots.every(({ state }) =>
      state === STATE.parked || state === STATE.starting
    );
    if (!isStill) return false;
    const steps = this.#options.shared.steps;
    if (steps >= limit) return true;
    const isClaimed = Atomics.load(this.#shared, SHARED.claims) >= limit;
    if (isClaimed && this.#options.data.config.workerOrder === "free") {
      // Workers that were given up took their claims with them.
      Atomics.store(this.#shared, SHARED.claims, steps);
      this.#wake();
    }
    return false;
  }

  #wake(): void {
    Atomics.add(this.#shared, SHARED.wake, 1);
    Atomics.notify(this.#shared, SHARED.wake);
  }

  /** Waits, and replaces workers that fail or hang. */
  async #until(
    isDone: () => boolean,
    onFailure = (worker: number, why: string) => this.#replace(worker, why),
  ): Promise<void> {
    const shared = this.#shared;
    // Neither a wait nor a worker keeps the event loop going.
    const timer = setInterval(() => {}, LOOK_MS);
    try {
      for (;;) {
        const seen = Atomics.load(shared, SHARED.events);
        this.#look(onFailure);
        if (isDone()) return;
        const change = Atomics.waitAsync(shared, SHARED.events, seen, LOOK_MS);
        if (change.async) await change.value;
      }
    } finally {
      clearInterval(timer);
    }
  }

  #look(onFailure: (worker: number, why: string) => void): void {
    const { stepTimeoutMs } = this.#options.data;
    this.#slots.forEach((slot, worker) => {
      if (slot.state === STATE.ended || slot.failure !== undefined) {
        this.#read(slot);
        onFailure(worker, slot.failure ?? "it ended");
        return;
      }
      const isStarting = slot.state === STATE.starting;
      const patience = isStarting ? START_MS : stepTimeoutMs;
      if (slot.silence <= patience) return;
      onFailure(worker, `it was silent for ${patience / 1000} s`);
    });
  }

  #replace(worker: number, why: string): void {
    const restarts = ++this.#restarts[worker], slot = this.#slots[worker];
    slot.drop(this.#shared);
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
      if (message.type === "state") state = message.state;
      else if (message.type === "failed") slot.failure = message.message;
      else {
        this.episodes.push(...message.episodes);
        if (message.statistics) this.#reports.push(message.statistics);
      }
    }
  }

  /** Saves each worker: its agent, its environment, its restarts. */
  save(): StateTree {
    return {
      turn: Atomics.load(this.#shared, SHARED.turn),
      restarts: this.#restarts.slice(),
      states: this.#ask(() => ({ type: "save" })),
    };
  }

  /** Checks that a state is of as many workers. */
  check(state: StateTree): void {
    const { states } = state as { states: StateTree[] };
    const { workers } = this.#options.data;
    if (states.length === workers) return;
    throw new RangeError(
      `Cannot restore ${states.length} workers: expected ${workers}`,
    );
  }

  /** Restores what `save` gave. */
  load(state: StateTree): void {
    const { turn, restarts, states } = state as Record<string, StateTree>;
    Atomics.store(this.#shared, SHARED.turn, turn as number);
    (restarts as number[]).forEach((it, i) => this.#restarts[i] = it);
    this.#ask((i) => ({ type: "load", state: (states as StateTree[])[i] }));
  }

  /** Asks all workers, which stand still, and waits with the thread for their states. */
  #ask(messageFor: (worker: number) => ToWorker): StateTree[] {
    const shared = this.#shared, states: (StateTree | undefined)[] = [];
    const asked: (Slot | undefined)[] = [];
    for (;;) {
      const seen = Atomics.load(shared, SHARED.events);
      this.#look((worker, why) => this.#replace(worker, why));
      this.#slots.forEach((slot, i) => {
        // A successor is asked anew.
        if (asked[i] !== slot && slot.state === STATE.parked) {
          slot.send(messageFor(i));
          asked[i] = slot;
          this.#wake();
        }
        if (asked[i] === slot) states[i] ??= this.#read(slot);
      });
      if (this.#slots.every((_, i) => states[i] !== undefined)) {
        return states as StateTree[];
      }
      Atomics.wait(shared, SHARED.events, seen, LOOK_MS);
    }
  }

  /** Ends all workers, and waits a moment until they have ended. */
  close(): void {
    const shared = this.#shared, deadline = performance.now() + GRACE_MS;
    for (const slot of this.#slots) slot.drop(shared);
    for (;;) {
      const seen = Atomics.load(shared, SHARED.events);
      const left = deadline - performance.now();
      const haveEnded = this.#slots.every(({ state }) => state === STATE.ended);
      if (haveEnded || left <= 0) return;
      Atomics.wait(shared, SHARED.events, seen, left);
    }
  }
}
