import { blockSize } from "@bellman/compute";
import { SeededRandom } from "@bellman/envs";
import { isPlayerName } from "@bellman/envs/games";
import { platform, writeState } from "@bellman/files";
import {
  interquartileMean,
  stratifiedBootstrap,
  studentInterval,
} from "@bellman/statistics";
import { type EvaluationResult, readProgress } from "@bellman/training";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import {
  AGENT_FILE,
  agentName,
  EVALUATIONS_CSV,
  isShared,
  logOf,
  parseYaml,
  writeYaml,
} from "@bellman/runs/settings";
import { commitOf, hasEnded, recordOf } from "@bellman/runs/tasks";
import packageConfig from "./deno.json" with { type: "json" };
import {
  evaluateSetup,
  findAgent,
  policyFile,
  type RunSetup,
  type SavedAgent,
  sharedState,
  withAgent,
} from "@bellman/runs/training";
import { lockFile } from "@bellman/runs";
import {
  csvText,
  messageOf,
  UsageError,
  writeWhole,
} from "@bellman/runs/program";
import {
  type CardClaims,
  type CardEvaluation,
  type CardSeeds,
  cardText,
  LICENSE,
  NAME,
  readCard,
} from "./card.ts";
import { sharedPicture } from "./picture.ts";
import {
  CARD_FILE,
  PICTURE_FILE,
  SUMS_FILE,
  sumsText,
} from "./shared_files.ts";
import { withoutPlaces } from "./without_places.ts";

/** Number of episodes of a card's evaluation. */
export const EPISODES = 100;

/** Options of {@linkcode shareRun}. */
export interface ShareOptions {
  /** New folder of the agent. */
  out: string;
  /**
   * Name of the agent.
   *
   * @default from algorithm and environment
   */
  name?: string;
  /**
   * License for the card, such as `MIT`.
   *
   * @default none
   */
  license?: string;
  /**
   * Copy the modules that the run names.
   *
   * @default false
   */
  withModules?: boolean;
  /**
   * Accept code, files and links from outside of the project that the run names.
   *
   * @default false
   */
  isTrusted?: boolean;
  /**
   * Receives lines for the user.
   *
   * @default they are dropped
   */
  onNotice?: (line: string) => void;
}

/** Played episodes, and their entry in a card. */
export interface PlayedCard extends EvaluationResult {
  evaluation: CardEvaluation;
}

/**
 * Plays the episodes of a card.
 *
 * @param setup Agent with its environment.
 * @param options Seed of the episodes, and choice of actions.
 */
export async function playCard(
  setup: RunSetup,
  { seed, deterministic, episodes = EPISODES }: {
    seed: number;
    deterministic: boolean;
    episodes?: number;
  },
): Promise<PlayedCard> {
  const result = await evaluateSetup(setup, { episodes, deterministic, seed });
  const { interval } = studentInterval(result.returns);
  const [low, high] = interval ?? [result.meanReturn, result.meanReturn];
  const evaluation = {
    seed,
    episodes,
    mean: result.meanReturn,
    deviation: result.stdReturn,
    low,
    high,
    least: result.minReturn,
    length: result.meanLength,
    cut: result.cut,
    success: result.successRate ?? null,
    engine: engineOf(setup),
  };
  return { ...result, evaluation };
}

/** Describes the engine and processor, which determine the last bits of actions. */
function engineOf({ engine, config }: RunSetup): string {
  const width = config.engine === "onnx" ? ` in blocks of ${blockSize()}` : "";
  return `${engine}, on ${platform().arch}${width}`;
}

