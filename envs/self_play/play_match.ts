import type { World } from "@bellman/types";
import { allocateBatch } from "../spaces/batch.ts";
import { checkOptions, whole } from "@bellman/files/options";
import { EnvStreams, SeededRandom } from "../random.ts";
import { meanReturn, spacesOf, teamOf } from "./_seats.ts";
import { type Player, randomPlayer } from "./players.ts";

/** Options of {@linkcode playMatch}. */
export interface MatchOptions {
  /** Number of games: the players take each other's seats in turn. */
  games: number;
  /**
   * Seed of all random streams.
   *
   * @default 0
   */
  seed?: number;
  /**
   * Most random moves of all seats at the start of a game; their number is drawn.
   *
   * @default 0
   */
  openings?: number;
}

/** Result of a match of two players. */
export interface MatchResult {
  /** Games that the first player won. */
  won: number;
  /** Games without a winner. */
  drawn: number;
  /** Games that the second player won. */
  lost: number;
}

/** Most steps of a game, after which it is a draw. */
const MOST_STEPS = 100_000;

/**
 * Plays games of two players: in game `g` the first player has the seats of team `g`,
 * counted through, and the second player all others.
 *
 * @param world Worlds; several play at the same time.
 * @param players Both players.
 * @param options Number of games, seed, openings.
 * @returns Games that each won; who got more rewards has won.
 * @throws {TypeError} If the world has one team alone.
 * @example
 * ```ts
 * import { playMatch, randomPlayer, scriptedPlayer, TicTacToe } from "@bellman/envs/games";
 * import { assertEquals } from "@std/assert";
 *
 * const world = new TicTacToe({ numEnvs: 10 });
 * const perfect = scriptedPlayer(world);
 * const { lost } = playMatch(world, [perfect, randomPlayer], { games: 40 });
 * assertEquals(lost, 0);
 * ```
 */
export function playMatch(
  world: World,
  players: readonly [Player, Player],
  options: MatchOptions,
): MatchResult {
  const { games, seed = 0, openings = 0 } = checkOptions("a match", options, {
    games: whole(1),
    seed: whole(0),
    openings: whole(0),
  });
  const { seats, numEnvs } = world;
  const teams = [...new Set(seats.map(teamOf))];
  if (teams.length < 2) {
    throw new TypeError(
      `Cannot play a match in a world of one team, ${teams}: expected two or more`,
    );
  }
  const streams = new EnvStreams(), random = new SeededRandom(seed);
  streams.seed(numEnvs, seed);
  const result = { won: 0, drawn: 0, lost: 0 };
  // Each world plays the same number of games, so that short ones count no more.
  for (let first = 0; first < games; first += numEnvs) {
    const count = Math.min(numEnvs, games - first);
    const teamAt = (env: number) => teams[(first + env) % teams.length];
    const returns = new Float64Array(numEnvs * seats.length);
    playRound(world, {
      count,
      streams,
      random,
      openings,
      returns,
      players,
      teamAt,
    });
    for (let env = 0; env < count; env++) {
      const mean = (isOwn: boolean) =>
        meanReturn(world, returns, {
          env,
          counts: (it) => (teamOf(it) === teamAt(env)) === isOwn,
        });
      const difference = mean(true) - mean(false);
      result[difference > 0 ? "won" : difference < 0 ? "lost" : "drawn"]++;
    }
  }
  return result;
}

/** Plays one game in each of the first worlds, and sums rewards up. */
function playRound(
  world: World,
  { count, streams, random, openings, returns, players, teamAt }: {
    count: number;
    streams: EnvStreams;
    random: SeededRandom;
    openings: number;
    returns: Float64Array;
    players: readonly [Player, Player];
    teamAt(env: number): string;
  },
): void {
  const { seats, numEnvs } = world;
  const actions = seats.map((_, seat) =>
    allocateBatch(spacesOf(world, seat).actionSpace, numEnvs)
  );
  const opening = new Int32Array(numEnvs), which = new Uint8Array(numEnvs);
  for (let env = 0; env < count; env++) {
    world.begin(env, streams.of(env));
    opening[env] = random.integer(openings + 1);
  }
  const rows = () => new Uint8Array(numEnvs);
  for (let step = 0; step < MOST_STEPS; step++) {
    for (let env = 0; env < count; env++) {
      const from = env * seats.length;
      const acting = world.toAct.subarray(from, from + seats.length);
      which[env] = acting.includes(1) ? 1 : 0;
    }
    if (!which.includes(1)) return;
    seats.forEach((it, seat) => {
      // Random moves, those of the first player, and those of the second.
      const parts = [rows(), rows(), rows()];
      for (let env = 0; env < count; env++) {
        const isOwn = teamOf(it) === teamAt(env);
        const part = step < opening[env] ? 0 : isOwn ? 1 : 2;
        parts[part][env] = which[env] &
          world.toAct[env * seats.length + seat];
      }
      [randomPlayer, ...players].forEach((play, part) => {
        if (!parts[part].includes(1)) return;
        play(world, {
          seat,
          actions: actions[seat],
          random,
          which: parts[part],
        });
      });
    });
    const { rewards } = world.step(actions, which);
    for (let at = 0; at < returns.length; at++) returns[at] += rewards[at];
  }
}
