/** Runs of `train` on an environment that returns wrong data. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { isTypedArray } from "@bellman/files";
import { CheckpointStore } from "@bellman/training";
import { WRONG_ENV } from "../envs/testdata/wrong_env.ts";
import { runCommand } from "./runs.ts";

const MODULE = new URL("../envs/testdata/wrong_env.ts", import.meta.url);

/** Kinds whose numbers are right, whatever their looks. */
export const RIGHT: readonly string[] = [
  "none",
  "seenRounded",
  "seenAgain",
  "actionChanged",
];

/** A run to train. */
export interface WrongRun {
  /** Kind of wrong data. */
  kind: string;
  algorithm?: keyof typeof SETTINGS;
  vectorization?: "sync" | "workers" | "subprocesses";
  /** Steps of all episodes of a copy before the wrong data. */
  after?: number;
  /** More settings. */
  settings?: Readonly<Record<string, unknown>>;
}

/** The end of a run. */
export interface WrongEnd {
  code: number;
  /** The last line on standard error. */
  line: string;
  dir: string;
}

const SETTINGS = {
  // Rewards as they are, as the others take them by default.
  a2c: { numSteps: 5, normalizeReward: false },
  acer: { numSteps: 5, bufferSize: 200, replayStart: 20 },
  acktr: {
    numSteps: 5,
    coldUpdates: 1,
    invertEvery: 2,
    normalizeReward: false,
  },
  sac: { learningStarts: 20, batchSize: 8, bufferSize: 200 },
};

/** Trains for 120 steps of two copies, with a checkpoint every ten. */
export async function trainWrong(
  folder: string,
  { kind, algorithm = "a2c", vectorization = "sync", after = 0, settings }:
    WrongRun,
): Promise<WrongEnd> {
  const dir = `${folder}/${algorithm}-${vectorization}-${kind}`;
  const envKwargs = { kind, after, cont: algorithm === "sac" };
  const all = {
    envModules: [MODULE.pathname],
    envKwargs,
    vectorization,
    ...(vectorization !== "sync" && { workers: 2 }),
    numEnvs: 2,
    hiddenSizes: [8],
    evaluationEpisodes: 1,
    evaluationInterval: 0,
    checkpointInterval: 10,
    ...SETTINGS[algorithm],
    ...settings,
  };
  const sets = Object.entries(all).flatMap(([key, value]) => [
    "--set",
    `${key}=${JSON.stringify(value)}`,
  ]);
  const { code, err } = await runCommand([
    ...["train", algorithm, "--env", WRONG_ENV, "--steps", "120", "--quiet"],
    ...["--unchecked", "--backend", "cpu", "--out", dir, ...sets],
  ]);
  const lines = err.trimEnd().split("\n");
  assertEquals(lines.filter((it) => it.startsWith("error: ")).length, +!!code);
  return { code, line: lines.at(-1)!, dir };
}

/** The paths of arrays that hold something else than finite numbers. */
function notFinite(tree: unknown, path: string): string[] {
  if (isTypedArray(tree)) return tree.every(Number.isFinite) ? [] : [path];
  if (typeof tree !== "object" || tree === null) return [];
  return Object.entries(tree).flatMap(([key, inner]) =>
    notFinite(inner, `${path}/${key}`)
  );
}

/** Checks that wrong data ended a run in one line, and is in no checkpoint. */
export async function checkWrong(
  folder: string,
  wrong: WrongRun,
): Promise<void> {
  const { kind } = wrong;
  const { code, line, dir } = await trainWrong(folder, wrong);
  const isThere = await Deno.stat(dir).then(() => true, () => false);
  if (RIGHT.includes(kind)) return assertEquals(code, 0, line);
  assert(line.startsWith("error: "), line);
  assertStringIncludes(line, "Cannot use ");
  // What is wrong from the start is a mistake of the input: nothing is written.
  if (/^(reset|saves|space)/.test(kind)) {
    assertEquals([code, isThere], [2, false], line);
    return;
  }
  assertEquals([code, isThere], [1, true], line);
  const store = new CheckpointStore(`${dir}/checkpoints`);
  const { checkpoints } = store.list();
  assert(checkpoints.length > 0);
  for (const { step } of checkpoints) {
    assertEquals(notFinite(store.load(step).state, `step ${step}`), []);
  }
  assertStringIncludes(line, `from step ${checkpoints.at(-1)!.step} with`);
}
