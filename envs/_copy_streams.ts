import { copySeeds } from "./copy_seeds.ts";
import { DEFAULT_SEED, SeededRandom } from "./random.ts";
import type { StateTree } from "@bellman/types";

/** The random streams of copies that one object holds. */
export class CopyStreams {
  #streams: SeededRandom[] = [];

  /** Whether there are any yet. */
  get areSeeded(): boolean {
    return this.#streams.length > 0;
  }

  /**
   * Starts them anew; without a seed they go on, from those of the default one if
   * there were none.
   *
   * @throws {RangeError} If a seed cannot be, or there are too few or too many.
   */
  seed(numEnvs: number, seed?: number | readonly number[]): void {
    if (seed === undefined && this.areSeeded) return;
    this.#streams = copySeeds(seed ?? DEFAULT_SEED, numEnvs)
      .map((it) => new SeededRandom(it));
  }

  /** The stream of a copy. */
  of(copy: number): SeededRandom {
    return this.#streams[copy];
  }

  /** Their states, as plain data. */
  save(): StateTree {
    return this.#streams.map((stream) => stream.save());
  }

  /** Goes on from states. */
  load(states: StateTree): void {
    this.#streams = (states as StateTree[]).map((state) => {
      const stream = new SeededRandom(DEFAULT_SEED);
      stream.load(state);
      return stream;
    });
  }
}