/** Aggregates the other seeds of a run in an experiment. */
function seedsBeside(dir: string): CardSeeds | null {
  const record = recordOf(dir), parent = dirname(resolve(dir));
  if (!hasEnded(record) || !/^seed-\d+$/.test(basename(resolve(dir)))) {
    return null;
  }
  const { best: { episodes, meanReturn } } = record.evaluations;
  const siblings = readdirSync(parent).filter((it) => /^seed-\d+$/.test(it))
    .map((it) => recordOf(join(parent, it))).filter(hasEnded)
    .filter(({ evaluations: { best } }) => best.episodes === episodes);
  if (siblings.length < 2) return null;
  const means = siblings.map(({ evaluations: { best } }) => best.meanReturn);
  const { value, interval } = stratifiedBootstrap(
    means.map((it) => [it]),
    interquartileMean,
    { random: new SeededRandom(0) },
  );
  const [low, high] = interval ?? [value, value];
  return {
    count: siblings.length,
    isBest: meanReturn >= Math.max(...means),
    episodes,
    iqm: value,
    low,
    high,
    commits: [...new Set(siblings.map((it) => it.commit ?? ""))].filter(Boolean)
      .sort(),
  };
}

/** Writes the evaluations of a run's log, without times. */
function evaluationsOf({ folder }: SavedAgent): string {
  const path = logOf(folder);
  const rows = (existsSync(path) ? readProgress(path) : [])
    .filter(({ statistics }) => "eval/return_mean" in statistics);
  const names = [
    ...new Set(rows.flatMap((it) => Object.keys(it.statistics))),
  ].filter((it) => it.startsWith("eval/"));
  const columns = ["time/steps", ...names];
  const cells = rows.map(({ statistics }) =>
    columns.map((it) => statistics[it])
  );
  return csvText([columns, ...cells]);
}

/** Makes all files of a shared folder but the checksums. */
async function filesOf(
  setup: RunSetup,
  agent: SavedAgent,
  { name, license, withModules = false, onNotice = () => {} }: ShareOptions,
): Promise<Map<string, Uint8Array>> {
  const { dir, config, deterministic, seed, checkpoint } = agent;
  if (setup.environments.roles !== undefined) {
    throw new UsageError(
      `Cannot share ${dir}: ${config.env} has a policy of each role, expected one policy`,
    );
  }
  const policy = policyFile(setup, { deterministic });
  if (policy === undefined) {
    throw new UsageError(
      `Cannot share ${dir}: an agent of ${config.algorithm} has no policy to export`,
    );
  }
  const kept = withoutPlaces(checkpoint.notes, { dir, withModules });
  const { modules, command, notShared } = kept;
  const { spaces } = setup.environments;
  const notes = { config: kept.config, spaces: writeYaml(spaces), command };
  const { step } = checkpoint;
  const state = writeState(sharedState(setup), {
    notes: { step, best: true, notes },
  });
  const bytes = (text: string) => new TextEncoder().encode(text);
  const files = new Map([
    ...modules,
    [AGENT_FILE, await new Response(state).bytes()],
    ["policy.onnx", policy],
    ["config.yaml", bytes(kept.config)],
    [EVALUATIONS_CSV, bytes(evaluationsOf(agent))],
  ]);
  try {
    files.set(
      PICTURE_FILE,
      await sharedPicture(setup, { seed, deterministic }),
    );
  } catch (error) {
    onNotice(`No ${PICTURE_FILE}: ${messageOf(error)}`);
  }
  for (const it of notShared) {
    const remedy = withModules ? "" : "; --with-modules copies modules";
    onNotice(`Not shared: ${it}${remedy}`);
  }
  // An agent that was shared before has no checkpoints as evidence.
  const former = isShared(dir) ? readCard(dir) : undefined;
  const claims: CardClaims = {
    name: name ?? former?.name ?? agentName(config),
    license: license?.toLowerCase() ?? former?.license ?? null,
    version: packageConfig.version,
    commit: import.meta.dirname ? await commitOf(import.meta.dirname) : "",
    notShared: [...former?.notShared ?? [], ...notShared],
    evaluation: (await playCard(setup, { seed, deterministic })).evaluation,
    seeds: former?.seeds ?? seedsBeside(dir),
  };
  const hasPicture = files.has(PICTURE_FILE);
  files.set(
    CARD_FILE,
    bytes(cardText(claims, { step, notes, spaces, hasPicture })),
  );
  return files.set(SUMS_FILE, bytes(sumsText(files)));
}

