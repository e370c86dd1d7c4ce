import { checkSpace } from "@bellman/envs";
import {
  actorPlayer,
  type SavedSnapshot,
  savedSnapshots,
} from "@bellman/envs/games";
import type { StateTree } from "@bellman/types";
import type { RunFolder } from "../folder/run_folder.ts";
import { type Checkpoint, evaluationSeeds } from "@bellman/training";
import type { ResolvedConfig } from "../settings/resolve.ts";
import { parseYaml } from "../settings/yaml.ts";
import { runDirOf } from "../settings/zoo_agents.ts";
import { type EnvironmentSpaces, evaluationEnvsFor } from "./environments.ts";
import { UsageError } from "../program/errors.ts";
import { loadEnvironment } from "./environment_modules.ts";
import { type Opponent, separateRoles } from "./games.ts";
import {
  type InitialWeights,
  sharedWeights,
  weightsOf,
} from "./initial_weights.ts";
import {
  onAnyEngine,
  type RunSetup,
  setUpRun,
  withEngine,
} from "./run_setup.ts";
import {
  admitRun,
  type CheckpointChoice,
  loadCheckpoint,
  openSavedRun,
  restoreSetup,
} from "./saved_run.ts";

/** Options of {@linkcode findAgent}. */
export interface FindAgentOptions {
  /** Command name, for error messages. */
  command: string;
  /** Checkpoint: best, latest, or that of a step. */
  checkpoint?: CheckpointChoice;
  /** Seed of the episodes; by default one that neither training nor its evaluations use. */
  seed?: number;
  /** Trust code, files and links of others. */
  isTrusted?: boolean;
  /** Engine to use instead of the run's. */
  engine?: ResolvedConfig["engine"];
  /** Take the most likely actions or sampled ones; by default as in the run's evaluations. */
  deterministic?: boolean;
  /** False if its environment is not needed: no code that the run names is executed. */
  environment?: boolean;
}

/** Options of {@linkcode withAgent}. */
export interface WithAgentOptions {
  /**
   * Number of evaluation episodes.
   *
   * @default 0
   */
  episodes?: number;
  /**
   * Receives lines for the user.
   *
   * @default they are dropped
   */
  onNotice?: (line: string) => void;
}

/** Trained agent before it is made. */
export interface SavedAgent {
  /** Run folder, as given, or that of the zoo's agent. */
  dir: string;
  /** Paths in the run folder. */
  folder: RunFolder;
  /** Settings of the run, with an engine of this machine. */
  config: ResolvedConfig;
  /** Checkpoint to restore. */
  checkpoint: Checkpoint;
  /** Seed of the episodes. */
  seed: number;
  /** True for the most likely actions. */
  deterministic: boolean;
  /** Lines for the user before the agent is made. */
  warnings: string[];
  /** Spaces that replace the environment, if that is not needed. */
  spaces?: EnvironmentSpaces;
}

/** Returns the spaces in a checkpoint, if they are valid. */
export function savedSpaces(
  { notes }: Checkpoint,
): EnvironmentSpaces | undefined {
  try {
    const spaces = parseYaml(String(notes.spaces)) as EnvironmentSpaces;
    const { observationSpace, actionSpace, stackedFrames = 1 } = spaces;
    checkSpace(observationSpace);
    checkSpace(actionSpace);
    return Number.isSafeInteger(stackedFrames) ? spaces : undefined;
  } catch {
    // The environment's spaces are used.
    return undefined;
  }
}

/**
 * Finds the agent of a run, or of the zoo, without making it.
 *
 * @param name Run folder, or name of the zoo's agent.
 * @param options Checkpoint, seed, trust.
 * @throws {UsageError} If there is no such run, or it names code that is not trusted.
 *
 * @example
 * ```ts
 * import { findAgent } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const { config } = findAgent("zoo:a2c/CartPole-v1", { command: "load" });
 * assertEquals(config.env, "CartPole-v1");
 * ```
 */
export function findAgent(
  name: string,
  options: FindAgentOptions,
): SavedAgent {
  const { command, isTrusted = false, environment = true, engine } = options;
  const dir = runDirOf(name);
  const run = openSavedRun(dir, { isTrusted });
  const { folder } = run;
  const config = engine === undefined
    ? onAnyEngine(run.config)
    : withEngine(run.config, engine);
  const admit = (environment: boolean) =>
    admitRun(run, { command, isTrusted, environment });
  // Before reading anything large.
  const admitted = admit(environment);
  const {
    seed = evaluationSeeds(config.seed).later,
    deterministic = config.evaluationDeterministic,
  } = options;
  const checkpoint = loadCheckpoint(run, options.checkpoint ?? "best");
  const spaces = environment ? undefined : savedSpaces(checkpoint);
  const warnings = spaces === undefined ? admit(true) : admitted;
  warnings.push(...checkpoint.warnings);
  return {
    dir,
    folder,
    config,
    checkpoint,
    seed,
    deterministic,
    warnings,
    spaces,
  };
}

/**
 * Makes an agent while `use` runs.
 *
 * @param agent Agent to make.
 * @param use Function that uses the agent.
 * @param options Number of evaluation episodes, and receiver of lines for the user.
 * @returns Result of `use`.
 *
 * @example
 * ```ts
 * import { findAgent, withAgent } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const agent = findAgent("zoo:a2c/CartPole-v1", { command: "load" });
 * const space = await withAgent(
 *   agent,
 *   ({ environments }) => environments.spaces.actionSpace,
 * );
 * assertEquals(space.type, "discrete");
 * ```
 */
