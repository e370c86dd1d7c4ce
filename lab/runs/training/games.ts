import { defaultRegistry, makeWorld } from "@bellman/envs";
import {
  actorPlayer,
  gameOf,
  type Player,
  type ScriptedWorld,
} from "@bellman/envs/games";
import type { Callback } from "@bellman/training";
import type { VecEnv } from "@bellman/types";
import { UsageError } from "../program/errors.ts";
import type { ResolvedConfig } from "../settings/resolve.ts";

/** Finds out if an environment is a game of several seats. */
export function isGame({ env }: Pick<ResolvedConfig, "env">): boolean {
  return defaultRegistry.get(env)?.makeWorld !== undefined;
}

/** Options of games for a number of worlds. */
export type GameKwargs = (numEnvs: number) => Record<string, unknown>;

/** Options of the games of a run: of training, and of evaluations. */
export interface GameOptions {
  readonly training: GameKwargs;
  readonly evaluation: GameKwargs;
}

const NONE: GameOptions = { training: () => ({}), evaluation: () => ({}) };

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
  { spaces }: { readonly spaces?: unknown } = {},
): Promise<GameOptions> {
  // Where the spaces stand in for the environment nothing is played.
  if (spaces !== undefined || !isGame(config)) return NONE;
  for (const [key, wanted] of Object.entries(WITHOUT_GAMES)) {
    if (config[key] === wanted) continue;
    throw new UsageError(
      `Cannot train on ${config.env}, a game of several seats, with ${key}: ${
        config[key]
      }: expected ${wanted}`,
    );
  }
  const { opponents, opponent, evaluationOpponent } = config;
  if (opponents === null && opponent === null) {
    throw new UsageError(
      `Cannot train on ${config.env} without opponents: expected opponent: random, scripted or a run, or opponents: {} for snapshots of the agent`,
    );
  }
  const fixed = opponent === null
    ? undefined
    : await opponentOf(opponent, config);
  const judge = await opponentOf(
    evaluationOpponent ?? opponent ?? usualJudge(config),
    config,
  );
  return {
    training: (numEnvs) => ({
      ...opponents,
      ...fixed && { opponent: fixed(numEnvs) },
    }),
    evaluation: (numEnvs) => ({ opponent: judge(numEnvs) }),
  };
}

/** Names the player that evaluations are against: the scripted one, if there is one. */
function usualJudge({ env, envKwargs }: ResolvedConfig): string {
  const world = makeWorld(env, { numEnvs: 1, kwargs: envKwargs });
  const isScripted =
    typeof (world as Partial<ScriptedWorld>).scripted === "function";
  world.close();
  return isScripted ? "scripted" : "random";
}

/** Opponents by name; others are runs. */
const BY_NAME = ["random", "scripted"];

/** Finds an opponent: by name, or the best agent of a run. */
async function opponentOf(
  name: string,
  { env }: ResolvedConfig,
): Promise<(numEnvs: number) => Player | string> {
  if (BY_NAME.includes(name)) return () => name;
  // That module makes environments, too.
  const { loadRun } = await import("./load_run.ts");
  const run = await loadRun(name);
  if (run.config.env !== env) {
    run.close();
    throw new UsageError(
      `Cannot play ${env} against the run ${name}, which is of ${run.config.env}: expected a run of ${env}, random or scripted`,
    );
  }
  return (numEnvs) => actorPlayer(run.agent.policy({ frozen: true, numEnvs }));
}

/** Lets snapshots of an agent play in its training environments, if they are games. */
export function playSnapshots(
  training: VecEnv,
  agent: Parameters<NonNullable<ReturnType<typeof gameOf>>["play"]>[0],
): void {
  gameOf(training)?.play(agent);
}

/** Makes callbacks that log the ratings of games. */
export function gameCallbacks(training: VecEnv | undefined): Callback[] {
  const game = training && gameOf(training);
  if (game === undefined) return [];
  return [{
    onUpdate: (context) => {
      for (const [name, value] of Object.entries(game.statistics())) {
        context.record(name, value);
      }
    },
  }];
}
