import { defaultRegistry, makeWorld } from "@bellman/envs";
import {
  gameOf,
  isPlayerName,
  isScripted,
  type Player,
  playerNamed,
  RolesVecEnv,
  RowsWorld,
  type SelfPlayVecEnv,
} from "@bellman/envs/games";
import type { Callback } from "@bellman/training";
import type { VecEnv, World } from "@bellman/types";
import { typoOf } from "@bellman/files/options";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../program/errors.ts";
import { findAlgorithm } from "../settings/algorithms.ts";
import type { ResolvedConfig } from "../settings/resolve.ts";

/** Finds out if an environment is a game of several seats. */
export function isGame({ env }: Pick<ResolvedConfig, "env">): boolean {
  return defaultRegistry.get(env)?.makeWorld !== undefined;
}

/** Lists the roles of a game that get a policy each; none if there is one for all. */
export function separateRoles(config: ResolvedConfig): readonly string[] {
  const { envKwargs, opponents, roles } = config;
  const { seat = "swap", role } = { ...opponents, ...envKwargs };
  const isOne = seat !== "swap" || role !== undefined || roles === "shared";
  if (isOne || !isGame(config)) return [];
  const names = Object.keys(worldOf(config).roles);
  return names.length > 1 ? names : [];
}

/** Options of games for a number of worlds. */
export type GameKwargs = (numEnvs: number) => Record<string, unknown>;

/** Options of the games of a run: of training, and of evaluations. */
export interface GameOptions {
  readonly training: GameKwargs;
  readonly evaluation: GameKwargs;
  /** Frees the opponents. */
  close(): void;
}

const NONE: GameOptions = {
  training: () => ({}),
  evaluation: () => ({}),
  close() {},
};

/** Opponent for any number of worlds, by name or as a player. */
export interface Opponent {
  /**
   * Returns its name, or a player of so many worlds, which takes its most likely moves
   * or by default sampled ones.
   */
  player(numEnvs: number, deterministic?: boolean): Player | string;
  /** Frees the opponent. */
  close(): void;
}

/** Finds the player of a run's agent, for games of a configuration. */
export type RunPlayers = (
  run: string,
  config: ResolvedConfig,
) => Promise<Opponent>;

/** Settings that games do not take, and what they expect. */
const WITHOUT_GAMES = {
  vectorization: "sync",
  workers: null,
  loop: "host",
  frameStack: 1,
} as const;

/** Opponents that need no run. */
const BY_RULES = "random, scripted or minimax:N";

/**
 * Checks that settings are those of a game, if the environment is one, or else of an
 * environment of one seat.
 *
 * @param config Settings; an environment of the user's own must be registered.
 * @throws {UsageError} If it is not so.
 */
export function checkGame(config: ResolvedConfig): void {
  const { env, opponents, opponent, evaluationOpponent } = config;
  if (!isGame(config)) {
    const isSet = Object.keys(opponents ?? {}).length > 0;
    const named = opponent ?? evaluationOpponent ??
      (isSet ? "opponents of its own" : undefined);
    if (named === undefined) return;
    throw new UsageError(
      `Cannot play ${env} against ${named}: it has one seat, expected a game of several, such as ConnectFour-v0`,
    );
  }
  const { startWorkers } = findAlgorithm(config.algorithm) ?? {};
  for (const [key, wanted] of Object.entries(WITHOUT_GAMES)) {
    const isOwn = key === "workers" && startWorkers !== undefined;
    if (isOwn || config[key] === wanted) continue;
    throw new UsageError(
      `Cannot train on ${env}, a game of several seats, with ${key}: ${
        config[key]
      }: expected ${wanted}`,
    );
  }
  if (startWorkers !== undefined && !isPlayerName(opponent ?? "")) {
    throw new UsageError(
      `Cannot train ${config.algorithm} on ${env} against ${
        opponent ?? "snapshots of itself"
      }, as each of its workers plays alone: expected opponent: ${BY_RULES}, or another algorithm, such as ppo`,
    );
  }
  if (opponents === null && opponent === null) {
    throw new UsageError(
      `Cannot train on ${env} without opponents: expected opponent: ${BY_RULES}, or a run, or opponents: {} for snapshots of the agent`,
    );
  }
}

/** Worlds to look at, which are closed: some are pages or processes. */
const looked = new Map<string, World>();

/** Makes a world of a game to look at. */
function worldOf({ env, envKwargs: kwargs }: ResolvedConfig): World {
  const key = JSON.stringify([env, kwargs]);
  const world = looked.get(key) ?? makeWorld(env, { numEnvs: 1, kwargs });
  if (!looked.has(key)) world.close();
  looked.set(key, world);
  return world;
}

