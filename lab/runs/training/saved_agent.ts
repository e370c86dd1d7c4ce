import { checkSpace } from "@bellman/envs";
import type { RunFolder } from "../folder/run_folder.ts";
import { type Checkpoint, evaluationSeeds } from "@bellman/training";
import type { ResolvedConfig } from "../settings/resolve.ts";
import { parseYaml } from "../settings/yaml.ts";
import { runDirOf } from "../settings/zoo_agents.ts";
import { type EnvironmentSpaces, evaluationEnvsFor } from "./environments.ts";
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
  /** What is to be done with it, for messages. */
  command: string;
  /** Checkpoint: the best one, the latest, or that of a step. */
  checkpoint?: CheckpointChoice;
  /** Seed of its episodes; by default one that neither training nor its evaluations use. */
  seed?: number;
  /** True where code, files and links of others are taken. */
  isTrusted?: boolean;
  /** Engine to take instead of the run's. */
  engine?: ResolvedConfig["engine"];
  /** Choice of actions: the most likely ones, or sampled ones; by default as in the run's evaluations. */
  deterministic?: boolean;
  /** False where its environment is not needed: no code that the run names is executed. */
  environment?: boolean;
}

/** Options of {@linkcode withAgent}. */
export interface WithAgentOptions {
  /**
   * Episodes that it is evaluated on.
   *
   * @default 0
   */
  episodes?: number;
  /**
   * Takes lines that the user should see.
   *
   * @default they are dropped
   */
  onNotice?: (line: string) => void;
}

/** A trained agent that is to be made. */
export interface SavedAgent {
  /** The run folder, as it was given, or that of the zoo's agent. */
  dir: string;
  /** Names in it. */
  folder: RunFolder;
  /** Settings of the run, on an engine of this machine. */
  config: ResolvedConfig;
  /** State that it is restored from. */
  checkpoint: Checkpoint;
  /** Seed of its episodes. */
  seed: number;
  /** True where it takes the most likely actions. */
  deterministic: boolean;
  /** Lines that the user should see before the agent is made. */
  warnings: string[];
  /** Spaces that replace the environment, where it is not needed. */
  spaces?: EnvironmentSpaces;
}

/** Returns the spaces that a checkpoint holds, if they are sound. */
function savedSpaces({ notes }: Checkpoint): EnvironmentSpaces | undefined {
  try {
    const spaces = parseYaml(String(notes.spaces)) as EnvironmentSpaces;
    const { observationSpace, actionSpace, stackedFrames = 1 } = spaces;
    checkSpace(observationSpace);
    checkSpace(actionSpace);
    return Number.isSafeInteger(stackedFrames) ? spaces : undefined;
  } catch {
    // Those of the environment are taken.
    return undefined;
  }
}

/**
 * Finds the agent of a run, or of the zoo, without making it.
 *
 * @param given The run folder, or the name of the zoo's agent.
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
  given: string,
  options: FindAgentOptions,
): SavedAgent {
  const { command, isTrusted = false, environment = true, engine } = options;
  const dir = runDirOf(given);
  const run = openSavedRun(dir, { isTrusted });
  const { folder } = run;
  const config = engine === undefined
    ? onAnyEngine(run.config)
    : withEngine(run.config, engine);
  const admit = (environment: boolean) =>
    admitRun(run, { command, isTrusted, environment });
  // Before anything is read that takes long.
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
 * Makes an agent for as long as `use` needs it.
 *
 * @param agent The agent.
 * @param use Function that uses the agent.
 * @param options Episodes that it is evaluated on, if it is, and a function that takes
 * lines that the user should see.
 * @returns What `use` returns.
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
  const config: ResolvedConfig = agent.spaces === undefined
    ? agent.config
    : { ...agent.config, engine: "eager", backend: "cpu", plugin: null };
  const setup = await setUpRun(config, onNotice, {
    isForEvaluation: true,
    evaluationEnvs: evaluationEnvsFor(episodes),
    spaces: agent.spaces,
  });
  try {
    restoreSetup(setup, agent.checkpoint);
    return await use(setup);
  } finally {
    setup.close();
  }
}

/** Options of {@linkcode weightsOfRun}. */
export type WeightsOptions = Pick<
  FindAgentOptions & WithAgentOptions,
  "isTrusted" | "onNotice"
>;

/**
 * Takes the weights of the best agent of a run, and the scales that it sees by, for
 * another run to start from.
 *
 * @param given The run folder, or the name of the zoo's agent.
 * @param options Trust, and a function that takes lines that the user should see.
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
  given: string,
  { isTrusted = false, onNotice }: WeightsOptions = {},
): Promise<InitialWeights> {
  const agent = findAgent(given, {
    command: "start from",
    environment: false,
    isTrusted,
  });
  const { checkpoint } = agent, origin = `${given}, step ${checkpoint.step}`;
  return sharedWeights(checkpoint, origin) ??
    await withAgent(agent, (setup) => weightsOf(setup, origin), { onNotice });
}
