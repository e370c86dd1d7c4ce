/** The card of a shared agent: a model card as Hugging Face's Hub reads them. */
import { describeSpace } from "@bellman/envs";
import type { CheckpointNotes } from "@bellman/training";
import type { Space } from "@bellman/types";
import { parseYaml } from "../config/yaml.ts";
import { round } from "../run/evaluation.ts";
import { shellWord } from "../terminal/command.ts";

/** Evaluation that a card reports, to be played again. */
export interface CardEvaluation {
  /** Seed of the first episodes, and their number. */
  seed: number;
  episodes: number;
  mean: number;
  /** Standard deviation of the returns, as `eval` prints it. */
  deviation: number;
  /** Student's 95 % interval of the mean. */
  low: number;
  high: number;
  least: number;
  /** Mean length, and number of episodes that were cut. */
  length: number;
  cut: number;
  /** Share of the episodes that reached their goal; null where nothing tells. */
  success: number | null;
  /** What computed the actions: its last bits may be others elsewhere. */
  engine: string;
}

/** Runs of other seeds that the agent's run was chosen from. */
export interface CardSeeds {
  count: number;
  /** True where none of the others is better. */
  isBest: boolean;
  episodes: number;
  /** Interquartile mean of the seeds' best agents with its 95 % interval. */
  iqm: number;
  low: number;
  high: number;
  /** Commits that they were evaluated at. */
  commits: string[];
}

/** What a card says that the other files of its folder do not. */
export interface CardClaims {
  name: string;
  license: string | null;
  version: string;
  commit: string;
  /** Own files that the run names and that were not copied. */
  notShared: string[];
  evaluation: CardEvaluation;
  seeds: CardSeeds | null;
}

/** What the other files say. */
export interface CardSource {
  /** Environment steps and notes of `agent.safetensors`. */
  step: number;
  notes: CheckpointNotes;
  hasPicture: boolean;
}

function seedsText(seeds: CardSeeds): string {
  const { count, isBest, iqm, low, high, episodes, commits } = seeds;
  const at = commits.map((it) => `\`${it}\``).join(" and ");
  return `${isBest ? "best" : "one"} of ${count} seeds; their IQM is ${
    round(iqm)
  } [${round(low)}, ${round(high)}] over ${episodes} other episodes each${
    at === "" ? "" : `, at commit ${at}`
  }`;
}

/** Rows of the table: what was measured, and how. */
function rowsOf(
  { commit, evaluation: it, seeds }: CardClaims,
  config: Record<string, unknown>,
  step: number,
): [string, string][] {
  const mode = config.evaluationDeterministic ? "deterministic" : "sampled";
  const [at, total] = [step, Number(config.totalTimesteps)]
    .map((steps) => steps.toLocaleString("en-US"));
  return [
    ["mean return ± deviation", `${round(it.mean)} ± ${round(it.deviation)}`],
    ["95 % interval of the mean", `[${round(it.low)}, ${round(it.high)}]`],
    ["lowest return", round(it.least)],
    ["episodes", `${it.episodes} from seed ${it.seed}, ${mode} actions`],
    ["mean length", `${round(it.length)} steps, ${it.cut} episodes cut`],
    ...it.success === null
      ? []
      : [["success rate", round(it.success)] as [string, string]],
    ["agent", `after ${at} of ${total} steps`],
    ["training seed", String(config.seed)],
    ["seeds", seeds === null ? "this one alone" : seedsText(seeds)],
    ["evaluated at", `commit \`${commit || "unknown"}\`, ${it.engine}`],
  ];
}

/** Sentences about what must not be expected of the agent. */
function limitsOf(
  { notShared }: CardClaims,
  { env, network }: Record<string, unknown>,
  spaces: Record<"observationSpace" | "actionSpace", Space>,
): string[] {
  return [
    `It acts in ${env} alone: observations are ${
      describeSpace(spaces.observationSpace)
    }, actions ${describeSpace(spaces.actionSpace)}.`,
    "It cannot be resumed: optimizer, replay and random streams are left out. A new run may start from its weights; what the policy does not hold, such as separate critics, is new then.",
    .../lstm/.test(String(network))
      ? ["It remembers: whoever runs `policy.onnx` passes its state on."]
      : [],
    ...String(env).startsWith("gym:")
      ? ["The environment needs Python with Gymnasium."]
      : [],
    ...notShared.map((it) => `Not shared: \`${it}\`, which the run needs.`),
  ];
}

/** Writes the head; values are JSON, which readers of YAML read alike. */
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

/** Writes the card of an agent. */
export function cardText(
  claims: CardClaims,
  { step, notes, hasPicture }: CardSource,
): string {
  const config = parseYaml(String(notes.config)) as Record<string, unknown>;
  const spaces = parseYaml(String(notes.spaces)) as Parameters<
    typeof limitsOf
  >[2];
  const env = String(config.env), folder = shellWord(claims.name);
  const from = `--env ${shellWord(env)} --init-from ${folder}`;
  return [
    ...headOf(claims, config),
    `\n# ${claims.name}\n`,
    `${config.algorithm} on ${env}, trained with Bellman.\n`,
    ...hasPicture ? [`![An episode in ${env}](./play.gif)\n`] : [],
    "| what | value |",
    "| --- | --- |",
    ...rowsOf(claims, config, step).map((it) => `| ${it.join(" | ")} |`),
    `\nTrained by\n\n\`\`\`sh\n${notes.command}\n\`\`\``,
    "\n## What it cannot do\n",
    ...limitsOf(claims, config, spaces).map((it) => `- ${it}`),
    "\n## Use it\n\n```sh",
    `deno task eval ${folder} --episodes ${claims.evaluation.episodes}`,
    `deno task play ${folder} --gif agent.gif`,
    `deno task train ${config.algorithm} ${from}`,
    `\`\`\`\n\n\`deno task share --check ${folder}\` plays the numbers again.\n`,
  ].join("\n");
}

/**
 * Reads what a card claims, of which nothing is trusted: its values may be of any
 * kind, in the order in which they were written.
 *
 * @throws {SyntaxError} If it is no card of a shared agent.
 */
export function readClaims(card: string): CardClaims {
  const [, head] = /^---\n([\s\S]*?)\n---\n/.exec(card) ?? [];
  const found = parseYaml(head ?? "", { mostValues: 10_000, schema: "core" });
  const claims = (found as { bellman?: CardClaims } | null)?.bellman;
  const { seed, episodes, mean, deviation } = claims?.evaluation ?? {};
  if ([seed, episodes, mean, deviation].every(Number.isFinite)) return claims!;
  throw new SyntaxError("README.md is no card of a shared agent");
}
