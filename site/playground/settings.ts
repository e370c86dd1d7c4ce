import { a2c } from "@bellman/a2c";
import { type Algorithm, defaultsOf } from "@bellman/agent";
import { dqn } from "@bellman/dqn";
import { ppo } from "@bellman/ppo";
import { sac } from "@bellman/sac";
import run from "../../lab/runs/settings/run_config.schema.json" with {
  type: "json",
};
import {
  type Entry,
  validateEntries,
} from "../../lab/runs/settings/settings.ts";
import { parseMapping } from "../../lab/runs/settings/yaml.ts";
import { TASKS } from "./tasks.ts";

const DEFINITIONS: Readonly<Record<string, Algorithm>> = { a2c, dqn, ppo, sac };

/** Settings of a run that mean something in a page. */
const OF_RUNS = [
  ...["seed", "totalTimesteps", "numEnvs", "maxEpisodeSteps"] as const,
  ...["normalizeObservation", "normalizeReward", "clipReward"] as const,
  ...["frameStack", "evaluationInterval", "evaluationEpisodes"] as const,
];

/** Settings of a run: those named here, and the algorithm's own. */
export interface Settings extends Record<string, unknown> {
  seed: number;
  totalTimesteps: number;
  numEnvs: number;
  maxEpisodeSteps: number | null;
  normalizeObservation: boolean;
  normalizeReward: boolean;
  clipReward: boolean;
  frameStack: number;
  evaluationInterval: number | null;
  evaluationEpisodes: number;
}

/** What is asked for: environment, algorithm, and settings beside the preset's. */
export interface Wanted {
  readonly env: string;
  readonly algorithm: string;
  /** Settings of the page's fields. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Further settings as YAML, which may not repeat those. */
  readonly further?: string;
  /**
   * Mean return of an evaluation that ends the run.
   *
   * @default the task's
   */
  readonly goal?: number;
  /**
   * Most environment steps a second, so that people see what is learned.
   *
   * @default Infinity
   */
  readonly stepsPerSecond?: number;
}

/** Run to train: environment, algorithm, goal and all settings. */
export interface Resolved {
  readonly env: string;
  readonly goal: number;
  readonly stepsPerSecond: number;
  readonly definition: Algorithm;
  readonly settings: Settings;
}

/**
 * Merges the defaults, the preset and what was given, as the command line does.
 *
 * @throws {UsageError} If a setting is unknown or not valid.
 */
export function resolveTask(
  { env, algorithm, settings: given = {}, further = "", ...wanted }: Wanted,
): Resolved {
  const definition = DEFINITIONS[algorithm], { presets } = TASKS[env];
  const { goal = TASKS[env].goal, stepsPerSecond = Infinity } = wanted;
  const properties = Object.fromEntries(
    OF_RUNS.map((key) => [key, run.properties[key]]),
  );
  const ofAlgorithm = definition.meta.schema;
  const schema = {
    ...ofAlgorithm,
    properties: { ...properties, ...ofAlgorithm.properties },
  };
  const checked = (entries: Entry[], origin: string) =>
    validateEntries(entries, { schema, origin });
  const own = [
    ...Object.entries(given),
    ...parseMapping(further, "the further settings"),
  ];
  const settings = {
    ...defaultsOf<Settings>(schema),
    ...definition.meta.runDefaults,
    ...checked(Object.entries(presets[algorithm]), `the preset of ${env}`),
    ...checked(own, "the page"),
  };
  return { env, goal, stepsPerSecond, definition, settings };
}
