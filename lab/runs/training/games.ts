import { defaultRegistry, makeWorld } from "@bellman/envs";
import { hintAt } from "@bellman/files/options";
import {
  gameOf,
  isScripted,
  type Player,
  RolesVecEnv,
  type SelfPlayVecEnv,
} from "@bellman/envs/games";
import type { Callback } from "@bellman/training";
import type { VecEnv } from "@bellman/types";
import { UsageError } from "../program/errors.ts";
import type { ResolvedConfig } from "../settings/resolve.ts";

/** Finds out if an environment is a game of several seats. */
export function isGame({ env }: Pick<ResolvedConfig, "env">): boolean {
  return defaultRegistry.get(env)?.makeWorld !== undefined;
}

/** Lists the roles of a game that get a policy each; none if there is one for all. */
export function separateRoles(config: ResolvedConfig): readonly string[] {
  const { env, envKwargs, opponents, roles } = config;
  const { seat = "swap", role } = { ...opponents, ...envKwargs };
  const isOne = seat !== "swap" || role !== undefined || roles === "shared";
  if (isOne || !isGame(config)) return [];
  const world = makeWorld(env, { numEnvs: 1, kwargs: envKwargs });
  world.close();
  const names = Object.keys(world.roles);
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
  /** Returns its name, or a player of so many worlds. */
  player(numEnvs: number): Player | string;
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
  loop: "host",
  frameStack: 1,
} as const;

/**
 * Returns the options of a run's games: its opponents in training, and the opponent of
 * evaluations.
 *
 * @throws {UsageError} If a setting cannot be used with games, or there is no such
 * opponent.
 */
export async function gameOptions(
  config: ResolvedConfig,
  { spaces, runPlayer }: {
    readonly spaces?: unknown;
    readonly runPlayer?: RunPlayers;
  } = {},
): Promise<GameOptions> {
  // Where the spaces stand in for the environment nothing is played.
  if (spaces !== undefined) return NONE;
  const { opponents, opponent, evaluationOpponent } = config;
  if (!isGame(config)) {
    const named = opponent ?? evaluationOpponent;
    if (named === null) return NONE;
    throw new UsageError(
      `Cannot play ${config.env} against ${named}: it has one seat, expected a game of several, such as ConnectFour-v0`,
    );
  }
  for (const [key, wanted] of Object.entries(WITHOUT_GAMES)) {
    if (config[key] === wanted) continue;
    throw new UsageError(
      `Cannot train on ${config.env}, a game of several seats, with ${key}: ${
        config[key]
      }: expected ${wanted}`,
    );
  }
  if (opponents === null && opponent === null) {
    throw new UsageError(
      `Cannot train on ${config.env} without opponents: expected opponent: random, scripted or a run, or opponents: {} for snapshots of the agent`,
    );
  }
  const find = (name: string) => opponentOf(name, config, runPlayer);
  const fixed = opponent === null ? undefined : await find(opponent);
  const judge = await find(
    evaluationOpponent ?? opponent ?? usualJudge(config),
  );
  const role = ownRole(config);
  return {
    training: (numEnvs) => ({
      ...opponents,
      ...fixed && { opponent: fixed.player(numEnvs) },
    }),
    evaluation: (numEnvs) => ({
      opponent: judge.player(numEnvs),
      ...role !== undefined && { role },
    }),
    close() {
      fixed?.close();
      judge.close();
    },
  };
}

/** Finds the role of an agent that takes the seats of one role alone. */
function ownRole(
  { env, envKwargs, opponents }: ResolvedConfig,
): string | undefined {
  const { role, seat = "swap" } = opponents ?? {};
  if (role !== undefined || seat === "swap") return role;
  const world = makeWorld(env, { numEnvs: 1, kwargs: envKwargs });
  world.close();
  return world.seats.find(({ name }) => name === seat)?.role;
}

/** Names the player that evaluations are against: the scripted one, if there is one. */
function usualJudge({ env, envKwargs }: ResolvedConfig): string {
  const world = makeWorld(env, { numEnvs: 1, kwargs: envKwargs });
  world.close();
  return isScripted(world) ? "scripted" : "random";
}

/** Opponents by name; others are runs. */
const BY_NAME = ["random", "scripted"];

/** Finds an opponent: by name, or the agent of a run. */
async function opponentOf(
  name: string,
  config: ResolvedConfig,
  runPlayer: RunPlayers | undefined,
): Promise<Opponent> {
  if (BY_NAME.includes(name)) return { player: () => name, close() {} };
  if (runPlayer !== undefined) return await runPlayer(name, config);
  throw new UsageError(
    `Unknown opponent '${name}': ${hintAt(name, BY_NAME)}`,
  );
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
