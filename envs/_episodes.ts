import type { StateTree } from "@bellman/types";
import { DEFAULT_SEED, SeededRandom } from "./random.ts";
import { wrongEntry } from "./snapshot.ts";

const STAGES = ["new", "running", "ended"] as const;

/** Stage and random stream of one environment's episodes. */
export class Episodes {
  /** Stage of the current episode. */
  stage: typeof STAGES[number] = "new";
  #name: string;
  #defaultSeed: number;
  #random: SeededRandom | undefined;

  /**
   * @param name Name of the environment in messages.
   * @param defaultSeed Seed of the stream where none is given.
   */
  constructor(name: string, defaultSeed: number = DEFAULT_SEED) {
    this.#name = name;
    this.#defaultSeed = defaultSeed;
  }

  /** Random stream, which continues from episode to episode. */
  get random(): SeededRandom {
    return this.#random ??= new SeededRandom(this.#defaultSeed);
  }

  /**
   * Starts an episode; a seed restarts the random stream.
   *
   * @returns The random stream.
   * @throws {RangeError} If the seed is not a whole number of at least 0.
   */
  begin(seed?: number): SeededRandom {
    if (seed !== undefined) this.#random = new SeededRandom(seed);
    this.stage = "running";
    return this.random;
  }

  /** Throws unless an episode is under way. */
  checkRunning(): void {
    if (this.stage === "running") return;
    const why = this.stage === "new"
      ? "has not begun"
      : "ended in the step before";
    throw new Error(
      `Cannot step ${this.#name} as its episode ${why}: call reset first`,
    );
  }

  /** Saves the entries `status` and `random` of a snapshot. */
  save(): { status: string; random: StateTree } {
    return { status: this.stage, random: this.#random?.save() ?? null };
  }

  /**
   * Restores these entries, or throws and changes nothing.
   *
   * @throws {TypeError} If they are not what `save` returned.
   */
  load({ status, random }: Record<string, StateTree>): void {
    const stage = STAGES.find((it) => it === status);
    if (stage === undefined) {
      throw wrongEntry(this.#name, ["status", status], STAGES.join(", "));
    }
    const stream = random === null ? undefined : new SeededRandom(DEFAULT_SEED);
    stream?.load(random);
    this.stage = stage;
    this.#random = stream;
  }
}
