import { a2c } from "@bellman/a2c";
import { type Algorithm, defaultsOf, findKey } from "@bellman/agent";
import { sac } from "@bellman/sac";
import run from "../../lab/runs/settings/run_config.schema.json" with {
  type: "json",
};
import {
  type Entry,
  validateEntries,
} from "../../lab/runs/settings/settings.ts";
import { parseMapping } from "../../lab/runs/settings/yaml.ts";

const { properties } = run;

/** Settings of a run that mean something in a page. */
const OF_RUNS = {
  seed: properties.seed,
  totalTimesteps: properties.totalTimesteps,
  numEnvs: properties.numEnvs,
  maxEpisodeSteps: properties.maxEpisodeSteps,
  normalizeObservation: properties.normalizeObservation,
  normalizeReward: properties.normalizeReward,
  clipReward: properties.clipReward,
  frameStack: properties.frameStack,
};

/**
 * Settings for a run of some seconds: the preset of CartPole-v1 takes ten times as
 * many steps, and that of Pendulum-v1 ten times as long for a step, most of it in
 * products of matrices of 256 rows.
 */
const SHORT: Readonly<Record<string, string>> = {
  "CartPole-v1": `
totalTimesteps: 20000
numEnvs: 8
valueNetwork: separate
learningRate: 0.005
`,
  "Pendulum-v1": `
totalTimesteps: 5000
hiddenSizes: [64, 64]
batchSize: 64
learningRate: 0.003
`,
};

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
}

/** Task of a training: environment, algorithm and all settings. */
export interface Task {
  readonly env: string;
  readonly definition: Algorithm;
  readonly settings: Settings;
}

/**
 * Merges the defaults, the environment's preset and what was given, as the command
 * line does.
 *
 * @param env Environment.
 * @param given Settings of the page's fields.
 * @param further Further settings as YAML, which may not repeat those.
 * @throws {UsageError} If a setting is unknown or not valid.
 */
export function resolveTask(
  env: string,
  given: Readonly<Record<string, unknown>> = {},
  further = "",
): Task {
  const definition: Algorithm = env === "Pendulum-v1" ? sac : a2c;
  const schema = {
    properties: { ...OF_RUNS, ...definition.meta.schema.properties },
  };
  const checked = (entries: Entry[], origin: string) =>
    validateEntries(entries, { schema, origin });
  const text = SHORT[env] ?? definition.meta.presets?.[env];
  // Presets have settings of evaluations and files, too.
  const preset = parseMapping(text, `the preset of ${env}`)
    .filter(([key]) => findKey(schema, key) !== undefined);
  const own = [
    ...Object.entries(given),
    ...parseMapping(further, "the further settings"),
  ];
  const settings = {
    ...defaultsOf<Settings>(schema),
    ...definition.meta.runDefaults,
    ...checked(preset, `the preset of ${env}`),
    ...checked(own, "the page"),
  };
  return { env, definition, settings };
}
