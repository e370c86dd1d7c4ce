import { existsSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { writeYaml } from "@bellman/runs/settings";
import { holderOf, lockFile, type RunLock } from "@bellman/runs";
import { refuseLinksIn } from "@bellman/runs/training";
import { fileError, UsageError, writeWhole } from "@bellman/runs/program";
import type { Shard } from "./cells.ts";
import type { Plan } from "./plan.ts";

/** File of the plan in an experiment's folder. */
export const PLAN_FILE = "plan.yaml";
/** File of the results, a row for each cell. */
export const RESULTS_FILE = "results.csv";
/** Record of a search, whose folder cannot be an experiment's. */
export const SEARCH_FILE = "trials.jsonl";

const LOCK = /^experiment(\.\d+-of-\d+)?\.lock$/;

/**
 * Checks that a folder can be an experiment's: a new one, or that of an experiment.
 *
 * @throws {UsageError} If it contains anything else, or links.
 */
export function checkFolder(dir: string): void {
  refuseLinksIn(dir);
  if (!existsSync(dir)) return;
  let names: string[];
  try {
    names = readdirSync(dir);
  } catch (error) {
    throw fileError(error, dir) ?? error;
  }
  const refuse = (why: string) =>
    new UsageError(
      `Cannot use the folder ${dir} for an experiment: it ${why}; another name of the plan, or --out, gives another one`,
    );
  if (names.includes(SEARCH_FILE)) throw refuse("holds a search");
  if (names.includes(PLAN_FILE)) return;
  const other = names.find((it) => !LOCK.test(it) && !it.endsWith(".tmp"));
  if (other !== undefined && other !== "runs") {
    throw refuse(`holds ${other}, and no experiment`);
  }
}

/**
 * Locks the cells of an experiment against other drivers. Drivers of different parts
 * may run at the same time.
 *
 * @param dir Folder, which is created.
 * @param shard Part of the cells, if not all.
 * @throws {UsageError} If another driver runs some of the cells; the message names it.
 */
export function lockExperiment(dir: string, shard?: Shard): RunLock {
  const refusal = (holder: string) =>
    `Cannot run the experiment ${dir}: ${holder} runs it at present`;
  const lockName = shard === undefined
    ? "experiment.lock"
    : `experiment.${shard.part}-of-${shard.of}.lock`;
  const isMade = !existsSync(dir);
  try {
    mkdirSync(dir, { recursive: true });
    const lock = lockFile(`${dir}/${lockName}`, refusal);
    const mayRun = (name: string) =>
      shard !== undefined && name.endsWith(`-of-${shard.of}.lock`);
    for (const name of readdirSync(dir)) {
      if (name === lockName || !LOCK.test(name) || mayRun(name)) continue;
      const holder = holderOf(`${dir}/${name}`);
      if (holder === undefined) continue;
      lock.release();
      throw new UsageError(refusal(holder));
    }
    return lock;
  } catch (error) {
    if (isMade) discard(dir);
    throw fileError(error, dir) ?? error;
  }
}

/** Removes a folder that is not needed, if it is empty. */
function discard(dir: string): void {
  try {
    rmdirSync(dir);
  } catch {
    // It stays.
  }
}

const TITLE =
  "# Kept by 'deno task experiment', which reads it where this folder is its plan.";

/** Writes the plan to the folder of its experiment, with all defaults. */
export function keepPlan(dir: string, plan: Plan): void {
  const { variants, ...rest } = plan;
  const named = variants.map(({ name, ...variant }) => [
    name,
    Object.fromEntries(
      Object.entries(variant).filter(([, value]) => value !== undefined),
    ),
  ]);
  const kept = { ...rest, variants: Object.fromEntries(named) };
  writeWhole(`${dir}/${PLAN_FILE}`, `${TITLE}\n${writeYaml(kept)}`);
}
