import { SelfPlayVecEnv } from "@bellman/envs/games";
import { generalizedAdvantageEstimation } from "@bellman/returns";
import { eloChange, fitRatings } from "@bellman/statistics";
import { NEWEST, OpponentPool } from "../../envs/self_play/opponent_pool.ts";
import { checkEach, type Comparison } from "./comparison.ts";
import { type Ply, PlyWorld } from "./testdata/ply_world.ts";

interface OnlineCase {
  k: number;
  initial: number[];
  games: [i: number, j: number, result: number][];
  after: number[][];
}

function online(
  { k, initial, games, after }: OnlineCase,
  comparison: Comparison,
): void {
  const ratings = [...initial];
  const found = games.map(([i, j, result]) => {
    const change = eloChange([ratings[i], ratings[j]], result, { k });
    ratings[i] += change;
    ratings[j] -= change;
    return [result - change / k, change, ratings[i], ratings[j]];
  });
  comparison.numbers("after", found.flat(), after);
}

interface Fit {
  ratings: number[];
  se: number[];
  low: number[];
  high: number[];
}

interface FitCase {
  wins: number[][];
  draws: number[][];
  prior: number;
  anchor: number;
  mean0: Fit;
  anchored: Fit;
  seOfDifferences: number[][];
  likelihoodOfSuperiority: number[][];
  expectedScores: number[][];
}

function fit(it: FitCase, comparison: Comparison): void {
  const { wins, draws, prior } = it;
  for (const form of ["mean0", "anchored"] as const) {
    const anchor = form === "mean0" ? null : it.anchor;
    const found = fitRatings({ wins, draws }, { prior, anchor });
    const [low, high] = [0, 1].map((end) =>
      found.intervals.map((interval) => interval[end])
    );
    const { ratings, standardErrors: se } = found;
    comparison.named({ ratings, se, low, high }, { ...it[form] });
    comparison.named({
      seOfDifferences: found.differenceErrors.flat(),
      likelihoodOfSuperiority: found.superiority.flat(),
      expectedScores: found.expectedScores.flat(),
    }, { ...it } as never);
  }
}

interface GhostCase {
  window: number;
  events: {
    event: "save" | "swap" | "game";
    opponent?: number | "latest";
    result?: number;
    newest: number;
    elos: number[];
  }[];
}

function ghost({ window, events }: GhostCase, comparison: Comparison): void {
  const pool = new OpponentPool(window, { k: 1 });
  let opponent = 0;
  const found = events.map((it) => {
    if (it.event === "save") pool.store(0);
    else if (it.event === "game") pool.rate(opponent, it.result!);
    else opponent = it.opponent === "latest" ? NEWEST : it.opponent as number;
    return [pool.newest, ...pool.ratings];
  });
  const wanted = events.map(({ newest, elos }) => [newest, ...elos]);
  comparison.numbers("ratings", found.flat(), wanted);
}

interface Transition {
  ply: number;
  value: number;
  reward: number;
  terminated: boolean;
  truncated: boolean;
  nextPly?: number;
  finalValue?: number;
}

interface TurnCase {
  players: number;
  gamma: number;
  lambda: number;
  plies: Ply[];
  lastValue: number;
  transitions: Transition[];
  advantages: number[];
  returns: number[];
}

/** Plays the plies as the learner, whose moves all are 0. */
function turnRows(it: TurnCase, comparison: Comparison): void {
  const { players, plies, transitions, gamma, lambda, lastValue } = it;
  const world = new PlyWorld(plies, players);
  const env = new SelfPlayVecEnv(world, {
    opponent: (_, { actions }) => (actions as Int32Array).fill(0),
  });
  let [ply] = env.reset({ seed: 0 });
  const found = transitions.map(() => {
    const step = env.step(new Int32Array(1));
    const row = [
      ply,
      step.rewards[0],
      step.terminated[0],
      step.truncated[0],
    ];
    [ply] = step.observations;
    const isOver = step.terminated[0] + step.truncated[0] > 0;
    return [...row, isOver ? -1 : ply];
  });
  comparison.numbers(
    "transitions",
    found.flat(),
    transitions.map(({ nextPly = -1, ...row }) => [
      row.ply,
      row.reward,
      Number(row.terminated),
      Number(row.truncated),
      nextPly,
    ]),
  );
  const numSteps = transitions.length;
  const estimated = generalizedAdvantageEstimation({
    rewards: found.map(([, reward]) => reward),
    terminated: found.map(([, , terminated]) => terminated),
    truncated: found.map(([, , , truncated]) => truncated),
    finalValues: transitions.map(({ finalValue = 0 }) => finalValue),
    values: transitions.map(({ value }) => value),
    lastValues: [lastValue],
  }, { numEnvs: 1, numSteps, gamma, lambda });
  comparison.named({ ...estimated }, { ...it } as never);
}

/**
 * Ratings of two-player games: Elo's changes, those of a learner and its snapshots,
 * fits of Bradley and Terry; and transitions of a learner in games by turns.
 */
export const runner = checkEach({ online, ghost, fits: fit, turnRows }, 1e-9);
