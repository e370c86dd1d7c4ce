import scores from "./atari_scores.json" with { type: "json" };

/** Returns of random actions and of a human tester in the Atari games. */
const GAMES: Readonly<Record<string, number[]>> = scores.games;

/** Origin of the numbers. */
export const ATARI_SOURCE = scores.source;

/**
 * Returns the scale of a game's human-normalized scores: 0 is the return of random
 * actions, 1 that of a human tester.
 *
 * @param environment Environment id, such as `ALE/Pong-v5`.
 * @returns The scale; undefined unless it is one of the 57 games.
 */
export function atariScale(
  environment: string,
): { low: number; high: number } | undefined {
  const game = environment.replace(/^(gym:)?(ALE\/)?/, "")
    .replace(/(-ram|NoFrameskip|Deterministic)?-v\d+$/, "");
  const scale = Object.hasOwn(GAMES, game) ? GAMES[game] : undefined;
  return scale && { low: scale[0], high: scale[1] };
}
