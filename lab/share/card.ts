/** Model card of a shared agent, as on Hugging Face's Hub. */
import { type Schema, validate } from "@cfworker/json-schema";
import { describeSpace } from "@bellman/envs";
import type { CheckpointNotes } from "@bellman/training";
import { join } from "node:path";
import {
  findAlgorithm,
  parseYaml,
  resolveConfig,
  type ResolvedConfig,
} from "@bellman/runs/settings";
import {
  type EnvironmentSpaces,
  evaluationOpponentOf,
  round,
} from "@bellman/runs/training";
import { asLine, readText, shellWord } from "@bellman/runs/program";
import { CARD_FILE } from "./shared_files.ts";
import { commandOf } from "./without_places.ts";

/** Reported evaluation, which can be reproduced. */
export interface CardEvaluation {
  /** Seed of the first episodes. */
  seed: number;
  /** Number of episodes. */
  episodes: number;
  /** Mean return. */
  mean: number;
  /** Standard deviation of the returns, as `eval` prints it. */
  deviation: number;
  /** Lower bound of Student's 95 % confidence interval of the mean. */
  low: number;
  /** Upper bound of the interval. */
  high: number;
  /** Lowest return. */
  least: number;
  /** Mean length of the episodes. */
  length: number;
  /** Number of episodes cut by the step limit. */
  cut: number;
  /** Fraction of successful episodes; null if the environment does not report it. */
  success: number | null;
  /** Engine of the actions, whose last bits may differ elsewhere. */
  engine: string;
}

/** Runs with other seeds, from which the agent's run was selected. */
export interface CardSeeds {
  /** Number of seeds, including its own. */
  count: number;
  /** True if none of the others is better. */
  isBest: boolean;
  /** Number of episodes of each evaluation. */
  episodes: number;
  /** Interquartile mean of the seeds' best agents. */
  iqm: number;
  /** Lower bound of its 95 % confidence interval. */
  low: number;
  /** Upper bound of the interval. */
  high: number;
  /** Commits of the evaluations. */
  commits: string[];
}

/** Claims of a card that are not in the other files of its folder. */
export interface CardClaims {
  /** Name of the agent. */
  name: string;
  /** License; null for none. */
  license: string | null;
  /** Version of Bellman that made the folder. */
  version: string;
  /** Commit of the evaluation; empty if there was none. */
  commit: string;
  /** Files of the run that were not copied. */
  notShared: string[];
  /** Evaluation of the agent. */
  evaluation: CardEvaluation;
  /** Runs with other seeds; null if there are none. */
  seeds: CardSeeds | null;
}

/** Contents of the other files. */
export interface CardSource {
  /** Environment steps and notes of `agent.safetensors`. */
  step: number;
  notes: CheckpointNotes;
  /** Spaces of the environment. */
  spaces: EnvironmentSpaces;
  hasPicture: boolean;
}

/** Makes the schema of an object with exactly these properties. */
function exactly(properties: Schema["properties"]): Schema {
  const required = Object.keys(properties!);
  return { type: "object", properties, required, additionalProperties: false };
}

const TEXT: Schema = { type: "string", maxLength: 1000 };
const NUMBER: Schema = { type: "number" };
/** Largest number of episodes that an untrusted card can make the check play. */
const COUNT: Schema = { type: "integer", minimum: 0, maximum: 10_000 };
const TEXTS: Schema = { type: "array", items: TEXT, maxItems: 1000 };

/** Smallest number of episodes of an evaluation: few returns are not informative. */
const FEWEST = 10;

/** Names of shared agents, which need no quotes in a card. */
export const NAME = /^(zoo:[\w-]+\/)?\w[\w.-]{0,99}$/;
/** Names of licenses. */
export const LICENSE = /^[A-Za-z][\w.+-]{0,49}$/;

/** Schema of a card's claims, all of which are checked. */
const CLAIMS = exactly({
  name: { type: "string", pattern: NAME.source },
  license: {
    anyOf: [{ type: "null" }, { type: "string", pattern: LICENSE.source }],
  },
  version: TEXT,
  commit: TEXT,
  notShared: TEXTS,
  evaluation: exactly({
    seed: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER - 1 },
    episodes: { ...COUNT, minimum: FEWEST },
    mean: NUMBER,
    deviation: { ...NUMBER, minimum: 0 },
    low: NUMBER,
    high: NUMBER,
    least: NUMBER,
    length: NUMBER,
    cut: COUNT,
    success: { type: ["number", "null"], minimum: 0, maximum: 1 },
    engine: TEXT,
  }),
  seeds: {
    anyOf: [
      { type: "null" },
      exactly({
        count: COUNT,
        isBest: { type: "boolean" },
        episodes: { type: "integer" },
        iqm: NUMBER,
        low: NUMBER,
        high: NUMBER,
        commits: TEXTS,
      }),
    ],
  },
});

