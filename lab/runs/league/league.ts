import { makeWorld } from "@bellman/envs";
import {
  actorPlayer,
  isPlayerName,
  isScripted,
  type MatchResult,
  type Player,
  playerNamed,
  playMatch,
} from "@bellman/envs/games";
import { replaceFileSync } from "@bellman/files";
import { fitRatings, type Ratings } from "@bellman/statistics";
import type { Actor, StateTree, World } from "@bellman/types";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { UsageError } from "../program/errors.ts";
import { OPENINGS } from "../training/games.ts";
import { type GameRun, gamesOfRun } from "../training/saved_agent.ts";

/** Options of {@linkcode playLeague}. */
export interface LeagueOptions {
  /**
   * Games of each two players.
   *
   * @default 200
   */
  games?: number;
  /**
   * Seed of all matches.
   *
   * @default 0
   */
  seed?: number;
  /**
   * Most random moves at the start of a game; their number is drawn. Agents take their
   * most likely moves, so that without openings few games differ.
   *
   * @default 4
   */
  openings?: number;
  /**
   * Path of a file of JSON that is written after each match. One that is there goes on.
   *
   * @default none
   */
  path?: string;
  /**
   * Import the modules that the runs name, although another user or machine made them.
   *
   * @default false
   */
  isTrusted?: boolean;
  /** Receives each match that ends, with the number of those that are over and of all. */
  onMatch?(match: LeagueMatch, progress: { over: number; of: number }): void;
}

/** Match of two players of a league. */
export interface LeagueMatch extends MatchResult {
  /** Name of the first player. */
  readonly first: string;
  /** Name of the second player. */
  readonly second: string;
}

/** Player of a league with its rating. */
export interface LeagueRow {
  /** Name: that of the run, with the steps of a snapshot, `random` or `scripted`. */
  readonly name: string;
  /** Elo rating; the random player has 1200. */
  readonly rating: number;
  /** 95 % confidence interval of the difference to the random player, at its place. */
  readonly interval: readonly [low: number, high: number];
  /** Mean score over all its games: 1 for a win, 0.5 for a draw. */
  readonly score: number;
}

/** Results of a league, as its file has them. */
export interface League {
  /** Id of the game. */
  readonly game: string;
  /** Games of each match. */
  readonly games: number;
  /** Seed of the matches. */
  readonly seed: number;
  /** Most random moves at the start of a game. */
  readonly openings: number;
  /** Names of the players with what identifies them. */
  readonly players: readonly { readonly name: string; readonly id: string }[];
  /** Matches that are over. */
  readonly matches: readonly LeagueMatch[];
  /** Players by their ratings, best first; none before the last match. */
  readonly table: readonly LeagueRow[];
}

/** Player of a league. */
interface Participant {
  readonly name: string;
  /** What it is: the same id plays the same. */
  readonly id: string;
  readonly player: Player;
}

/** Worlds that play at the same time. */
const WORLDS = 50;

/**
 * Lets the agents of runs, their snapshots, the random and the scripted player play
 * each other, and rates them. A league that was ended goes on from its file and gives
 * the same one.
 *
 * @param names Folders of runs of one game, names of the zoo's agents, and names of more
 * players by rules, such as `minimax:4`.
 * @param options Number of games, seed, file.
 * @returns All matches, and the table.
 * @throws {UsageError} If a run is of another game or of none, or the file is of
 * another league.
 * @example
 * ```ts
 * import { playLeague } from "@bellman/runs/league";
 * import { assertRejects } from "@std/assert";
 *
 * await assertRejects(() => playLeague(["zoo:a2c/CartPole-v1"]), Error, "one seat");
 * ```
 */
