import type { RandomSource, StateTree } from "@bellman/types";
import { savedArray, snapshotRecord, wrongEntry } from "../snapshot.ts";

/** Number of the newest policy, beside those of the snapshots' places. */
export const NEWEST = -1;

/** Rating of the first policy. */
const FIRST_RATING = 1200;

/** Elo ratings of a learner and of its snapshots. */
export interface PoolRatings {
  /** Rating of the newest policy; the first one had 1200. */
  readonly newest: number;
  /** Ratings of the snapshots, and the learner's steps when they were taken; oldest first. */
  readonly snapshots: readonly {
    readonly steps: number;
    readonly rating: number;
  }[];
}

/**
 * Places for the last snapshots of a learner, and ratings of these and of the newest
 * policy by Elo's formula.
 *
 * Source: the ghost trainer of ML-Agents.
 */
export class OpponentPool {
  /** Rating of the newest policy. */
  newest: number = FIRST_RATING;
  /** Rating of the snapshot in each place. */
  readonly ratings: Float64Array;
  /** Learner's steps at each snapshot. */
  readonly steps: Float64Array;
  /** Snapshots so far; the oldest makes room for the next one. */
  count = 0;
  readonly #k: number;

  /**
   * Makes empty places.
   *
   * @param window Number of places.
   * @param options Largest change of a rating by one game.
   */
  constructor(window: number, { k }: { k: number }) {
    this.ratings = new Float64Array(window).fill(FIRST_RATING);
    this.steps = new Float64Array(window);
    this.#k = k;
  }

  /** Number of places that are taken. */
  get size(): number {
    return Math.min(this.count, this.ratings.length);
  }

  /** Takes the next place for a snapshot of the newest policy, and returns it. */
  store(step: number): number {
    const place = this.count++ % this.ratings.length;
    this.ratings[place] = this.newest;
    this.steps[place] = step;
    return place;
  }

  /** Draws a place of a snapshot, or with a probability the newest policy. */
  draw(random: RandomSource, latest: number): number {
    const isNewest = random.uniform() < latest || this.size === 0;
    return isNewest ? NEWEST : random.integer(this.size);
  }

  /** Rates a game of the newest policy against a snapshot; against itself nothing moves. */
  rate(place: number, result: number): void {
    if (place === NEWEST) return;
    const change = this.#k * (result - this.#expected(place));
    this.newest += change;
    this.ratings[place] -= change;
  }

  #expected(place: number): number {
    return 1 / (1 + 10 ** ((this.ratings[place] - this.newest) / 400));
  }

  /** Lists all ratings. */
  list(): PoolRatings {
    const snapshots = Array.from({ length: this.size }, (_, place) => ({
      steps: this.steps[place],
      rating: this.ratings[place],
    }));
    snapshots.sort((a, b) => a.steps - b.steps);
    return { newest: this.newest, snapshots };
  }

  save(): StateTree {
    const { newest, count, ratings, steps } = this;
    return { newest, count, ratings: ratings.slice(), steps: steps.slice() };
  }

  /** Reads a saved state, and returns a function that restores it. */
  read(state: StateTree): () => void {
    const own = snapshotRecord(state, ["newest", "count", "ratings", "steps"]);
    const { newest, count } = own;
    for (const [name, value] of Object.entries({ newest, count })) {
      if (Number.isFinite(value)) continue;
      throw wrongEntry("opponents", [name, value], "a number");
    }
    const array = (name: "ratings" | "steps") =>
      savedArray("opponents", [name, own[name]], this[name]);
    const ratings = array("ratings"), steps = array("steps");
    return () => {
      this.newest = newest as number;
      this.count = count as number;
      this.ratings.set(ratings);
      this.steps.set(steps);
    };
  }
}
