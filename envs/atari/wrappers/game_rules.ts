/** Lives, scores and starts of games, for the wrappers and the fused game. */
import type { Env, EpisodeStatistics, StateTree } from "@bellman/types";
import { checkWhole } from "../../_checks.ts";
import { DEFAULT_SEED, deriveSeed, SeededRandom } from "../../random.ts";
import { snapshotRecord } from "../../snapshot.ts";
import { Wrapper } from "../../wrappers/wrapper.ts";

/** A game that has ended, without the number of its environment. */
export type GameStatistics = Required<
  Omit<EpisodeStatistics, "env" | "infoStatistics" | "notice">
>;

/**
 * True where a life was lost and the game continues. Some games show no lives for
 * a few frames before their end, which is not the loss of another one.
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

/**
 * Finds the environment that a wrapper needs: the given one, or one inside.
 *
 * @param isIt Recognizes it.
 * @param wrapper The wrapper, and what it expects.
 * @throws {TypeError} If there is none.
 */
export function findInside<T extends Env>(
  env: Env,
  isIt: (inner: Env) => inner is T,
  wrapper: { name: string; expected: string },
): T {
  let inner = env;
  while (!isIt(inner)) {
    if (!(inner instanceof Wrapper)) {
      throw new TypeError(
        `Cannot wrap ${
          env.spec?.id ?? "an environment"
        } with ${wrapper.name}: expected ${wrapper.expected}`,
      );
    }
    inner = inner.env;
  }
  return inner;
}

/**
 * Properties of a game that wrappers need, besides those of every environment.
 */
export interface AtariInside {
  /** Lives that are left; 0 where the game has none. */
  readonly lives: number;
  /** Buttons of each action, such as `NOOP` or `UPFIRE`. */
  readonly actionMeanings: readonly string[];
}

function isAtari(env: Env): env is Env & AtariInside {
  return "lives" in env && "actionMeanings" in env;
}

/**
 * Finds the game under any number of wrappers.
 *
 * @throws {TypeError} If it is none.
 */
export function atariInside(env: Env, wrapper: string): AtariInside {
  return findInside(env, isAtari, { name: wrapper, expected: "an Atari game" });
}

/** Throws unless action 0 does nothing, which steps without an action take. */
export function checkNoop([first]: readonly string[]): void {
  if (first === "NOOP") return;
  throw new TypeError(
    `Cannot take steps without an action as action 0 is ${first}: expected NOOP, as with fullActionSpace: true`,
  );
}

/**
 * Lists the actions after a reset: FIRE, and the one after it, with which some
 * games continue. None where FIRE is not among the actions.
 */
export function fireActions(meanings: readonly string[]): number[] {
  const fire = meanings.indexOf("FIRE");
  if (fire < 0) return [];
  return [fire, fire + 1].filter((it) => it < meanings.length);
}

/** The stream of a game's seed from which its starts are drawn. */
const STREAM = 1;

function streamOf(seed: number): SeededRandom {
  return new SeededRandom(deriveSeed(seed, STREAM));
}

/** Draws how many steps without an action each episode begins with. */
export class NoopStarts {
  #max: number;
  #random: SeededRandom | undefined;

  constructor(max: number) {
    checkWhole(max, 0, `begin with up to ${max} no-ops`);
    this.#max = max;
  }

  /** Restarts the stream. */
  seed(seed: number): void {
    this.#random = streamOf(seed);
  }

  /** Draws from 1 to the most; none if that is 0. */
  draw(): number {
    this.#random ??= streamOf(DEFAULT_SEED);
    return this.#max === 0 ? 0 : 1 + this.#random.integer(this.#max);
  }

  save(): StateTree {
    return this.#random?.save() ?? null;
  }

  load(state: StateTree): void {
    this.#random = state === null ? undefined : streamOf(DEFAULT_SEED);
    this.#random?.load(state);
  }
}
