import scores from "./atari_scores.json" with { type: "json" };

/** Returns of random actions and of a human tester in the Atari games. */
const GAMES: Readonly<Record<string, number[]>> = scores.games;

/** Origin of the numbers. */
export const ATARI_SOURCE = scores.source;

/**
 * Returns the scale of human-normalized scores of a game: 0 is what random actions
 * reach, 1 what a human tester does.
 *
 * @param environment Id of an environment, such as `ALE/Pong-v5`.
 * @returns The scale; undefined unless it is one of the 57 games.
 */
export function atariScale(
  environment: string,
): { low: number; high: number } | undefined {
  const game = environment.replace(/^(gym:)?(ALE\/)?/, "")
    .replace(/(-ram|NoFrameskip|Deterministic)?-v\d+$/, "");
  const found = Object.hasOwn(GAMES, game) ? GAMES[game] : undefined;
  return found && { low: found[0], high: found[1] };
}
