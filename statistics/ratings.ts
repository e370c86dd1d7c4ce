import jstat from "jstat";
import { checkLevel } from "./scores.ts";

/** Natural units of one point of Elo's scale. */
const PER_POINT = Math.LN10 / 400;

/**
 * Computes the expected score of a player, `1 / (1 + 10^((opponent - own) / 400))`.
 *
 * Source: Elo 1978, The Rating of Chessplayers.
 *
 * @param own Rating of the player.
 * @param opponent Rating of the opponent.
 * @returns Expected score: the chance of a win plus half that of a draw.
 * @example
 * ```ts
 * import { expectedScore } from "@bellman/statistics";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * assertAlmostEquals(expectedScore(1400, 1200), 0.76, 1e-3);
 * ```
 */
export function expectedScore(own: number, opponent: number): number {
  return 1 / (1 + Math.exp((opponent - own) * PER_POINT));
}

/**
 * Computes the change of a player's rating after a game; the opponent's is its
 * negative.
 *
 * @param ratings Ratings of the player and of the opponent before the game.
 * @param result Score of the player: 1 for a win, 0.5 for a draw, 0 for a loss.
 * @param options Size of a step.
 * @returns Points to add, `k (result - expected score)`.
 * @throws {RangeError} If the result is not from 0 to 1.
 * @example
 * ```ts
 * import { eloChange } from "@bellman/statistics";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(eloChange([1200, 1200], 1, { k: 32 }), 16);
 * ```
 */
export function eloChange(
  [own, opponent]: readonly [own: number, opponent: number],
  result: number,
  { k = 16 }: {
    /**
     * Largest change. Higher follows a learner faster and varies more.
     *
     * @default 16
     */
    k?: number;
  } = {},
): number {
  if (!(result >= 0 && result <= 1)) {
    throw new RangeError(
      `Cannot rate a game with the result ${result}: expected 1 for a win, 0.5 for a draw or 0 for a loss`,
    );
  }
  return k * (result - expectedScore(own, opponent));
}

/** Games of several players. */
export interface Games {
  /** Games that player i won against player j, `[players][players]`. */
  readonly wins: readonly ArrayLike<number>[];
  /**
   * Games of players i and j without a winner, `[players][players]`, symmetric. A draw
   * counts as half a win for each.
   *
   * @default none
   */
  readonly draws?: readonly ArrayLike<number>[];
}

/** Options of {@linkcode fitRatings}. */
export interface RatingOptions {
  /**
   * Games added to each pair that has played, half won: pulls ratings together. With
   * 0 there is no maximum where players won all their games.
   *
   * @default 1
   */
  readonly prior?: number;
  /**
   * Index of the player at 1200 points; standard errors are then those of the
   * difference to it. `null` for ratings with mean 0.
   *
   * @default null
   */
  readonly anchor?: number | null;
  /**
   * Level of the intervals, between 0 and 1.
   *
   * @default 0.95
   */
  readonly level?: number;
}

/** Ratings of several players, in points of Elo's scale. */
export interface Ratings {
  /** Rating of each player. */
  readonly ratings: number[];
  /** Standard error of each rating. */
  readonly standardErrors: number[];
  /** Confidence interval of each rating. */
  readonly intervals: (readonly [low: number, high: number])[];
  /** Standard error of the difference of each pair, `[players][players]`. */
  readonly differenceErrors: number[][];
  /** Chance that player i is stronger than player j, `[players][players]`. */
  readonly superiority: number[][];
  /** Expected score of player i against player j, `[players][players]`. */
  readonly expectedScores: number[][];
}

/**
 * Fits ratings to games by maximum likelihood (Bradley-Terry on Elo's scale), with
 * intervals from the curvature at the maximum. Draws make the intervals too wide, as
 * they vary less than wins and losses.
 *
 * Source: Bradley and Terry 1952 (https://doi.org/10.2307/2334029); Hunter 2004
 * (https://doi.org/10.1214/aos/1079120141).
 *
 * @param games Wins and draws of each pair.
 * @param options Prior games, anchor, level.
 * @returns Ratings and their errors.
 * @throws {RangeError} If there are no games, a count is negative, draws are not
 * symmetric, players are not connected by games, or there is no maximum.
 * @example
 * ```ts
 * import { fitRatings } from "@bellman/statistics";
 * import { assertAlmostEquals } from "@std/assert";
 *
 * // 75 of 100 games won: 10^(191 / 400) = 3.
 * const { ratings } = fitRatings({ wins: [[0, 75], [25, 0]] }, { prior: 0 });
 * assertAlmostEquals(ratings[0] - ratings[1], 190.85, 0.01);
 * ```
 */
export function fitRatings(
  games: Games,
  { prior = 1, anchor = null, level = 0.95 }: RatingOptions = {},
): Ratings {
  checkLevel(level);
  const scores = scoresOf(games, prior), n = scores.length;
  checkAnchor(anchor, n);
  checkConnected(scores);
  if (prior === 0) checkMaximum(scores);
  const strengths = maximum(scores);
  const covariance = pseudoInverse(curvature(scores, strengths));
  const error = (variance: number) =>
    Math.sqrt(Math.max(0, variance)) / PER_POINT;
  const square = <T>(of: (i: number, j: number) => T) =>
    strengths.map((_, i) => strengths.map((_, j) => of(i, j)));
  const differenceErrors = square((i, j) =>
    error(covariance[i][i] + covariance[j][j] - 2 * covariance[i][j])
  );
  const offset = anchor === null ? 0 : 1200 - strengths[anchor] / PER_POINT;
  const ratings = strengths.map((it) => it / PER_POINT + offset);
  const standardErrors = strengths.map((_, i) =>
    anchor === null ? error(covariance[i][i]) : differenceErrors[i][anchor]
  );
  const quantile = jstat.normal.inv((1 + level) / 2, 0, 1);
  return {
    ratings,
    standardErrors,
    intervals: ratings.map((it, i) => {
      const half = quantile * standardErrors[i];
      return [it - half, it + half] as const;
    }),
    differenceErrors,
    superiority: square((i, j) =>
      i === j
        ? 0.5
        : jstat.normal.cdf(ratings[i] - ratings[j], 0, differenceErrors[i][j])
    ),
    expectedScores: square((i, j) => expectedScore(ratings[i], ratings[j])),
  };
}

