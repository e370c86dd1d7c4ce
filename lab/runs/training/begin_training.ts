import { RecordKeeper } from "../folder/keeper.ts";
import { lockRun, type RunLock } from "../folder/lock.ts";
import type { RunRecord } from "../folder/record.ts";
import { createRunFolder } from "../folder/run_folder.ts";
import { isDeno, platform } from "@bellman/files";
import { existsSync } from "node:fs";
import process from "node:process";
import { checkCluster } from "../settings/cluster.ts";
import { findAlgorithm } from "../settings/algorithms.ts";
import type { ResolvedConfig } from "../settings/resolve.ts";
import { writeYaml } from "../settings/yaml.ts";
import packageConfig from "../deno.json" with { type: "json" };
import { fileError, messageOf } from "../program/errors.ts";
import { onStrayError } from "../program/process.ts";
import { describeData } from "./data.ts";
import { checkOwnEnvironment } from "./environment_modules.ts";
import { plottedAgent } from "./evaluation.ts";
import { type InitialWeights, startFrom } from "./initial_weights.ts";
import { checkMemory } from "./memory.ts";
import { defaultFolder, removeNew } from "./run_entries.ts";
import { checkGame, evaluationOpponentOf, isGame } from "./games.ts";
import { runPlayer } from "./saved_agent.ts";
import { type RunSetup, setUpRun } from "./run_setup.ts";
import {
  type RunOutput,
  runTraining,
  type TrainingRun,
} from "./training_run.ts";

/** Output of a run. */
export interface Output extends RunOutput {
  /** Describes the speed of the run; set while its setup is open. */
  speed?: () => string;
}

/** Opens a setup for training while `act` runs. */
export async function withTraining(
  config: ResolvedConfig,
  output: Output,
  act: (setup: RunSetup) => Promise<RunRecord>,
): Promise<RunRecord> {
  // Games of the user's own are known once their modules are imported.
  if (isGame(config)) checkGame(config);
  // An algorithm of a module is not known yet, and starts no workers.
  const startsWorkers = findAlgorithm(config.algorithm)?.startWorkers !==
    undefined;
  if (startsWorkers && !output.quiet) {
    output.onLine?.(`Starting the workers of ${config.algorithm}`);
  }
  const { cluster, onNotice = () => {} } = output;
  checkCluster(config, cluster);
  const setup = await setUpRun(config, onNotice, { cluster, runPlayer });
  try {
    checkMemory(onNotice);
    output.speed = setup.speed;
    // Before anything is written.
    if (config.policyPlots) plottedAgent(setup);
    return await act(setup);
  } finally {
    setup.close();
  }
}

/** Formats a count, with the singular for one. */
function counted(count: number, name: string): string {
  return `${count.toLocaleString("en-US")} ${name}${count === 1 ? "" : "s"}`;
}

/** Trains an open setup. */
export async function carryOut(
  run: Omit<TrainingRun, "strayError">,
  settings?: string,
): Promise<RunRecord> {
  const { setup: { config, engine, data }, folder, quiet } = run;
  const against = evaluationOpponentOf(config);
  const verb = run.resumeFrom === undefined ? "Training" : "Resuming";
  const lines = [
    `${verb} ${config.algorithm} on ${config.env}: ${
      counted(config.totalTimesteps, "step")
    }, ${counted(config.numEnvs, "environment")}, seed ${config.seed}`,
    ...settings === undefined ? [] : [`Settings: ${settings}`],
    ...against === undefined ? [] : [`Evaluations: against ${against}`],
    ...data === undefined ? [] : [describeData(config.data!, data)],
    `Engine: ${engine}`,
    `Run folder: ${folder.dir}`,
  ];
  if (!quiet) lines.forEach((line) => run.onLine?.(line));
  const stray = new AbortController();
  const releaseStray = onStrayError((thrown) =>
    // An abort without a reason gets a default one.
    stray.abort(thrown ?? new Error(messageOf(thrown)))
  );
  try {
    return await runTraining({ ...run, strayError: stray.signal });
  } finally {
    releaseStray();
  }
}

