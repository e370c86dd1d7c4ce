import { ATARI_GAMES, type AtariGame, atariGame } from "./roms.ts";

const ID = /^(?:ALE\/)?(\w+?)(?:NoFrameskip|Deterministic)?-v\d+$/;

/**
 * The game of an id of Gymnasium, such as `ALE/Pong-v5` or `PongNoFrameskip-v4`,
 * or of a ROM's name, such as `pong`.
 *
 * @throws {RangeError} If there is none, with the nearest one.
 */
export function gameOfId(id: string): AtariGame {
  const name = id.match(ID)?.[1];
  if (name === undefined) return atariGame(id);
  for (const game of ATARI_GAMES.values()) if (game.name === name) return game;
  return atariGame(name);
}