/** Computes points of each player against each other, prior games included. */
function scoresOf({ wins, draws }: Games, prior: number): number[][] {
  const n = wins.length;
  if (n < 2) {
    throw new RangeError(
      `Cannot rate ${n} players: expected at least 2, whose games are compared`,
    );
  }
  if (!(prior >= 0 && prior < Infinity)) {
    throw new RangeError(
      `Cannot rate players with a prior of ${prior} games: expected 0 or more`,
    );
  }
  const count = (table: Games["draws"], i: number, j: number) => {
    const games = table === undefined ? 0 : table[i]?.[j];
    if (games !== undefined && games >= 0 && games < Infinity) return games;
    throw new RangeError(
      `Cannot rate players by ${games} games of ${i} and ${j}: expected a number of 0 or more for each pair of ${n} players`,
    );
  };
  return wins.map((_, i) =>
    wins.map((_, j) => {
      if (i === j) return 0;
      const drawn = count(draws, i, j);
      if (drawn !== count(draws, j, i)) {
        throw new RangeError(
          `Cannot rate players by ${drawn} draws of ${i} and ${j} but ${
            count(draws, j, i)
          } of ${j} and ${i}: expected a symmetric table`,
        );
      }
      const played = count(wins, i, j) + count(wins, j, i) + drawn;
      return count(wins, i, j) + (drawn + (played > 0 ? prior : 0)) / 2;
    })
  );
}

function checkAnchor(anchor: number | null, players: number): void {
  if (anchor === null) return;
  if (Number.isInteger(anchor) && anchor >= 0 && anchor < players) return;
  throw new RangeError(
    `Cannot anchor ratings at player ${anchor}: expected an index from 0 to ${
      players - 1
    }`,
  );
}

/** Returns the players that a player is linked to, over any number of links. */
function reached(
  from: number,
  players: number,
  isLink: (i: number, j: number) => boolean,
): Set<number> {
  const found = new Set([from]);
  for (const i of found) {
    for (let j = 0; j < players; j++) if (isLink(i, j)) found.add(j);
  }
  return found;
}

function checkConnected(scores: readonly number[][]): void {
  const n = scores.length;
  const found = reached(0, n, (i, j) => scores[i][j] + scores[j][i] > 0);
  if (found.size === n) return;
  const apart = scores.findIndex((_, i) => !found.has(i));
  throw new RangeError(
    `Cannot compare players 0 and ${apart}: expected games that connect them, if over others`,
  );
}

/** Throws where ratings grow without bound: some players won all games against others. */
function checkMaximum(scores: readonly number[][]): void {
  const n = scores.length;
  const beaten = reached(0, n, (i, j) => scores[i][j] > 0);
  const beating = reached(0, n, (i, j) => scores[j][i] > 0);
  if (beaten.size === n && beating.size === n) return;
  throw new RangeError(
    "Cannot rate players without a prior, as some won all their games against others: expected a prior above 0",
  );
}

/** Finds the ratings of the largest likelihood, in natural units, by Newton's method. */
function maximum(scores: readonly number[][]): number[] {
  let strengths = scores.map(() => 0);
  for (let iteration = 0; iteration < 100; iteration++) {
    const gradient = scores.map((row, i) =>
      row.reduce((sum, won, j) => {
        const games = won + scores[j][i];
        return sum + won - games * chance(strengths[i] - strengths[j]);
      }, 0)
    );
    const inverse = pseudoInverse(curvature(scores, strengths));
    const step = inverse.map((row) =>
      row.reduce((sum, it, j) => sum + it * gradient[j], 0)
    );
    const longest = Math.max(...step.map(Math.abs));
    // A longer step may pass the maximum by far where games are nearly all won.
    const scale = Math.min(1, 1 / longest);
    strengths = strengths.map((it, i) => it + scale * step[i]);
    if (longest < 1e-13) break;
  }
  return strengths;
}

function chance(difference: number): number {
  return 1 / (1 + Math.exp(-difference));
}

/** Computes the negative second derivatives of the log-likelihood. */
function curvature(
  scores: readonly number[][],
  strengths: readonly number[],
): number[][] {
  const pairs = scores.map((row, i) =>
    row.map((won, j) => {
      const p = chance(strengths[i] - strengths[j]);
      return (won + scores[j][i]) * p * (1 - p);
    })
  );
  return pairs.map((row, i) =>
    row.map((it, j) => i === j ? row.reduce((sum, it) => sum + it, 0) : -it)
  );
}

/** Inverts a matrix whose rows sum to 0, for vectors that do. */
function pseudoInverse(matrix: readonly number[][]): number[][] {
  const share = 1 / matrix.length;
  // Of the size of the matrix, so that both are inverted as exactly.
  const scale = Math.max(...matrix.map((row, i) => row[i]));
  const shifted = matrix.map((row) => row.map((it) => it + scale * share));
  const inverse: number[][] = jstat.inv(shifted);
  return inverse.map((row) => row.map((it) => it - share / scale));
}
