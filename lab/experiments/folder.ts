import { existsSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { writeYaml } from "@bellman/runs/settings";
import { holderOf, lockFile, type RunLock } from "@bellman/runs";
import { refuseLinksIn } from "@bellman/runs/training";
import { fileError, UsageError, writeWhole } from "@bellman/runs/program";
import type { Shard } from "./cells.ts";
import type { Plan } from "./plan.ts";

/** Plan in the folder of an experiment. */
export const PLAN_FILE = "plan.yaml";
/** Results of all cells, a row for each. */
export const RESULTS_FILE = "results.csv";
/** Record of a search, which has a folder of its own. */
export const SEARCH_FILE = "trials.jsonl";

const LOCK = /^experiment(\.\d+-of-\d+)?\.lock$/;

/**
 * Checks that a folder may hold an experiment: a new one, or one that holds one.
 *
 * @throws {UsageError} If it holds anything else, or links.
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
 * Keeps other drivers from running the cells of an experiment. Drivers of different
 * parts of it may run at a time.
 *
 * @param dir The folder, which is made.
 * @param shard Part of the cells, if not all.
 * @throws {UsageError} If another driver has some of the cells; the message names it.
 */
export function lockExperiment(dir: string, shard?: Shard): RunLock {
  const refusal = (holder: string) =>
    `Cannot run the experiment ${dir}: ${holder} runs it at present`;
  const own = shard === undefined
    ? "experiment.lock"
    : `experiment.${shard.part}-of-${shard.of}.lock`;
  const isMade = !existsSync(dir);
  try {
    mkdirSync(dir, { recursive: true });
    const lock = lockFile(`${dir}/${own}`, refusal);
    const mayRun = (name: string) =>
      shard !== undefined && name.endsWith(`-of-${shard.of}.lock`);
    for (const name of readdirSync(dir)) {
      if (name === own || !LOCK.test(name) || mayRun(name)) continue;
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

/** Removes a folder that was made for nothing, if it is empty. */
function discard(dir: string): void {
  try {
    rmdirSync(dir);
  } catch {
    // It stays.
  }
}

const TITLE =
  "# Kept by 'deno task experiment', which reads it where this folder is its plan.";

/** Keeps the plan in the folder of its experiment, with what it leaves to defaults. */
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
