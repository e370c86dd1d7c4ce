import { snapshotRecord } from "../../snapshot.ts";
import type { EpisodeStatistics, StateTree } from "@bellman/types";

/** A game that has ended; which copy it ran in is for others to say. */
export type GameStatistics = Required<Omit<EpisodeStatistics, "env">>;

/**
 * Whether a life was lost and the game goes on. Some games show no lives for a
 * few frames before they tell their end, which is not the loss of another one.
 */
export function isLifeLost(before: number, now: number): boolean {
  return now < before && now > 0;
}

/** Adds up one game's rewards, as a whole and life by life. */
export class GameTally {
  #return = 0;
  #length = 0;
  #lifeReturn = 0;
  #lifeLength = 0;
  #lifeReturns: number[] = [];
  #lives = 0;

  /** Starts a game with so many lives. */
  begin(lives: number): void {
    this.#return = this.#length = 0;
    this.#lifeReturn = this.#lifeLength = 0;
    this.#lifeReturns = [];
    this.#lives = lives;
  }

  /** Takes in a step, and how many lives are left after it. */
  add(reward: number, lives: number): void {
    this.#return += reward;
    this.#lifeReturn += reward;
    this.#length++;
    this.#lifeLength++;
    if (isLifeLost(this.#lives, lives)) this.#endLife();
    this.#lives = lives;
  }

  #endLife(): void {
    this.#lifeReturns.push(this.#lifeReturn);
    this.#lifeReturn = this.#lifeLength = 0;
  }

  /** The game, which ended in the last step. */
  end(terminated: boolean): GameStatistics {
    if (this.#lifeLength > 0) this.#endLife();
    return {
      return: this.#return,
      length: this.#length,
      terminated,
      lifeReturns: this.#lifeReturns,
    };
  }

  save(): StateTree {
    return {
      return: this.#return,
      length: this.#length,
      lifeReturn: this.#lifeReturn,
      lifeLength: this.#lifeLength,
      lifeReturns: [...this.#lifeReturns],
      lives: this.#lives,
    };
  }

  load(state: StateTree): void {
    const own = snapshotRecord(state, [
      "return",
      "length",
      "lifeReturn",
      "lifeLength",
      "lifeReturns",
      "lives",
    ]);
    this.#return = own.return as number;
    this.#length = own.length as number;
    this.#lifeReturn = own.lifeReturn as number;
    this.#lifeLength = own.lifeLength as number;
    this.#lifeReturns = [...own.lifeReturns as number[]];
    this.#lives = own.lives as number;
  }
}