/** Escapes an untrusted text for a line of Markdown. */
function inline(text: unknown): string {
  return asLine(String(text)).replaceAll(/[`|<>[\]]/g, "?");
}

/** Lists claims of a card that the check of a shared folder cannot verify. */
export function uncheckedOf({ seeds }: CardClaims): string[] {
  return [
    "how it was trained (command, seed, steps)",
    "evaluations.csv",
    "play.gif",
    ...["commit", "version", "license"],
    ...seeds === null ? [] : [`the ${seeds.count} seeds and their IQM`],
  ];
}

function seedsText(seeds: CardSeeds): string {
  const { count, isBest, iqm, low, high, episodes, commits } = seeds;
  const at = commits.map((it) => `\`${inline(it)}\``).join(" and ");
  return `${isBest ? "best" : "one"} of ${count} seeds; their IQM is ${
    round(iqm)
  } [${round(low)}, ${round(high)}] over ${episodes} other episodes each${
    at === "" ? "" : `, at commit ${at}`
  }`;
}

/** Makes the rows of the table of results. */
function rowsOf(
  { commit, evaluation: it, seeds }: CardClaims,
  config: Record<string, unknown>,
  step: number,
): [string, string][] {
  const opponent = evaluationOpponentOf(config as ResolvedConfig);
  const mode = config.evaluationDeterministic ? "deterministic" : "sampled";
  const [at, total] = [step, Number(config.totalTimesteps)]
    .map((steps) => steps.toLocaleString("en-US"));
  return [
    ["mean return ± deviation", `${round(it.mean)} ± ${round(it.deviation)}`],
    ["95 % interval of the mean", `[${round(it.low)}, ${round(it.high)}]`],
    ["lowest return", round(it.least)],
    ...opponent === undefined
      ? []
      : [["opponent", inline(opponent)] as [string, string]],
    ["episodes", `${it.episodes} from seed ${it.seed}, ${mode} actions`],
    ["mean length", `${round(it.length)} steps, ${it.cut} episodes cut`],
    ...it.success === null
      ? []
      : [["success rate", round(it.success)] as [string, string]],
    ["agent", `after ${at} of ${total} steps`],
    ["training seed", String(config.seed)],
    ["seeds", seeds === null ? "this one alone" : seedsText(seeds)],
    [
      "evaluated at",
      `commit \`${inline(commit || "unknown")}\`, ${inline(it.engine)}`,
    ],
  ];
}

/** Describes the limitations of the agent. */
function limitsOf(
  { notShared }: CardClaims,
  { env, network }: Record<string, unknown>,
  spaces: EnvironmentSpaces,
): string[] {
  return [
    `It acts in ${inline(env)} alone: observations are ${
      describeSpace(spaces.observationSpace)
    }, actions ${describeSpace(spaces.actionSpace)}.`,
    "It cannot be resumed: optimizer, replay and random streams are left out. A new run may start from its weights; what the policy does not hold, such as separate critics, is new then.",
    .../lstm/.test(String(network))
      ? ["It remembers: whoever runs `policy.onnx` passes its state on."]
      : [],
    ...PACKAGES.filter(([prefix]) => String(env).startsWith(prefix))
      .map(([, name]) => `The environment needs Python with ${name}.`),
    ...notShared.map((it) =>
      `Not shared: \`${inline(it)}\`, which the run needs.`
    ),
  ];
}

/** Packages of Python by the prefix of their ids. */
const PACKAGES = [["gym:", "Gymnasium"], ["pz:", "PettingZoo"]];

/** Writes the front matter; values are JSON, a subset of YAML. */
function headOf(
  claims: CardClaims,
  { algorithm, env }: Record<string, unknown>,
): string[] {
  const { mean, deviation } = claims.evaluation;
  const json = JSON.stringify;
  const learning = "reinforcement-learning";
  const results = [{
    task: { type: learning, name: learning },
    dataset: { name: env, type: env },
    metrics: [{
      type: "mean_reward",
      name: "mean_reward",
      value: `${mean.toFixed(2)} +/- ${deviation.toFixed(2)}`,
      verified: false,
    }],
  }];
  return [
    "---",
    "library_name: bellman",
    ...claims.license === null ? [] : [`license: ${json(claims.license)}`],
    `tags: ${json([learning, `deep-${learning}`, "bellman", algorithm, env])}`,
    `model-index: ${json([{ name: claims.name, results }])}`,
    "bellman:",
    ...Object.entries(claims).map(([key, it]) => `  ${key}: ${json(it)}`),
    "---",
  ];
}

/** Settings that determine the network. */
const OF_NETWORK = [
  ...["network", "partNetworks", "hiddenSizes", "lstmSize", "valueNetwork"],
  ...["qNetwork", "dueling", "values", "atoms", "exploration", "actions"],
];

/** Describes a network other than the default of `train`. */
function networkWords(config: Record<string, unknown>): string[] {
  const algorithm = String(config.algorithm);
  if (findAlgorithm(algorithm) === undefined) return [];
  const usual = resolveConfig(algorithm, { entries: [["env", config.env]] });
  return OF_NETWORK.filter((key) => {
    const [actual, preset] = [config[key], usual[key]].map((it) =>
      JSON.stringify(it)
    );
    return key in config && actual !== preset;
  }).map((key) =>
    `--set ${shellWord(`${key}=${JSON.stringify(config[key])}`)}`
  );
}

/** Writes the card of an agent. */
export function cardText(
  claims: CardClaims,
  { step, notes, spaces, hasPicture }: CardSource,
): string {
  const config = parseYaml(String(notes.config)) as Record<string, unknown>;
  const env = String(config.env), folder = shellWord(claims.name);
  const algorithm = inline(config.algorithm);
  const from = [
    `--env ${shellWord(env)}`,
    ...networkWords(config),
    ...findAlgorithm(String(config.algorithm))?.meta.learnsFromData
      ? ["--data DATA"]
      : [],
    `--init-from ${folder}`,
  ].join(" ");
  const unchecked = new Intl.ListFormat("en").format(uncheckedOf(claims));
  return [
    ...headOf(claims, config),
    `\n# ${inline(claims.name)}\n`,
    `${algorithm} on ${inline(env)}, trained with Bellman.\n`,
    ...hasPicture ? [`![An episode in ${inline(env)}](./play.gif)\n`] : [],
    "| what | value |",
    "| --- | --- |",
    ...rowsOf(claims, config, step).map((it) => `| ${it.join(" | ")} |`),
    `\nTrained by\n\n\`\`\`sh\n${
      commandOf(String(notes.command ?? ""))
    }\n\`\`\``,
    "\n## What it cannot do\n",
    ...limitsOf(claims, config, spaces).map((it) => `- ${it}`),
    "\n## Use it\n\n```sh",
    `deno task eval ${folder} --episodes ${claims.evaluation.episodes}`,
    `deno task play ${folder} --gif agent.gif`,
    `deno task train ${algorithm} ${from}`,
    `\`\`\`\n\n\`deno task share --check ${folder}\` plays the numbers again. It cannot check ${unchecked}.\n`,
  ].join("\n");
}

/**
 * Parses the claims of an untrusted card, in the order in which they were written.
 *
 * @throws {SyntaxError} If it is not the card of a shared agent.
 */
export function readClaims(card: string): CardClaims {
  const [, head] = /^---\n([\s\S]*?)\n---\n/.exec(card) ?? [];
  const front = parseYaml(head ?? "", { mostValues: 10_000, schema: "core" });
  const { bellman } = (front ?? {}) as { bellman?: CardClaims };
  // Without values that JSON lacks, such as infinity.
  const claims = JSON.parse(JSON.stringify(bellman ?? null));
  const { valid, errors } = validate(claims, CLAIMS, "7");
  if (valid) return bellman!;
  const { instanceLocation } = errors.at(-1)!;
  const where = instanceLocation.replace("#", "bellman");
  throw new SyntaxError(
    `README.md is no card of a shared agent: ${
      asLine(where)
    } is not as it is written`,
  );
}

/**
 * Reads the claims of a shared agent's card. Only their form is checked;
 * {@linkcode checkShared} checks the content.
 *
 * @param dir Folder of the agent.
 * @throws {UsageError | SyntaxError} If it has no card of a shared agent.
 *
 * @example
 * ```ts
 * import { runDirOf } from "@bellman/runs/settings";
 * import { readCard } from "@bellman/share";
 * import { assertEquals } from "@std/assert";
 *
 * const { evaluation } = readCard(runDirOf("zoo:a2c/CartPole-v1"));
 * assertEquals(evaluation.mean, 500);
 * ```
 */
export function readCard(dir: string): CardClaims {
  return readClaims(readText(join(dir, CARD_FILE), "the card"));
}
