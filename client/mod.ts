/**
 * Offers a game to a trainer, from the page, program or engine where it runs.
 *
 * @example
 * ```ts
 * import { connect, type GameReset } from "@bellman/client";
 * import { assertEquals } from "@std/assert";
 *
 * class Guess {
 *   observationSpace = { type: "discrete", n: 2 };
 *   actionSpace = { type: "discrete", n: 2 };
 *   #hint = 0;
 *
 *   reset({ random }: GameReset) {
 *     this.#hint = random.integer(2);
 *     return this.#hint;
 *   }
 *
 *   step(action: number) {
 *     const reward = action === this.#hint ? 1 : 0;
 *     return { observation: 0, reward, terminated: true, truncated: false };
 *   }
 * }
 * // Nobody trains: the game is its player's.
 * assertEquals(connect(() => new Guess()), false);
 * ```
 *
 * @module
 */
export { connect, type ConnectOptions } from "./connect.ts";
export { Host, type MakeWorld } from "./host.ts";
export type { GameValue } from "./rows.ts";
export type {
  GameParameters,
  GameReset,
  GameSpace,
  GameStep,
  GameWorld,
  WatchedStep,
} from "./world.ts";
