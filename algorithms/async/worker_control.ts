/** Places of the words that all workers share. */
export const SHARED = { claims: 0, limit: 1, turn: 2, wake: 3, events: 4 };

/** Places of the words of one worker: its state, and steps that it has begun. */
export const OWN = { state: 0, steps: 1 };

/** States of a worker. */
export const STATE = {
  /** Makes its environment and compiles. */
  starting: 0,
  /** Waits for its turn. */
  waiting: 1,
  /** Has reported, and waits for another limit. */
  parked: 2,
  /** Takes steps. */
  running: 3,
  /** Changes shared memory: it is not given up meanwhile. */
  changing: 4,
  /** Is given up: it changes nothing any more. */
  dropped: 5,
  /** Has ended, whatever ended it. */
  ended: 6,
};

/** Error in a worker that was given up: what it was about to change stays. */
export class DroppedError extends Error {}

/** Memory by which workers are directed. */
export interface ControlMemory {
  /** Words of all workers. */
  readonly shared: Int32Array;
  /** Words of one worker; its successor has others. */
  readonly own: Int32Array;
}

/** Allocates words on shared memory. */
export function allocateWords(count: number): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * count));
}

/** Options of {@link WorkerControl}. */
interface WorkerControlOptions {
  /** Number of the worker. */
  readonly worker: number;
  /** Number of all workers. */
  readonly workers: number;
  /** True where workers take their steps one after another. */
  readonly isDeterministic: boolean;
  /** Steps of all workers so far. */
  readonly steps: () => number;
}

/** A worker's side of the words: claims of steps, and changes that are whole. */
export class WorkerControl {
  readonly #shared: Int32Array;
  readonly #own: Int32Array;
  readonly #options: WorkerControlOptions;

  constructor({ shared, own }: ControlMemory, options: WorkerControlOptions) {
    this.#shared = shared;
    this.#own = own;
    this.#options = options;
  }

  /** Runs a change of shared memory whole, or throws where the worker was given up. */
  readonly guard = (change: () => void): void => {
    this.#move(STATE.running, STATE.changing);
    change();
    this.#move(STATE.changing, STATE.running);
  };

  /** Count of wake-ups so far, to be seen before what may be waited for. */
  get wakes(): number {
    return Atomics.load(this.#shared, SHARED.wake);
  }

  /** Claims a step; false where there is none to be taken before the limit. */
  claim(): boolean {
    this.#become(STATE.running);
    const isClaimed = this.#options.isDeterministic
      ? this.#isOnTurn()
      : this.#isUnderLimit();
    if (isClaimed) Atomics.add(this.#own, OWN.steps, 1);
    return isClaimed;
  }

  #isUnderLimit(): boolean {
    const shared = this.#shared;
    for (;;) {
      const claims = Atomics.load(shared, SHARED.claims);
      if (claims >= Atomics.load(shared, SHARED.limit)) return false;
      const before = Atomics.compareExchange(
        shared,
        SHARED.claims,
        claims,
        claims + 1,
      );
      if (before === claims) return true;
    }
  }

  #isOnTurn(): boolean {
    const { worker, workers, steps } = this.#options;
    for (;;) {
      const turn = Atomics.load(this.#shared, SHARED.turn);
      if (steps() >= Atomics.load(this.#shared, SHARED.limit)) return false;
      this.#become(turn % workers === worker ? STATE.running : STATE.waiting);
      if (turn % workers === worker) return true;
      Atomics.wait(this.#shared, SHARED.turn, turn);
    }
  }

  /** Ends a step: the next worker has its turn. */
  endStep(): void {
    if (!this.#options.isDeterministic) return;
    this.guard(() => void Atomics.add(this.#shared, SHARED.turn, 1));
    Atomics.notify(this.#shared, SHARED.turn);
  }

  /** Tells that it waits, and waits for another wake-up than those seen. */
  park(seen: number): void {
    this.#become(STATE.parked);
    this.tell();
    Atomics.wait(this.#shared, SHARED.wake, seen);
  }

  /** Does something else than steps, as one that may hang over it. */
  work(run: () => void): void {
    this.#become(STATE.running);
    run();
    this.tell();
  }

  /** Tells that it has ended. */
  end(): void {
    Atomics.store(this.#own, OWN.state, STATE.ended);
    this.tell();
  }

  /** Wakes whoever directs the workers. */
  tell(): void {
    Atomics.add(this.#shared, SHARED.events, 1);
    Atomics.notify(this.#shared, SHARED.events);
  }

  #become(state: number): void {
    const before = Atomics.load(this.#own, OWN.state);
    if (before >= STATE.dropped) throw new DroppedError();
    if (before !== state) this.#move(before, state);
  }

  #move(from: number, to: number): void {
    const before = Atomics.compareExchange(this.#own, OWN.state, from, to);
    if (before !== from) throw new DroppedError();
  }
}
