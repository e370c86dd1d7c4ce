/** The card of a shared agent: a model card as Hugging Face's Hub reads them. */
import type { Space } from "@bellman/types";
import { describeSpace } from "@bellman/envs";
import { isStateRecord } from "@bellman/files";
import { parseYaml } from "../config/yaml.ts";
import { round } from "../run/evaluation.ts";
import { shellWord } from "../terminal/command.ts";
import { CARD_FILE } from "./shared_files.ts";

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
  config: Readonly<Record<string, unknown>>;
  /** Environment steps that the agent had learned from. */
  step: number;
  /** Command that trained it. */
  command: string;
  spaces: { observationSpace: Space; actionSpace: Space };
  hasPicture: boolean;
}

const number = (value: number): string => value.toLocaleString("en-US");
const words = (value: unknown): string => JSON.stringify(value);

/** Rows of the table: what was measured, and how. */
function rowsOf(
  { commit, evaluation: it, seeds }: CardClaims,
  { config, step }: CardSource,
): string[][] {
  const mode = config.evaluationDeterministic
    ? "deterministic actions"
    : "sampled actions";
  return [
    ["mean return ± deviation", `${round(it.mean)} ± ${round(it.deviation)}`],
    ["95 % interval of the mean", `[${round(it.low)}, ${round(it.high)}]`],
    ["lowest return", round(it.least)],
    ["episodes", `${it.episodes} from seed ${it.seed}, ${mode}`],
    ["mean length", `${round(it.length)} steps`],
    ...it.cut > 0 ? [["cut before their end", `${it.cut} episodes`]] : [],
    ...it.success === null ? [] : [["success rate", round(it.success)]],
    [
      "agent",
      `after ${number(step)} of ${number(Number(config.totalTimesteps))} steps`,
    ],
    ["training seed", String(config.seed)],
    ...seeds === null ? [] : [["seeds", seedsText(seeds)]],
    ["evaluated at", `${commit ? `commit \`${commit}\`, ` : ""}${it.engine}`],
  ];
}

function seedsText(seeds: CardSeeds): string {
  const { count, isBest, iqm, low, high, episodes, commits } = seeds;
  const at = commits.length === 0
    ? ""
    : `, at commit ${commits.map((it) => `\`${it}\``).join(", ")}`;
  return `${isBest ? "best" : "one"} of ${count} seeds; their IQM is ${
    round(iqm)
  } [${round(low)}, ${round(high)}] over ${episodes} episodes each${at}`;
}

/** Sentences about what must not be expected of the agent. */
function limitsOf(
  { notShared }: CardClaims,
  { config, spaces }: CardSource,
): string[] {
  const env = String(config.env);
  const isRecurrent = /lstm/.test(String(config.network));
  return [
    `It acts in ${env} alone: observations are ${
      describeSpace(spaces.observationSpace)
    }, actions ${describeSpace(spaces.actionSpace)}.`,
    "It cannot be resumed: optimizer, replay and random streams are left out. A new run may start from its weights; what the policy does not hold, such as separate critics, is new then.",
    ...isRecurrent
      ? [
        "It remembers: whoever runs `policy.onnx` passes its state on from step to step.",
      ]
      : [],
    ...env.startsWith("gym:")
      ? ["The environment needs Python with Gymnasium."]
      : [],
    ...notShared.map((it) => `Not shared: \`${it}\`, which the run needs.`),
  ];
}

/** Writes the head, whose values are JSON: any YAML reader reads them alike. */
function headOf(claims: CardClaims, { config }: CardSource): string {
  const { name, license, version, commit, notShared, evaluation } = claims;
  const { mean, deviation } = evaluation;
  const task = {
    type: "reinforcement-learning",
    name: "reinforcement-learning",
  };
  const tags = [
    ...["reinforcement-learning", "deep-reinforcement-learning", "bellman"],
    ...[config.algorithm, config.env],
  ];
  const bellman = {
    version,
    commit,
    notShared,
    evaluation,
    seeds: claims.seeds,
  };
  return [
    "---",
    "library_name: bellman",
    ...license === null ? [] : [`license: ${words(license.toLowerCase())}`],
    "tags:",
    ...tags.map((it) => `  - ${words(it)}`),
    "model-index:",
    `  - name: ${words(name)}`,
    "    results:",
    `      - task: ${words(task)}`,
    `        dataset: ${words({ name: config.env, type: config.env })}`,
    "        metrics:",
    "          - type: mean_reward",
    "            name: mean_reward",
    `            value: ${mean.toFixed(2)} +/- ${deviation.toFixed(2)}`,
    "            verified: false",
    "bellman:",
    ...Object.entries(bellman).map(([key, it]) => `  ${key}: ${words(it)}`),
    "---",
  ].join("\n");
}

