import { snapshotRecord } from "../../snapshot.ts";
import type { EpisodeStatistics, StateTree } from "@bellman/types";

/** A game that has ended, without the number of its environment. */
export type GameStatistics = Required<Omit<EpisodeStatistics, "env">>;

/**
 * Tells if a life was lost and the game goes on. Some games show no lives for a
 * few frames before they tell their end, which is not the loss of another one.
 */
export function isLifeLost(before: number, now: number): boolean {
  return now < before && now > 0;
}

/** Sums of a game that runs. */
interface Tally {
  return: number;
  length: number;
  lifeReturn: number;
  lifeLength: number;
  lifeReturns: number[];
  lives: number;
}

const NEW_GAME: Readonly<Tally> = {
  return: 0,
  length: 0,
  lifeReturn: 0,
  lifeLength: 0,
  lifeReturns: [],
  lives: 0,
};

/** Sums up one game's rewards, as a whole and life by life. */
export class GameTally {
  #sums: Tally = { ...NEW_GAME, lifeReturns: [] };

  /** Starts a game with so many lives. */
  begin(lives: number): void {
    this.#sums = { ...NEW_GAME, lifeReturns: [], lives };
  }

  /** Adds a step, and the lives that are left after it. */
  add(reward: number, lives: number): void {
    const sums = this.#sums;
    sums.return += reward;
    sums.lifeReturn += reward;
    sums.length++;
    sums.lifeLength++;
    if (isLifeLost(sums.lives, lives)) this.#endLife();
    sums.lives = lives;
  }

  #endLife(): void {
    const sums = this.#sums;
    sums.lifeReturns.push(sums.lifeReturn);
    sums.lifeReturn = sums.lifeLength = 0;
  }

  /** Returns the game, which ended in the last step. */
  end(terminated: boolean): GameStatistics {
    if (this.#sums.lifeLength > 0) this.#endLife();
    const { return: sum, length, lifeReturns } = this.#sums;
    return { return: sum, length, terminated, lifeReturns };
  }

  save(): StateTree {
    return structuredClone(this.#sums) as unknown as StateTree;
  }

  load(state: StateTree): void {
    const sums = snapshotRecord(state, Object.keys(NEW_GAME));
    this.#sums = structuredClone(sums) as unknown as Tally;
  }
}
