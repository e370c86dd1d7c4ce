/**
 * Games of several seats, for agents that learn by playing themselves: ConnectFour and
 * TicTacToe by turns, PaddleBall and Soccer at once, each many worlds in shared typed
 * arrays. Scripted players, and a check of a `World` of your own.
 *
 * @example
 * ```ts
 * import { SeededRandom } from "@bellman/envs";
 * import { minimax, randomPlayer, TicTacToe } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * const world = new TicTacToe({ numEnvs: 100 }), random = new SeededRandom(0);
 * for (let env = 0; env < 100; env++) world.begin(env, random);
 * const players = [minimax({ depth: Infinity }), randomPlayer];
 * const actions = world.seats.map(() => new Int32Array(100));
 * const which = new Uint8Array(100).fill(1);
 * let lost = 0;
 * while (which.includes(1)) {
 *   players.forEach((play, seat) =>
 *     play(world, { seat, actions: actions[seat], random })
 *   );
 *   const { rewards } = world.step(actions, which);
 *   for (let env = 0; env < 100; env++) {
 *     if (rewards[2 * env] < 0) lost++;
 *     which[env] = world.toAct[2 * env] | world.toAct[2 * env + 1];
 *   }
 * }
 * assertEquals(lost, 0);
 * ```
 *
 * @module
 */
export {
  ArrayWorld,
  type GameFacts,
  type GameOptions,
  type TimedGameOptions,
} from "./array_world.ts";
export { checkWorld, type CheckWorldOptions } from "./check_world.ts";
export { ConnectFour, GridGame, TicTacToe } from "./grid_games.ts";
export { PaddleBall, type PaddleBallOptions } from "./paddle_ball.ts";
export {
  isScripted,
  minimax,
  type Player,
  playsIn,
  randomPlayer,
  scriptedPlayer,
  type ScriptedWorld,
  type SearchedWorld,
  type SearchOptions,
  type Turn,
} from "../self_play/players.ts";
export { Soccer, type SoccerOptions } from "./soccer.ts";
export * from "../self_play/play_match.ts";
export { actorPlayer } from "../self_play/actor_player.ts";
export {
  gameOf,
  isPlayerName,
  playerNamed,
  type WorldOptions,
} from "../self_play/make_game.ts";
export { type SavedSnapshot, savedSnapshots } from "../self_play/opponents.ts";
export type { PoolRatings } from "../self_play/opponent_pool.ts";
export type { SelfPlayOptions, SnapshotOptions } from "../self_play/options.ts";
export { RoleAgents } from "../self_play/role_agents.ts";
export { RowsWorld } from "../self_play/rows_world.ts";
export { type ByRole, RolesVecEnv } from "../self_play/roles_vec_env.ts";
export { SelfPlayVecEnv } from "../self_play/self_play_vec_env.ts";
