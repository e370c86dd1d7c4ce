import { checkOptions } from "@bellman/files/options";
import type { Batch, RandomSource, StateTree, World } from "@bellman/types";
import { actionChoices } from "../spaces/choices.ts";
import { writeRow } from "../spaces/batch.ts";
import { sample } from "../spaces/values.ts";
import { gameName, spacesOf } from "./_seats.ts";

/**
 * Turn of a seat.
 *
 * @typeParam A Actions of one seat in all worlds.
 */
export interface Turn<A extends Batch = Batch> {
  /** Index of the seat. */
  readonly seat: number;
  /** Actions of the seat in all worlds: rows where it does not play stay as they are. */
  readonly actions: A;
  /** Stream that the player draws from. */
  readonly random: RandomSource;
  /**
   * 1 for the worlds to play in, `[numEnvs]`.
   *
   * @default all of them
   */
  readonly which?: Uint8Array;
}

/**
 * Plays a seat: writes an allowed action into each row of the turn's actions where the
 * seat is to act. One that draws from more than the turn's random stream, or remembers
 * something, has `save` and `load`, so that a restored game goes on as before.
 */
export interface Player {
  /** Plays a turn. */
  (world: World, turn: Turn): void;
  /** Saves the player's own state. */
  save?(): StateTree;
  /** Restores what `save` returned. */
  load?(state: StateTree): void;
}

/**
 * World with a scripted player.
 *
 * @typeParam O Observations of one seat in all worlds.
 * @typeParam A Actions of one seat in all worlds.
 */
export interface ScriptedWorld<
  O extends Batch = Batch,
  A extends Batch = Batch,
> extends World<O, A> {
  /** Plays a seat as well as a simple rule can; see {@linkcode Player}. */
  scripted(turn: Turn<A>): void;
}

/**
 * Finds out if a turn's seat plays in a world: it is to act, and the turn is in it.
 *
 * @param world Worlds.
 * @param turn The turn, and the index of the world.
 * @returns True where it plays.
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { playsIn, TicTacToe } from "@bellman/envs/games";
 * import { assert } from "@std/assert";
 *
 * const world = new TicTacToe();
 * world.begin(0, new SeededRandom(0));
 * assert(playsIn(world, { seat: 0, env: 0 }) && !playsIn(world, { seat: 1, env: 0 }));
 * ```
 */
export function playsIn(
  { toAct, seats }: World,
  { seat, env, which }: Pick<Turn, "seat" | "which"> & { env: number },
): boolean {
  return toAct[env * seats.length + seat] === 1 &&
    (which === undefined || which[env] === 1);
}

/**
 * Plays allowed actions at random, each as likely; those of boxes within the bounds.
 *
 * @param world Worlds.
 * @param turn The turn.
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { randomPlayer, TicTacToe } from "@bellman/envs/games";
 * import { assert } from "@std/assert";
 *
 * const world = new TicTacToe(), random = new SeededRandom(0);
 * world.begin(0, random);
 * const actions = Int32Array.of(-1);
 * randomPlayer(world, { seat: 0, actions, random });
 * assert(actions[0] >= 0 && actions[0] < 9);
 * ```
 */
export const randomPlayer: Player = (world, turn) => {
  const { seat, actions, random, which } = turn;
  const { actionSpace } = spacesOf(world, seat);
  const masks = world.actionMasks?.(seat);
  const choices = masks && actionChoices(actionSpace)!
    .reduce((sum, n) => sum + n);
  for (let row = 0; row < world.numEnvs; row++) {
    if (!playsIn(world, { seat, env: row, which })) continue;
    const mask = masks?.subarray(row * choices!, (row + 1) * choices!);
    const action = sample(actionSpace, random, mask);
    writeRow(actionSpace, action, { batch: actions, row });
  }
};