export async function playLeague(
  names: readonly string[],
  options: LeagueOptions = {},
): Promise<League> {
  const { games = 200, seed = 0, openings = OPENINGS, path } = options;
  const { isTrusted } = options;
  const runs = names.filter((name) => !isPlayerName(name));
  const opened: GameRun[] = [];
  let world: World | undefined;
  try {
    for (const run of runs) opened.push(await gamesOfRun(run, { isTrusted }));
    const { config } = sameGame(opened);
    world = makeWorld(config.env, {
      numEnvs: Math.min(WORLDS, games),
      kwargs: config.envKwargs,
    });
    const players = [
      ...agentsOf(world, opened),
      ...playersByRules(world, names.filter(isPlayerName)),
    ];
    const start: League = {
      ...{ game: config.env, games, seed, openings },
      players: players.map(({ name, id }) => ({ name, id })),
      ...{ matches: [], table: [] },
    };
    return playAll(world, players, {
      league: path === undefined ? start : continued(path, start),
      path,
      onMatch: options.onMatch,
    });
  } finally {
    for (const it of opened) it.close();
    world?.close();
  }
}

/** Returns a run, if all are of the same game. */
function sameGame(runs: readonly GameRun[]): GameRun {
  const [first] = runs;
  if (first === undefined) {
    throw new UsageError(
      "Cannot play a league of no runs: expected one or more folders of runs of a game",
    );
  }
  for (const { dir, config } of runs) {
    if (config.env === first.config.env) continue;
    throw new UsageError(
      `Cannot play a league of ${first.config.env} and ${config.env}: ${first.dir} is of the one, ${dir} of the other`,
    );
  }
  return first;
}

/** Lists the agents, each with its snapshots. */
function agentsOf(world: World, runs: readonly GameRun[]): Participant[] {
  const named = uniqueNames(runs);
  const { numEnvs } = world;
  return runs.flatMap(({ agent, snapshots }, i) => {
    const make = () =>
      agent.policy({ frozen: true, deterministic: true, numEnvs });
    const participant = (name: string, actor: Actor) => ({
      ...{ name, id: identityOf(actor), player: actorPlayer(actor) },
    });
    const [name, ...others] = namesOf(named[i], runs[i]);
    return [
      participant(name, make()),
      ...snapshots.map(({ state }, k) =>
        participant(others[k], withParameters(make(), state))
      ),
    ];
  });
}

/** Lists the players by rules: those that are named, the scripted and the random one. */
function playersByRules(
  world: World,
  named: readonly string[],
): Participant[] {
  const usual = isScripted(world) ? ["scripted", "random"] : ["random"];
  return [...new Set([...named, ...usual])].map((name) => ({
    ...{ name, id: name, player: playerNamed(world, name) },
  }));
}

/** Names of a run's newest agent and of its snapshots. */
function namesOf(name: string, { snapshots }: GameRun): string[] {
  return [name, ...snapshots.map(({ steps }) => `${name}@${steps}`)];
}

/** Adds numbers to names of runs that others have, or players by rules. */
function uniqueNames(runs: readonly GameRun[]): string[] {
  const taken = new Set<string>();
  const isFree = (name: string) => !taken.has(name) && !isPlayerName(name);
  return runs.map((run) => {
    const folder = basename(run.dir);
    let name = folder;
    for (let i = 2; !namesOf(name, run).every(isFree); i++) {
      name = `${folder}#${i}`;
    }
    namesOf(name, run).forEach((it) => taken.add(it));
    return name;
  });
}

/** State of an actor: its parameters, and how it acts with them. */
type Saved = Record<"own" | "acting", StateTree>;

/** Splits the state of an actor into those of its roles. */
function statesOf(actor: Actor, state: StateTree): Record<string, Saved> {
  return (actor.roles ? state : { player: state }) as Record<string, Saved>;
}

/** Gives an actor the parameters of a snapshot. */
function withParameters(actor: Actor, snapshot: StateTree): Actor {
  const given = statesOf(actor, snapshot);
  const states = Object.entries(statesOf(actor, actor.save!()))
    .map(([role, { acting }]) => [role, { acting, own: given[role].own }]);
  const all = Object.fromEntries(states);
  actor.load!(actor.roles ? all : all.player);
  return actor;
}