/**
 * Names the opponent that evaluations of a game are against, by default the scripted
 * player, or the random one where there is none.
 *
 * @param config Settings; an environment of the user's own must be registered.
 * @returns Its name; undefined where the environment has one seat.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { evaluationOpponentOf } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const config = resolveConfig("ppo", { entries: [["env", "TicTacToe-v0"]] });
 * assertEquals(evaluationOpponentOf(config), "scripted");
 * ```
 */
export function evaluationOpponentOf(
  config: ResolvedConfig,
): string | undefined {
  return isGame(config) ? judgeOf(config, () => worldOf(config)) : undefined;
}

function judgeOf(
  { evaluationOpponent, opponent }: ResolvedConfig,
  world: () => World,
): string {
  return evaluationOpponent ?? opponent ??
    (isScripted(world()) ? "scripted" : "random");
}

/**
 * Returns the opponents and the data with absolute paths: a run is resumed anywhere.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { absolutePaths } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const config = resolveConfig("ppo", { entries: [["opponent", "runs/a"]] });
 * assertEquals(absolutePaths(config), {
 *   opponent: `${Deno.cwd()}/runs/a`,
 *   evaluationOpponent: null,
 *   data: null,
 * });
 * ```
 */
export function absolutePaths(
  { opponent, evaluationOpponent, data }: ResolvedConfig,
): Pick<ResolvedConfig, "opponent" | "evaluationOpponent" | "data"> {
  const absolute = (name: string | null) =>
    name === null || isPlayerName(name) || name.startsWith("zoo:")
      ? name
      : resolve(name);
  return {
    opponent: absolute(opponent),
    evaluationOpponent: absolute(evaluationOpponent),
    data: data && resolve(data),
  };
}

/**
 * Returns the options of a run's games: its opponents in training, and the opponent of
 * evaluations.
 *
 * @throws {UsageError} If a setting cannot be used with games, or there is no such
 * opponent.
 */
export async function gameOptions(
  config: ResolvedConfig,
  { spaces, runPlayer, isForEvaluation = false }: {
    readonly spaces?: unknown;
    readonly runPlayer?: RunPlayers;
    readonly isForEvaluation?: boolean;
  } = {},
): Promise<GameOptions> {
  // Where the spaces stand in for the environment nothing is played.
  if (spaces !== undefined) return NONE;
  checkGame(config);
  if (!isGame(config)) return NONE;
  const { opponents, opponent } = config, world = worldOf(config);
  const find = async (name: string): Promise<Opponent> => {
    if (runPlayer !== undefined && !isPlayerName(name)) {
      checkRunName(name);
      return await runPlayer(name, config);
    }
    // A game without such a player is refused before it begins.
    playerNamed(world, name);
    return { player: () => name, close() {} };
  };
  // Who the agent was trained against is not needed, and may be gone.
  const fixed = opponent === null || isForEvaluation
    ? undefined
    : await find(opponent);
  const judged = judgeOf(config, () => world), judge = await find(judged);
  const { evaluationDeterministic: deterministic } = config;
  // Agents that take their most likely moves play the same games again otherwise.
  const isOpened = deterministic && !isPlayerName(judged) &&
    !(world instanceof RowsWorld);
  const openings = isOpened ? OPENINGS : 0;
  const role = ownRole(config, world);
  return {
    training: (numEnvs) => ({
      ...opponents,
      ...fixed && { opponent: fixed.player(numEnvs) },
    }),
    evaluation: (numEnvs) => ({
      opponent: judge.player(numEnvs, deterministic),
      ...openings > 0 && { openings },
      ...role !== undefined && { role },
    }),
    close() {
      fixed?.close();
      judge.close();
    },
  };
}

/** Most random moves at the start of a game of two agents. */
export const OPENINGS = 4;

/** Throws where a name is rather that of a player than of a folder. */
function checkRunName(name: string): void {
  const players = ["random", "scripted", "minimax:4"];
  const nearest = existsSync(name) ? undefined : typoOf(name, players);
  if (nearest === undefined) return;
  throw new UsageError(
    `Unknown opponent '${name}': did you mean '${nearest}'?`,
  );
}

/** Finds the role of an agent that takes the seats of one role alone. */
function ownRole(
  { opponents }: ResolvedConfig,
  { seats }: World,
): string | undefined {
  const { role, seat = "swap" } = opponents ?? {};
  if (role !== undefined || seat === "swap") return role;
  return seats.find(({ name }) => name === seat)?.role;
}

/** Finds the games that a learner's snapshots play in. */
export function learnersGame(
  env: VecEnv,
): SelfPlayVecEnv | RolesVecEnv | undefined {
  return env instanceof RolesVecEnv ? env : gameOf(env);
}

/** Makes callbacks that log the ratings of games. */
export function gameCallbacks(training: VecEnv | undefined): Callback[] {
  const game = training && learnersGame(training);
  if (game === undefined) return [];
  return [{
    onUpdate: (context) => {
      for (const [name, value] of Object.entries(game.statistics())) {
        context.record(name, value);
      }
    },
  }];
}