/**
 * Finds out if a world has a scripted player.
 *
 * @param world Worlds.
 * @returns True where it has a method `scripted`.
 * @example
 * ```ts
 * import { isScripted, TicTacToe } from "@bellman/envs/games";
 * import { assert } from "@std/assert";
 *
 * assert(isScripted(new TicTacToe()));
 * ```
 */
export function isScripted(world: World): world is ScriptedWorld {
  return typeof (world as Partial<ScriptedWorld>).scripted === "function";
}

/**
 * Returns the scripted player of a world: TicTacToe's is perfect, ConnectFour's takes
 * wins and blocks, PaddleBall's follows the ball, Soccer's takes it to the goal.
 *
 * @param world Worlds with a method `scripted`, which may be of your own.
 * @returns The player.
 * @throws {TypeError} If they have none.
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { PaddleBall, scriptedPlayer } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * const world = new PaddleBall(), play = scriptedPlayer(world);
 * const random = new SeededRandom(0), actions = Int32Array.of(-1);
 * world.begin(0, random);
 * play(world, { seat: 0, actions, random });
 * assertEquals(actions[0] >= 0, true);
 * ```
 */
export function scriptedPlayer(world: World): Player {
  if (isScripted(world)) {
    return (world, turn) => (world as ScriptedWorld).scripted(turn);
  }
  throw new TypeError(
    `Cannot make a scripted player of ${
      gameName(world)
    }: expected worlds with a method 'scripted'`,
  );
}

/** Settings of a search. */
export interface SearchOptions {
  /**
   * Plies to look ahead: moves of both seats, the one to choose included.
   *
   * @default Infinity
   */
  depth?: number;
}

/** Kinds of {@linkcode SearchOptions}. */
export const SEARCH = {
  depth: [
    "number",
    "a whole number of at least 1, or Infinity",
    (it: number) => it === Infinity || Number.isSafeInteger(it) && it >= 1,
  ],
} as const;

/**
 * World whose moves can be searched.
 *
 * @typeParam O Observations of one seat in all worlds.
 * @typeParam A Actions of one seat in all worlds.
 */
export interface SearchedWorld<
  O extends Batch = Batch,
  A extends Batch = Batch,
> extends World<O, A> {
  /** Plays a seat as well as a search of all lines of play to a depth can. */
  search(turn: Turn<A>, options: SearchOptions): void;
}

/** Throws unless the moves of a world can be searched. */
export function checkSearch(world: World): asserts world is SearchedWorld {
  if (typeof (world as Partial<SearchedWorld>).search === "function") return;
  throw new TypeError(
    `Cannot search the moves of ${
      gameName(world)
    }: expected worlds with a method 'search', such as ConnectFour`,
  );
}

/**
 * Makes a player of worlds with a method `search`, as ConnectFour and TicTacToe have it.
 * There it searches all lines of play to a depth: it takes the soonest win it can force,
 * else it puts off a forced loss for as long as possible. Of moves that are as good it
 * takes one where the other would win by playing there, else any, each as likely. So one
 * ply takes wins and blocks.
 *
 * @param options Plies to look ahead, 1 by default.
 * @returns The player; it throws a TypeError in other worlds.
 * @throws {RangeError} If the depth is not a whole number of at least 1, or Infinity.
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { ConnectFour, minimax } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * const world = new ConnectFour(), random = new SeededRandom(0);
 * const actions = [new Int32Array(1), new Int32Array(1)];
 * world.begin(0, random);
 * for (const column of [3, 0, 3, 0, 3]) {
 *   actions.forEach((it) => it[0] = column);
 *   world.step(actions, Uint8Array.of(1));
 * }
 * minimax()(world, { seat: 1, actions: actions[1], random });
 * assertEquals(actions[1][0], 3);
 * ```
 */
export function minimax(options: SearchOptions = {}): Player {
  const { depth = 1 } = checkOptions("a search", options, SEARCH);
  return (world, turn) => {
    checkSearch(world);
    world.search(turn, { depth });
  };
}