/** Options of {@linkcode beginRun}. */
export interface NewRun {
  /**
   * Number of episodes of the final evaluations.
   *
   * @default as in evaluations during training
   */
  finalEpisodes?: number;
  /**
   * Folder of the run, new or empty.
   *
   * @default a new one under runs/
   */
  out?: string;
  /** Prefix of the new folder's name under runs/. */
  name?: string;
  /** Command that starts the run. */
  command?: string;
  /** Commit of the code. */
  commit?: string;
  /** Describes where its settings come from. */
  settings?: string;
  /** Initial weights. */
  weights?: InitialWeights;
  /** Skip the check of the user's environment. */
  isUnchecked?: boolean;
  /** True if the lock of its folder is already held. */
  isLocked?: boolean;
  /** Receives the folder, once it is created. */
  onFolder?: (dir: string) => void;
}

/**
 * Makes the record of a new run.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { newRecord } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const config = resolveConfig("a2c", { entries: [] });
 * const { state, step } = newRecord({ config, engine: "ONNX Runtime" });
 * assertEquals([state, step], ["running", 0]);
 * ```
 */
export function newRecord(
  { config: settings, engine }: Pick<RunSetup, "config" | "engine">,
  { command, commit }: Pick<NewRun, "command" | "commit"> = {},
): RunRecord {
  const now = new Date().toISOString();
  const { os, arch } = platform();
  return {
    ...{ state: "running", since: now, begun: now, resumes: 0 },
    ...{ step: 0, updates: 0, episodes: 0, seconds: 0 },
    ...command !== undefined && { command },
    ...commit && { commit },
    engine,
    versions: {
      bellman: packageConfig.version,
      ...isDeno()
        ? { deno: Deno.version.deno }
        : { node: process.versions.node },
      system: `${os} ${arch}`,
    },
    settings,
    evaluations: { during: [] },
    checkpoints: [],
  };
}

/**
 * Trains a new run to its end; writes nothing before the setup is open.
 *
 * @param config Settings of the run.
 * @param output Output and abort signal.
 * @param options Folder, weights and more.
 * @returns Final record.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { beginRun } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const entries: [string, unknown][] = [["totalTimesteps", 100]];
 * const config = resolveConfig("a2c", { entries });
 * const out = `${await Deno.makeTempDir()}/run`;
 * const { state } = await beginRun(config, { quiet: true }, { out });
 * assertEquals(state, "ended");
 * ```
 */
export async function beginRun(
  config: ResolvedConfig,
  output: Output = {},
  options: NewRun = {},
): Promise<RunRecord> {
  const { out, name, command, weights, finalEpisodes } = options;
  let lock: RunLock | undefined;
  try {
    return await withTraining(config, output, async (setup) => {
      if (!options.isUnchecked) {
        checkOwnEnvironment(setup.config, setup.environments.single);
      }
      if (weights !== undefined) {
        const line = startFrom(setup, weights);
        if (!output.quiet) output.onLine?.(line);
      }
      const configText = writeYaml(setup.config);
      const record = newRecord(setup, options);
      const isMade = out === undefined || !existsSync(out);
      const folder = createRunFolder(out ?? defaultFolder(config, name), {
        configText,
        record,
        ifTaken: out === undefined ? "next" : "error",
      });
      options.onFolder?.(folder.dir);
      const discard = () => removeNew(folder, { isMade });
      if (!options.isLocked) lock = lockNew(folder.dir, discard);
      const keeper = new RecordKeeper(folder, record);
      return await carryOut({
        ...{ ...output, setup, folder, configText, keeper, command, discard },
        finalEpisodes,
      }, options.settings);
    });
  } finally {
    lock?.release();
  }
}

/** Locks the folder of a new run; if that fails, removes what was written. */
function lockNew(dir: string, discard: () => void): RunLock {
  try {
    return lockRun(dir);
  } catch (error) {
    // Another process may train in it already.
    if (!(error instanceof RangeError)) discard();
    throw fileError(error, dir) ?? error;
  }
}
