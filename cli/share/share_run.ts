// @ts-types="@types/d3-dsv"
import { csvFormatRows } from "d3-dsv";
import { SeededRandom } from "@bellman/envs";
import { writeState } from "@bellman/files";
import {
  interquartileMean,
  stratifiedBootstrap,
  studentInterval,
} from "@bellman/statistics";
import { readProgress } from "@bellman/training";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { commitOf } from "../jobs/commit.ts";
import { readEvaluations } from "../jobs/run_task.ts";
import packageConfig from "../deno.json" with { type: "json" };
import { parseYaml } from "../config/yaml.ts";
import { evaluateSetup, policyFile } from "../run/evaluation.ts";
import { evaluationEnvsFor } from "../run/environments.ts";
import { findAgent, type SavedAgent, withAgent } from "../run/find_agent.ts";
import type { RunSetup } from "../run/run_setup.ts";
import {
  AGENT_FILE,
  EVALUATIONS_CSV,
  isShared,
  logOf,
  sharedState,
} from "../run/shared_agent.ts";
import { messageOf, UsageError, writeWhole } from "../terminal/errors.ts";
import { readText } from "../terminal/read_text.ts";
import type { CommandIo } from "../terminal/process.ts";
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
import { sourceOf } from "./source.ts";
import { withoutPlaces } from "./without_places.ts";

/** Episodes that a card's numbers are of. */
const EPISODES = 100;

/** What `share` is told. */
export interface ShareOptions {
  out: string;
  name?: string;
  license?: string;
  withModules: boolean;
  isTrusted: boolean;
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
): Promise<CardEvaluation> {
  const result = await evaluateSetup(setup, { episodes, deterministic, seed });
  const { interval } = studentInterval(result.returns);
  const [low, high] = interval ?? [result.meanReturn, result.meanReturn];
  return {
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
    engine: `${setup.engine}, ${Deno.build.arch}`,
  };
}

/** Sums up the runs beside one of an experiment, of which it is a seed. */
function seedsBeside(dir: string): CardSeeds | null {
  const own = readEvaluations(dir);
  const parent = dirname(resolve(dir));
  if (own === undefined || !/^seed-\d+$/.test(basename(resolve(dir)))) {
    return null;
  }
  const all = readdirSync(parent).filter((it) => /^seed-\d+$/.test(it))
    .map((it) => readEvaluations(join(parent, it)))
    .filter((it) => it !== undefined && it.episodes === own.episodes);
  if (all.length < 2) return null;
  const means = all.map((it) => it!.best.meanReturn);
  const { value, interval } = stratifiedBootstrap(
    means.map((it) => [it]),
    interquartileMean,
    { random: new SeededRandom(0) },
  );
  const [low, high] = interval ?? [value, value];
  return {
    count: all.length,
    isBest: own.best.meanReturn >= Math.max(...means),
    episodes: own.episodes,
    iqm: value,
    low,
    high,
    commits: [...new Set(all.map((it) => it!.commit))].filter(Boolean).sort(),
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
    columns.map((it) => String(statistics[it] ?? ""))
  );
  return `${csvFormatRows([columns, ...cells])}\n`;
}

/** Returns the card of an agent that was shared before, whose evidence is gone. */
function formerClaims(dir: string): CardClaims | undefined {
  if (!isShared(dir)) return undefined;
  return readClaims(readText(join(dir, CARD_FILE), "the card"));
}

/** Returns the commit of this program; empty where it is not in a clone. */
async function ownCommit(): Promise<string> {
  const { dirname } = import.meta;
  return dirname === undefined ? "" : await commitOf(dirname);
}

/** Makes all files of a shared folder but the checksums. */
async function filesOf(
  setup: RunSetup,
  agent: SavedAgent,
  { name: given, license, withModules }: ShareOptions,
  io: CommandIo,
): Promise<Map<string, Uint8Array>> {
  const { dir, deterministic, seed, checkpoint: { step, notes } } = agent;
  const policy = policyFile(setup, { deterministic });
  if (policy === undefined) {
    throw new UsageError(
      `Cannot share ${dir}: an agent of ${agent.config.algorithm} has no policy to export`,
    );
  }
  const kept = withoutPlaces(notes, { dir, withModules });
  const former = formerClaims(dir);
  const files = new Map<string, Uint8Array>(kept.modules);
  const text = (name: string, content: string) =>
    files.set(name, new TextEncoder().encode(content));
  const shared = {
    config: kept.configText,
    spaces: notes.spaces,
    command: kept.command,
  };
  const stream = writeState(sharedState(setup), {
    notes: { step, best: true, notes: shared },
  });
  files.set(AGENT_FILE, await new Response(stream).bytes());
  files.set("policy.onnx", policy);
  text("config.yaml", kept.configText);
  text(EVALUATIONS_CSV, evaluationsOf(agent));
  try {
    files.set(
      PICTURE_FILE,
      await sharedPicture(setup, { seed, deterministic }),
    );
  } catch (error) {
    io.err(`No ${PICTURE_FILE}: ${messageOf(error)}\n`);
  }
  const config = parseYaml(kept.configText) as Record<string, unknown>;
  const claims: CardClaims = {
    name: given ?? former?.name ??
      `${config.algorithm}-${String(config.env).replaceAll(/[^\w.-]+/g, "-")}`,
    license: license?.toLowerCase() ?? former?.license ?? null,
    version: packageConfig.version,
    commit: await ownCommit(),
    notShared: [...former?.notShared ?? [], ...kept.notShared],
    evaluation: await playCard(setup, { seed, deterministic }),
    seeds: former?.seeds ?? seedsBeside(dir),
  };
  kept.notShared.forEach((it) =>
    io.err(
      `Not shared: ${it}, which the run names; --with-modules copies modules\n`,
    )
  );
  const source = sourceOf(kept.configText, { step, notes: shared, files });
  text(CARD_FILE, cardText(claims, source));
  return files;
}

/**
 * Makes the folder of a shared agent out of a run's.
 *
 * @param dir The run.
 * @param options Folder, name, license, and what may be copied.
 * @param io Streams to print to.
 * @returns Bytes of the folder, by the files' names.
 */
export async function shareRun(
  dir: string,
  options: ShareOptions,
  io: CommandIo,
): Promise<Map<string, Uint8Array>> {
  const { out, isTrusted } = options;
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new UsageError(
      `Cannot share into ${out}: the folder is not empty, expected a new one`,
    );
  }
  const switches = new Set(isTrusted ? ["trust"] : []);
  const agent = findAgent(
    { positionals: [dir], switches, values: new Map() },
    "share",
  );
  let files = new Map<string, Uint8Array>();
  await withAgent(agent, io, async (setup) => {
    files = await filesOf(setup, agent, options, io);
  }, evaluationEnvsFor(EPISODES));
  files.set(SUMS_FILE, new TextEncoder().encode(sumsText(files)));
  writeFolder(out, files);
  return files;
}

/** Writes a folder whole, or not at all. */
function writeFolder(
  out: string,
  files: ReadonlyMap<string, Uint8Array>,
): void {
  const path = out.replace(/[/\\]+$/, "");
  const unfinished = `${path}.unfinished-${Deno.pid}`;
  try {
    for (const [name, bytes] of files) {
      mkdirSync(dirname(join(unfinished, name)), { recursive: true });
      writeWhole(join(unfinished, name), bytes);
    }
    if (existsSync(path)) rmSync(path, { recursive: true });
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