/**
 * Makes the folder of a shared agent from a run.
 *
 * @param dir Run folder.
 * @param options Output folder and its contents.
 * @returns Files by name.
 * @throws {UsageError} If there is no such run, its code is not trusted, or the folder
 * is in use.
 *
 * @example
 * ```ts
 * import { trainRun } from "@bellman/runs";
 * import { shareRun } from "@bellman/share";
 * import { assert } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/run`;
 * await trainRun({ algorithm: "a2c", totalTimesteps: 100 }, { dir });
 * const files = await shareRun(dir, { out: `${dir}-shared`, name: "first" });
 * assert(files.has("policy.onnx") && files.has("README.md"));
 * ```
 */
export async function shareRun(
  dir: string,
  options: ShareOptions,
): Promise<Map<string, Uint8Array>> {
  const { isTrusted, onNotice, name, license } = options;
  const out = resolve(options.out);
  if (name !== undefined && !NAME.test(name)) {
    throw new UsageError(
      `Cannot share under the name ${name}: expected up to 100 letters, digits, '-', '_' and '.'`,
    );
  }
  if (license !== undefined && !LICENSE.test(license)) {
    throw new UsageError(
      `Cannot share with the license ${license}: expected its name, such as MIT`,
    );
  }
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new UsageError(
      `Cannot share into ${options.out}: it is not empty, expected a new folder`,
    );
  }
  const agent = withoutRuns(
    findAgent(dir, { command: "share", isTrusted }),
    onNotice,
  );
  const files = await withAgent(
    agent,
    (setup) => filesOf(setup, agent, options),
    { episodes: EPISODES, onNotice },
  );
  writeFolder(out, files);
  return files;
}

/** Returns an agent whose evaluations need no other run, which is not shared. */
function withoutRuns(
  agent: SavedAgent,
  onNotice: ShareOptions["onNotice"] = () => {},
): SavedAgent {
  const { config, checkpoint } = agent, { notes } = checkpoint;
  const judge = config.evaluationOpponent ?? config.opponent;
  if (judge === null || isPlayerName(judge)) return agent;
  onNotice(
    `Evaluated against random: ${judge}, the opponent of the run's evaluations, is not shared`,
  );
  const own = { evaluationOpponent: "random" };
  const text = writeYaml({
    ...parseYaml(String(notes.config)) as object,
    ...own,
  });
  return {
    ...agent,
    config: { ...config, ...own },
    checkpoint: { ...checkpoint, notes: { ...notes, config: text } },
  };
}

/** Writes a new folder atomically. */
function writeFolder(
  out: string,
  files: ReadonlyMap<string, Uint8Array>,
): void {
  const parent = dirname(out), prefix = `${basename(out)}.unfinished-`;
  mkdirSync(parent, { recursive: true });
  const lock = lockFile(
    `${out}.lock`,
    (holder) => `Cannot share into ${out}: ${holder} does so at present`,
  );
  const removeUnfinished = () => {
    for (const name of readdirSync(parent)) {
      const isOurs = name.startsWith(prefix) &&
        ID.test(name.slice(prefix.length));
      if (isOurs) rmSync(join(parent, name), { recursive: true });
    }
  };
  try {
    // Left by a process that was killed.
    removeUnfinished();
    // Nobody can have created a link there.
    const unfinished = join(parent, prefix + crypto.randomUUID());
    mkdirSync(unfinished);
    for (const [name, bytes] of files) {
      mkdirSync(dirname(join(unfinished, name)), { recursive: true });
      writeWhole(join(unfinished, name), bytes);
    }
    // It may have been filled meanwhile.
    if (existsSync(out)) rmdirSync(out);
    renameSync(unfinished, out);
  } finally {
    removeUnfinished();
    lock.release();
  }
}

/** Unguessable name. */
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
