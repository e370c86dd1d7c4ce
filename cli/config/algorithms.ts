import { a2c } from "@bellman/a2c";
import { Agent, type AlgorithmDefinition } from "@bellman/agent";
import type { Engine } from "@bellman/compute";
import type { ObservationNormalizer, RewardNormalizer } from "@bellman/envs";
import type { Algorithm, Space } from "@bellman/types";
import { SAC, type SacConfig, sacConfigSchema, sacPresets } from "@bellman/sac";
import type { ConfigSchema } from "./schema.ts";

/** The algorithms that the command line knows. */
export type AlgorithmName = "a2c" | "sac";

/** Scales of observations and rewards that see what training sees. */
export interface Normalization {
  observations?: ObservationNormalizer;
  rewards?: RewardNormalizer;
}

/** What an algorithm is made for: the spaces and how many copies act. */
export interface AlgorithmContext {
  observationSpace: Space;
  actionSpace: Space;
  numEnvs: number;
  /** Frames that an observation stacks, where they can be shared. */
  stackedFrames?: number;
  /** Scales that an algorithm with a replay buffer applies itself. */
  normalization?: Normalization;
  /** Root seed of its random streams. */
  seed: number;
  /** Length of the run, for schedules. */
  totalTimesteps: number;
  /** What acts and learns. */
  engine: Engine;
  threads: number | "auto";
}

/** How the command line sees an algorithm. */
export interface AlgorithmEntry {
  summary: string;
  schema: ConfigSchema;
  /** Presets by name, as YAML. */
  presets: Readonly<Record<string, string>>;
  /**
   * Whether it keeps what it saw to learn from it later: it takes original
   * observations and rewards, and scales them itself.
   */
  hasReplay?: boolean;
  /** Keys of a run whose defaults are others for this algorithm. */
  runDefaults?: Readonly<Record<string, unknown>>;
  create(context: AlgorithmContext, config: Record<string, unknown>): Algorithm;
}

function pickKeys(
  config: Record<string, unknown>,
  schema: ConfigSchema,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(schema.properties).map((key) => [key, config[key]]),
  );
}

/** An entry of an algorithm that is defined by its parts. */
function entryOf<Config extends object>(
  definition: AlgorithmDefinition<Config>,
): AlgorithmEntry {
  const schema = definition.schema as ConfigSchema;
  return {
    ...definition,
    schema,
    create: (
      { seed, totalTimesteps, engine, threads, normalization, ...spaces },
      config,
    ) =>
      new Agent(definition, spaces, {
        config: pickKeys(config, schema) as Partial<Config>,
        seed,
        totalTimesteps,
        normalization,
        engine,
        threads,
      }),
  };
}

/** Every algorithm by name. */
export const ALGORITHMS: Readonly<Record<AlgorithmName, AlgorithmEntry>> = {
  a2c: entryOf(a2c),
  sac: {
    summary: "Soft actor-critic, off-policy (Haarnoja et al. 2018)",
    schema: sacConfigSchema as ConfigSchema,
    presets: sacPresets,
    runDefaults: { numEnvs: 1 },
    hasReplay: true,
    create: (
      { seed, totalTimesteps, engine, threads, normalization, ...spaces },
      config,
    ) =>
      new SAC(spaces, {
        config: pickKeys(config, sacConfigSchema as ConfigSchema) as Partial<
          SacConfig
        >,
        seed,
        totalTimesteps,
        engine,
        threads,
        normalization,
      }),
  },
};
