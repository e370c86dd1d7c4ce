import { snapshotRecord } from "../snapshot.ts";
import type { StateTree } from "@bellman/types";
import { MersenneTwister } from "./_mersenne_twister.ts";

const NOOP = 0;

/**
 * Actions that stick: at each frame the one before is repeated with some
 * probability. They are drawn here and not by the emulator, whose own saved
 * states lack the action that sticks; stream and draws are those of ale-py.
 */
export class StickyActions {
  #probability: number;
  #random: MersenneTwister;
  #last: number = NOOP;

  /**
   * Starts a stream.
   *
   * @param probability Of a repetition, from 0 to 1.
   * @param seed Its lowest 32 bits count.
   */
  constructor(probability: number, seed: number) {
    this.#probability = probability;
    this.#random = new MersenneTwister(seed);
  }

  /** The action of the next frame. */
  take(action: number): number {
    if (this.#random.uniform() >= this.#probability) this.#last = action;
    // The emulator draws for a second player too.
    this.#random.uniform();
    return this.#last;
  }

  /** Forgets the action before, as a new episode does. */
  reset(): void {
    this.#last = NOOP;
  }

  /** Random stream and last action. */
  save(): StateTree {
    return { last: this.#last, random: this.#random.save() };
  }

  /** Goes on from what `save` returned. */
  load(saved: StateTree): void {
    const { last, random } = snapshotRecord(saved, ["last", "random"]);
    this.#random.load(random);
    this.#last = last as number;
  }
}