export async function withAgent<T>(
  agent: SavedAgent,
  use: (setup: RunSetup) => T | Promise<T>,
  { episodes = 0, onNotice = () => {} }: WithAgentOptions = {},
): Promise<T> {
  agent.warnings.forEach(onNotice);
  // Without an environment nothing is computed.
  const { deterministic: evaluationDeterministic } = agent;
  const config: ResolvedConfig = {
    ...agent.config,
    // Opponents act as the agent does.
    evaluationDeterministic,
    ...agent.spaces !== undefined &&
      { engine: "eager", backend: "cpu", plugin: null },
  };
  const setup = await setUpRun(config, onNotice, {
    isForEvaluation: true,
    evaluationEnvs: evaluationEnvsFor(episodes),
    spaces: agent.spaces,
    runPlayer,
  });
  try {
    restoreSetup(setup, agent.checkpoint, { actsOnly: true });
    return await use(setup);
  } finally {
    setup.close();
  }
}

/** Agent of a run of a game, with the snapshots that it played against. */
export interface GameRun {
  /** Run folder, as given. */
  readonly dir: string;
  /** Settings of the run. */
  readonly config: ResolvedConfig;
  /** The agent. */
  readonly agent: RunSetup["algorithm"];
  /** Snapshots of the agent that it played against, oldest first. */
  readonly snapshots: readonly SavedSnapshot[];
  /** Frees the agent. */
  close(): void;
}

/**
 * Opens the best agent of a run of a game.
 *
 * @param run Run folder, or name of the zoo's agent.
 * @param options Trust.
 * @throws {UsageError} If there is no such run, it names code that is not trusted, or
 * its environment has one seat.
 */
export async function gamesOfRun(
  run: string,
  { isTrusted = false }: { isTrusted?: boolean } = {},
): Promise<GameRun> {
  const saved = findAgent(run, { command: "play with", isTrusted });
  const { algorithm: agent, close } = await playerSetup(saved);
  const { env } = saved.checkpoint.state as Record<string, StateTree>;
  // Snapshots have the policies of all roles, and those of one role are enough.
  const [role] = separateRoles(saved.config);
  const games = role === undefined
    ? env
    : (env as Record<string, StateTree>)[role];
  return {
    ...{ dir: run, config: saved.config, agent, close },
    snapshots: savedSnapshots(games),
  };
}

/** Restores an agent that plays, whoever its own opponents were. */
async function playerSetup(
  { dir, config, checkpoint }: SavedAgent,
): Promise<RunSetup> {
  // Roles are known once the game is registered.
  await loadEnvironment(config);
  const roles = separateRoles({ ...config, opponents: {} });
  if (roles.length > separateRoles(config).length) {
    throw new UsageError(
      `Cannot play with ${dir}, whose agent has one role: expected a run of the roles ${
        roles.join(", ")
      }`,
    );
  }
  const own = { opponents: {}, opponent: "random", evaluationOpponent: null };
  const setup = await setUpRun(onAnyEngine({ ...config, ...own }), () => {}, {
    isForEvaluation: true,
  });
  try {
    restoreSetup(setup, checkpoint, { actsOnly: true });
    return setup;
  } catch (error) {
    setup.close();
    throw error;
  }
}

/**
 * Opens the best agent of a run as an opponent in games.
 *
 * @param run Run folder, or name of the zoo's agent.
 * @param config Configuration of the games.
 * @returns The opponent, with a copy of the agent's policy.
 * @throws {UsageError} If there is no such run, it names code that is not trusted, or
 * it is of another game.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { runPlayer } from "@bellman/runs/training";
 * import { assertRejects } from "@std/assert";
 *
 * const config = resolveConfig("ppo", { entries: [["env", "TicTacToe-v0"]] });
 * const agent = () => runPlayer("zoo:a2c/CartPole-v1", config);
 * await assertRejects(agent, Error, "which is of CartPole-v1");
 * ```
 */
export async function runPlayer(
  run: string,
  { env }: ResolvedConfig,
): Promise<Opponent> {
  const agent = findAgent(run, { command: "play against" });
  if (agent.config.env !== env) {
    throw new UsageError(
      `Cannot play ${env} against the run ${run}, which is of ${agent.config.env}: expected a run of ${env}, random, scripted or minimax:N`,
    );
  }
  const { algorithm, close } = await playerSetup(agent);
  return {
    player: (numEnvs, deterministic) =>
      actorPlayer(algorithm.policy({ frozen: true, numEnvs, deterministic })),
    close,
  };
}

/** Options of {@linkcode weightsOfRun}. */
export type WeightsOptions = Pick<
  FindAgentOptions & WithAgentOptions,
  "isTrusted" | "onNotice"
>;

/**
 * Returns the weights of a run's best agent and its normalization statistics, for
 * another run to start from.
 *
 * @param run Run folder, or name of the zoo's agent.
 * @param options Trust, and receiver of lines for the user.
 * @throws {UsageError} If there is no such run, or it names code that is not trusted.
 *
 * @example
 * ```ts
 * import { weightsOfRun } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const { learned } = await weightsOfRun("zoo:a2c/CartPole-v1");
 * assertEquals(Object.keys(learned), ["policy"]);
 * ```
 */
export async function weightsOfRun(
  run: string,
  { isTrusted = false, onNotice }: WeightsOptions = {},
): Promise<InitialWeights> {
  const agent = findAgent(run, {
    command: "start from",
    environment: false,
    isTrusted,
  });
  const { checkpoint } = agent, origin = `${run}, step ${checkpoint.step}`;
  return sharedWeights(checkpoint, origin) ??
    await withAgent(agent, (setup) => weightsOf(setup, origin), { onNotice });
}
