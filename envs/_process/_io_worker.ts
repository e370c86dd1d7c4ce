/**
 * Runs the children of a {@linkcode ChildGroup} and moves bytes between their
 * pipes and shared memory. It never blocks, so that it can always be ended.
 */
import { parentPort } from "node:worker_threads";
import { ChildPipes } from "./_child_pipes.ts";
import { ChildSlot } from "./_child_slot.ts";
import {
  type ChildCommand,
  CLOSED,
  CLOSING,
  COMMANDS,
  EVENTS,
  GROUP,
  KILLS,
  memoryOf,
  NOTHING,
  OPEN,
  OUTBOX,
  RECEIVED,
  type WorkerOrder,
} from "./_layout.ts";

/** How often callers are woken that sleep in a pipe, in milliseconds. */
const RING_MS = 100;

/** The slot of a child, the process in it, and what it was last told. */
interface Place {
  readonly slot: ChildSlot;
  process?: ChildPipes;
  kills: number;
  outbox: number;
}

class IoWorker {
  #words: Int32Array;
  #places: Place[] = [];
  /** Those that have not ended: of a child there may be one before its present. */
  #processes = new Set<ChildPipes>();
  #graceMs: number;
  #showPrints: boolean;
  #ringing: ReturnType<typeof setInterval> | undefined;

  constructor(order: WorkerOrder & { type: "open" }) {
    this.#words = new Int32Array(order.words);
    this.#graceMs = order.graceMs;
    this.#showPrints = order.showPrints;
  }

  start(order: WorkerOrder & { type: "start" }): void {
    if (Atomics.load(this.#words, GROUP) !== OPEN) return;
    const before = this.#places[order.child];
    before?.slot.takeBell();
    // It may not have ended in the time that the caller gave it.
    before?.process?.kill();
    const words = new Int32Array(order.words), memory = memoryOf(order.memory);
    const slot = new ChildSlot(this.#words, words, memory);
    const place: Place = { slot, kills: 0, outbox: 0 };
    this.#places[order.child] = place;
    try {
      place.process = this.#spawn(slot, order.command);
    } catch (error) {
      slot.fail((error as Error).message);
    }
    this.#serve(place);
  }

  #spawn(slot: ChildSlot, command: ChildCommand): ChildPipes {
    const process = new ChildPipes(slot, command, this.#showPrints);
    this.#processes.add(process);
    process.ended.then(() => this.#processes.delete(process));
    return process;
  }

  hangBell({ child, path }: WorkerOrder & { type: "bell" }): void {
    this.#places[child].slot.hangBell(path);
    this.#ringing ??= setInterval(() => {
      for (const { slot } of this.#places) slot.ringSleeper();
    }, RING_MS);
  }

  grow({ child, box, memory }: WorkerOrder & { type: "grow" }): void {
    const place = this.#places[child];
    place.slot.memory[box] = new Uint8Array(memory);
    if (box === "inbox") {
      Atomics.store(place.slot.words, RECEIVED, NOTHING);
    } else {
      place.outbox++;
    }
    this.#serve(place);
  }

  /** Does what the caller wants, until the end. */
  async run(): Promise<void> {
    const words = this.#words;
    for (;;) {
      const seen = Atomics.load(words, COMMANDS);
      if (Atomics.load(words, GROUP) === CLOSING) break;
      for (const place of this.#places) this.#serve(place);
      const change = Atomics.waitAsync(words, COMMANDS, seen);
      if (change.async) await change.value;
    }
    await this.#close();
    clearInterval(this.#ringing);
    for (const { slot } of this.#places) slot.takeBell();
    Atomics.store(words, GROUP, CLOSED);
    Atomics.add(words, EVENTS, 1);
    Atomics.notify(words, EVENTS);
  }

  #serve(place: Place): void {
    const { slot, process } = place;
    const kills = Atomics.load(slot.words, KILLS);
    if (kills !== place.kills) process?.kill();
    place.kills = kills;
    slot.wake();
    // A message in a longer outbox waits until that has arrived.
    if (Atomics.load(slot.words, OUTBOX) === place.outbox) process?.send();
  }

  /** Lets the children end, and ends those that do not. */
  async #close(): Promise<void> {
    const processes = [...this.#processes];
    const all = Promise.all(processes.map((it) => it.ended));
    for (const it of processes) it.closeInput();
    const timer = setTimeout(() => {
      for (const it of processes) it.kill();
    }, this.#graceMs);
    await all;
    clearTimeout(timer);
  }
}

let worker: IoWorker;

parentPort?.on("message", (order: WorkerOrder) => {
  switch (order.type) {
    case "open":
      worker = new IoWorker(order);
      worker.run();
      break;
    case "start":
      worker.start(order);
      break;
    case "bell":
      worker.hangBell(order);
      break;
    case "grow":
      worker.grow(order);
  }
});
