import { blockSize } from "@bellman/compute";
import { SeededRandom } from "@bellman/envs";
import { writeState } from "@bellman/files";
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
  writeYaml,
} from "@bellman/runs/settings";
import { commitOf, hasEnded, recordOf } from "@bellman/runs/tasks";
import packageConfig from "./deno.json" with { type: "json" };
import {
  evaluateSetup,
  evaluationEnvsFor,
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
  readText,
  UsageError,
  writeWhole,
} from "@bellman/runs/program";
import {
  type CardClaims,
  type CardEvaluation,
  type CardSeeds,
  cardText,
  readClaims,
} from "./card.ts";
import { sharedPicture } from "./picture.ts";
import {
  CARD_FILE,
  PICTURE_FILE,
  SUMS_FILE,
  sumsText,
} from "./shared_files.ts";
import { withoutPlaces } from "./without_places.ts";

/** Episodes that a card's numbers are of. */
export const EPISODES = 100;

/** What `share` is told. */
export interface ShareOptions {
  out: string;
  name?: string;
  license?: string;
  withModules: boolean;
  isTrusted: boolean;
  /** Takes lines that the user should see. */
  onNotice: (line: string) => void;
}

/** Episodes that were played, and what a card says of them. */
export interface PlayedCard extends EvaluationResult {
  evaluation: CardEvaluation;
}

/**
 * Plays the episodes of a card.
 *
 * @param setup The agent.
 * @param options Seed of the episodes, and how actions are chosen.
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

/** Describes what the last bits of actions depend on: the engine, and kinds of processors. */
function engineOf({ engine, config }: RunSetup): string {
  const width = config.engine === "onnx" ? ` in blocks of ${blockSize()}` : "";
  return `${engine}, on ${Deno.build.arch}${width}`;
}

/** Sums up the runs beside one of an experiment, of which it is a seed. */
function seedsBeside(dir: string): CardSeeds | null {
  const own = recordOf(dir), parent = dirname(resolve(dir));
  if (!hasEnded(own) || !/^seed-\d+$/.test(basename(resolve(dir)))) {
    return null;
  }
  const { best: { episodes, meanReturn } } = own.evaluations;
  const all = readdirSync(parent).filter((it) => /^seed-\d+$/.test(it))
    .map((it) => recordOf(join(parent, it))).filter(hasEnded)
    .filter(({ evaluations: { best } }) => best.episodes === episodes);
  if (all.length < 2) return null;
  const means = all.map(({ evaluations: { best } }) => best.meanReturn);
  const { value, interval } = stratifiedBootstrap(
    means.map((it) => [it]),
    interquartileMean,
    { random: new SeededRandom(0) },
  );
  const [low, high] = interval ?? [value, value];
  return {
    count: all.length,
    isBest: meanReturn >= Math.max(...means),
    episodes,
    iqm: value,
    low,
    high,
    commits: [...new Set(all.map((it) => it.commit ?? ""))].filter(Boolean)
      .sort(),
  };
}

/** Writes the evaluations of a run's log, without its times. */
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

/** Returns the card of an agent that was shared before, whose evidence is gone. */
function formerClaims(dir: string): CardClaims | undefined {
  if (!isShared(dir)) return undefined;
  return readClaims(readText(join(dir, CARD_FILE), "the card"));
}

/** Makes all files of a shared folder but the checksums. */
async function filesOf(
  setup: RunSetup,
  agent: SavedAgent,
  { name, license, withModules, onNotice }: ShareOptions,
): Promise<Map<string, Uint8Array>> {
  const { dir, config, deterministic, seed, checkpoint } = agent;
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
    onNotice(`Not shared: ${it}; --with-modules copies modules`);
  }
  const former = formerClaims(dir);
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
 * Makes the folder of a shared agent out of a run's.
 *
 * @param dir The run.
 * @param options What is shared, and where.
 * @returns Its files by name.
 */
export async function shareRun(
  dir: string,
  options: ShareOptions,
): Promise<Map<string, Uint8Array>> {
  const { isTrusted, onNotice } = options, out = resolve(options.out);
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new UsageError(
      `Cannot share into ${options.out}: it is not empty, expected a new folder`,
    );
  }
  const agent = findAgent(dir, { command: "share", isTrusted });
  let files = new Map<string, Uint8Array>();
  await withAgent(agent, onNotice, async (setup) => {
    files = await filesOf(setup, agent, options);
  }, evaluationEnvsFor(EPISODES));
  writeFolder(out, files);
  return files;
}

/** Writes a new folder as a whole or not at all. */
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
    // What a process that was killed has left.
    removeUnfinished();
    // Nobody can have put a link there.
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

/** A name that nobody can guess. */
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