/** Writes the card of an agent. */
export function cardText(claims: CardClaims, source: CardSource): string {
  const { name } = claims;
  const { config: { algorithm, env }, command, hasPicture } = source;
  const folder = shellWord(name);
  const rows = rowsOf(claims, source).map((it) => `| ${it.join(" | ")} |`);
  return [
    headOf(claims, source),
    "",
    `# ${name}`,
    "",
    `${algorithm} on ${env}, trained with Bellman.`,
    ...hasPicture ? ["", `![An episode in ${env}](./play.gif)`] : [],
    "",
    "| | |",
    "| --- | --- |",
    ...rows,
    "",
    "Trained by",
    "",
    "```sh",
    command,
    "```",
    "",
    "## What it cannot do",
    "",
    ...limitsOf(claims, source).map((it) => `- ${it}`),
    "",
    "## Use it",
    "",
    "```sh",
    `deno task eval ${folder} --episodes ${claims.evaluation.episodes}`,
    `deno task play ${folder} --gif agent.gif`,
    `deno task train ${algorithm} --env ${
      shellWord(String(env))
    } --init-from ${folder}`,
    "```",
    "",
    `\`deno task share --check ${folder}\` plays these numbers again.`,
    "",
  ].join("\n");
}

/** Numbers of an evaluation, and of seeds. */
const NUMBERS = {
  evaluation: "seed episodes mean deviation low high least length cut",
  seeds: "count episodes iqm low high",
} as const;

type Values = Record<string, unknown>;

/**
 * Reads what a card claims, of which nothing is trusted. Its values keep their order,
 * so that the same card is written of them.
 *
 * @throws {SyntaxError} If it lacks something.
 */
export function readClaims(card: string): CardClaims {
  const fail = (what: string): never => {
    throw new SyntaxError(`${CARD_FILE}: its head has no ${what}`);
  };
  const record = (value: unknown, what: string): Values =>
    isStateRecord(value) ? value as Values : fail(what);
  const textIn = (value: unknown, what: string): string =>
    typeof value === "string" ? value : fail(what);
  const textsIn = (value: unknown, what: string): string[] =>
    Array.isArray(value) ? value.map((it) => textIn(it, what)) : fail(what);
  const checked = (value: unknown, what: keyof typeof NUMBERS): Values => {
    const found = record(value, what);
    const wrong = NUMBERS[what].split(" ")
      .find((key) => !Number.isFinite(found[key]));
    return wrong === undefined ? found : fail(`number ${what}.${wrong}`);
  };
  const [, head] = /^---\n([\s\S]*?)\n---\n/.exec(card) ?? [];
  if (head === undefined) return fail("end");
  const whole = record(
    parseYaml(head, { mostValues: 10_000, schema: "core" }),
    "keys",
  );
  const index = whole["model-index"];
  const model = record(Array.isArray(index) ? index[0] : null, "model-index");
  const own = record(whole.bellman, "part 'bellman'");
  const evaluation = checked(own.evaluation, "evaluation");
  const seeds = own.seeds === null ? null : checked(own.seeds, "seeds");
  textIn(evaluation.engine, "evaluation.engine");
  if (evaluation.success !== null && !Number.isFinite(evaluation.success)) {
    fail("number evaluation.success");
  }
  if (seeds !== null) textsIn(seeds.commits, "seeds.commits");
  return {
    name: textIn(model.name, "name"),
    license: whole.license === undefined
      ? null
      : textIn(whole.license, "license"),
    version: textIn(own.version, "version"),
    commit: textIn(own.commit, "commit"),
    notShared: textsIn(own.notShared, "notShared"),
    evaluation: evaluation as unknown as CardEvaluation,
    seeds: seeds as CardSeeds | null,
  };
}
