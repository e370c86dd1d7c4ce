import type { Batch, RandomSource, World } from "@bellman/types";
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
 * Plays a seat by rules: writes an allowed action into each row of the turn's actions
 * where the seat is to act. It has no state: its random stream alone decides.
 */
export type Player = (world: World, turn: Turn) => void;

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
