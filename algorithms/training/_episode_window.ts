import type { EpisodeStatistics, StateTree } from "@bellman/types";

/** Means over the last episodes; NaN while there is none. */
export class EpisodeWindow {
  #size: number;
  #returns: number[] = [];
  #lengths: number[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  push(episode: EpisodeStatistics): void {
    this.#returns.push(episode.return);
    this.#lengths.push(episode.length);
    if (this.#returns.length > this.#size) {
      this.#returns.shift();
      this.#lengths.shift();
    }
  }

  get meanReturn(): number {
    return mean(this.#returns);
  }

  get meanLength(): number {
    return mean(this.#lengths);
  }

  save(): StateTree {
    return {
      returns: Float64Array.from(this.#returns),
      lengths: Float64Array.from(this.#lengths),
    };
  }

  load(state: StateTree): void {
    const { returns, lengths } = state as Record<string, Float64Array>;
    this.#returns = [...returns.slice(-this.#size)];
    this.#lengths = [...lengths.slice(-this.#size)];
  }
}

function mean(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}