/** Returns a text that tells the parameters of an actor from any others. */
function identityOf(actor: Actor): string {
  const arrays = Object.values(statesOf(actor, actor.save!()))
    .flatMap(({ own }) => Object.entries(own as Record<string, Float32Array>));
  const hash = sha256.create();
  for (const [path, { buffer, byteOffset, byteLength }] of arrays) {
    hash.update(new TextEncoder().encode(path));
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return bytesToHex(hash.digest()).slice(0, 16);
}

/** Reads the matches of a file, if there is one. */
function continued(path: string, start: League): League {
  if (!existsSync(path)) return start;
  let saved: Partial<League> | null;
  try {
    saved = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    throw new UsageError(
      `Cannot go on with the league ${path}: expected a file of JSON`,
    );
  }
  const settings = (it: Partial<League>) =>
    JSON.stringify([it.game, it.games, it.seed, it.openings, it.players]);
  const { matches } = saved ?? {};
  const refuse = (why: string) =>
    new UsageError(
      `Cannot go on with the league ${path}: ${why}; name another file, or remove it`,
    );
  const isSame = saved !== null && settings(saved) === settings(start);
  if (!isSame || !Array.isArray(matches)) {
    throw refuse("it is of other players or settings");
  }
  const pairs = pairsOf(start.players);
  const odd = matches.findIndex((it, i) => !isMatchOf(it, pairs[i], start));
  if (odd >= 0) throw refuse(`match ${odd} of it is none of these players`);
  return { ...start, matches };
}

/** Finds out if a saved match is one of two players with so many games. */
function isMatchOf(
  match: Partial<LeagueMatch> | null,
  pair: readonly [{ name: string }, { name: string }] | undefined,
  { games }: League,
): boolean {
  const { first, second, won, drawn, lost } = Object(match) as LeagueMatch;
  const counts = [won, drawn, lost];
  return first === pair?.[0].name && second === pair?.[1].name &&
    counts.every((it) => Number.isSafeInteger(it) && it >= 0) &&
    won + drawn + lost === games;
}

/** Returns all pairs of players, in the order in which they play. */
function pairsOf<T>(players: readonly T[]): (readonly [first: T, second: T])[] {
  return players.flatMap((first, i) =>
    players.slice(i + 1).map((second) => [first, second] as const)
  );
}

/** Plays the matches that are left. */
function playAll(
  world: World,
  players: readonly Participant[],
  { league, path, onMatch }: {
    league: League;
    path: string | undefined;
    onMatch: LeagueOptions["onMatch"];
  },
): League {
  const pairs = pairsOf(players);
  const { games, seed, openings } = league;
  const matches = [...league.matches];
  const write = (it: League) => {
    if (path !== undefined) {
      replaceFileSync(path, JSON.stringify(it, null, 2) + "\n");
    }
    return it;
  };
  for (let i = matches.length; i < pairs.length; i++) {
    const [first, second] = pairs[i];
    const result = playMatch(world, [first.player, second.player], {
      ...{ games, openings },
      seed: seed + i,
    });
    matches.push({ first: first.name, second: second.name, ...result });
    write({ ...league, matches });
    onMatch?.(matches[i], { over: i + 1, of: pairs.length });
  }
  return write({ ...league, matches, table: tableOf(players, matches) });
}

/** Rates all players. */
function tableOf(
  players: readonly Participant[],
  matches: readonly LeagueMatch[],
): LeagueRow[] {
  const names = players.map(({ name }) => name);
  const [wins, draws] = [0, 1].map(() => names.map(() => names.map(() => 0)));
  for (const { first, second, won, drawn, lost } of matches) {
    const [i, j] = [first, second].map((it) => names.indexOf(it));
    wins[i][j] = won;
    wins[j][i] = lost;
    draws[i][j] = draws[j][i] = drawn;
  }
  const anchor = names.indexOf("random");
  const { ratings, intervals }: Ratings = fitRatings({ wins, draws }, {
    anchor,
  });
  return names.map((name, i) => {
    const played = names.flatMap((
      _,
      j,
    ) => [wins[i][j], wins[j][i], draws[i][j]]);
    const total = played.reduce((sum, it) => sum + it, 0);
    const points = names.reduce(
      (sum, _, j) => sum + wins[i][j] + draws[i][j] / 2,
      0,
    );
    return {
      ...{ name, rating: ratings[i], interval: intervals[i] },
      score: points / total,
    };
  }).sort((a, b) => b.rating - a.rating);
}
