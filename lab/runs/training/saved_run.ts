import { isStateRecord } from "@bellman/files";
import { readRecord, type RunRecord } from "../folder/record.ts";
import { openRunFolder, RunFolder } from "../folder/run_folder.ts";
import {
  type Checkpoint,
  divergedArray,
  type RunStatus,
  runStatus,
} from "@bellman/training";
import type { StateTree } from "@bellman/types";
import { existsSync } from "node:fs";
import { ALGORITHMS, findAlgorithm } from "../settings/algorithms.ts";
import { refuseFormer } from "../settings/settings.ts";
import { resolveConfig, type ResolvedConfig } from "../settings/resolve.ts";
import { parseMapping, writeYaml } from "../settings/yaml.ts";
import { readText } from "../program/read_text.ts";
import { codeOf, type RunCode } from "./environment_modules.ts";
import { foreignCode } from "./project_code.ts";
import { refuseDevices, refuseLinkedRun, refuseLinks } from "./run_entries.ts";
import type { RunSetup } from "./run_setup.ts";
import {
  isShared,
  storeOf,
  withSharedModules,
} from "../settings/shared_folder.ts";
import { restoreShared } from "./initial_weights.ts";
import { runDirOf } from "../settings/zoo_agents.ts";
import { RestoreFailure, UsageError } from "../program/errors.ts";

/** Existing run with its settings. */
export interface SavedRun {
  /** Paths in the run folder. */
  folder: RunFolder;
  /** Settings of the run. */
  config: ResolvedConfig;
  /** Text of the configuration. */
  configText: string;
  /** Record; undefined if it is missing, damaged or another run's. */
  record?: RunRecord;
  /** Lines about files that were changed since. */
  notices: string[];
}

/**
 * Opens a run folder. The settings are those of its record; if that is missing, damaged
 * or another run's, those that its checkpoints agree with, or `config.yaml`.
 *
 * @param dir Run folder.
 * @param options With `isTrusted`, links are followed.
 * @throws {UsageError} If it is missing or broken, or leads out of its folder.
 *
 * @example
 * ```ts
 * import { trainRun } from "@bellman/runs";
 * import { openSavedRun } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/run`;
 * await trainRun({ algorithm: "a2c", totalTimesteps: 100 }, { dir });
 * const { config, notices } = openSavedRun(dir);
 * assertEquals([config.totalTimesteps, notices], [100, []]);
 * ```
 */
export function openSavedRun(
  dir: string,
  { isTrusted = false }: { isTrusted?: boolean } = {},
): SavedRun {
  if (dir === "") {
    throw new UsageError(
      "Cannot open the run '': expected a run folder, such as runs/a2c-CartPole-v1-seed0",
    );
  }
  const folder = new RunFolder(runDirOf(dir));
  const { recordPath, configPath, checkpointsDir } = folder;
  // Another folder may be of any size.
  const parts = [recordPath, configPath, checkpointsDir];
  if (!parts.some((it) => existsSync(it))) openRunFolder(folder.dir);
  refuseDevices(folder.dir);
  if (!isTrusted) {
    refuseLinkedRun(folder.dir);
    refuseLinks(folder.dir);
  }
  const notices: string[] = [];
  const saved = recordOf(folder, (line) => notices.push(line));
  const current = existsSync(configPath)
    ? readText(configPath, "the configuration")
    : undefined;
  const recorded = saved && writeYaml(saved.settings);
  const configText = savedConfig(folder, [recorded, current]) ?? recorded ??
    current;
  // Describes what is missing.
  if (configText === undefined) openRunFolder(folder.dir);
  const isOfAnother = recorded !== undefined && recorded !== configText;
  if (isOfAnother) {
    notices.push(
      `${recordPath} is of another run; the settings of the checkpoints are used instead`,
    );
  }
  const record = isOfAnother ? undefined : saved;
  const config = runConfigOf(configText!, folder);
  const run = { folder, config, configText: configText!, record };
  const edits = editsOf(current, run);
  if (edits !== undefined) notices.push(edits);
  return { ...run, notices };
}

/** Reads the record of a run, or notes why it cannot be read. */
function recordOf(
  folder: RunFolder,
  onNotice: (line: string) => void = () => {},
): RunRecord | undefined {
  try {
    return readRecord(folder);
  } catch (error) {
    const hasOthers = [folder.configPath, folder.checkpointsDir]
      .some((it) => existsSync(it));
    if (!(error instanceof SyntaxError) || !hasOthers) throw error;
    onNotice(
      `${error.message}; the settings of its checkpoints and config.yaml are used instead`,
    );
  }
}

/**
 * Reads only the configuration of a run.
 *
 * @param dir Run folder.
 * @returns Undefined if there is no run, or none that can be read.
 *
 * @example
 * ```ts
 * import { savedConfigOf } from "@bellman/runs/training";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(savedConfigOf("runs/missing"), undefined);
 * ```
 */
export function savedConfigOf(dir: string): ResolvedConfig | undefined {
  try {
    return openSavedRun(dir, { isTrusted: true }).config;
  } catch {
    return undefined;
  }
}

/** Line of a configuration that changes if a run is prolonged. */
const LENGTH = /^totalTimesteps: .*\n/gm;

/** Returns true for configurations of the same run, possibly prolonged. */
function isSameRun(a: unknown, b: string): boolean {
  if (typeof a !== "string") return false;
  const [first, second] = [a, b].map((it) => it.replaceAll(LENGTH, ""));
  return first === second || wholeConfig(first) === wholeConfig(second);
}

/** Rewrites a configuration with the settings that an earlier version left out. */
function wholeConfig(text: string): string {
  try {
    return writeYaml(configOfFile({ name: "config.yaml", text }));
  } catch {
    return text;
  }
}

/**
 * Returns the run with more steps, without writing anything.
 *
 * @throws {UsageError} If it already has as many.
 */
export function prolonged(run: SavedRun, totalTimesteps: number): SavedRun {
  const { folder, config } = run;
  if (totalTimesteps <= config.totalTimesteps) {
    throw new UsageError(
      `Cannot resume ${folder.dir} with --steps ${totalTimesteps}: expected more than its ${config.totalTimesteps} steps`,
    );
  }
  const configText = run.configText
    .replaceAll(LENGTH, `totalTimesteps: ${totalTimesteps}\n`);
  return { ...run, configText, config: runConfigOf(configText, folder) };
}

/**
 * Returns the configuration that the run's checkpoints were made with: the first copy
 * that agrees with any of them, otherwise the newest one's, or the best one's if no
 * other is readable.
 */
function savedConfig(
  folder: RunFolder,
  copies: readonly (string | undefined)[],
): string | undefined {
  const store = storeOf(folder);
  const { checkpoints, best } = store.list();
  const known = copies.filter((it) => it !== undefined);
  const configs: unknown[] = [];
  for (const info of [...best ? [best] : [], ...checkpoints].reverse()) {
    const { config } = store.notes(info.step);
    // There may be many checkpoints; usually the newest one agrees.
    if (known.length > 0 && isSameRun(config, known[0])) return known[0];
    configs.push(config);
  }
  const agreed = known.find((copy) =>
    configs.some((it) => isSameRun(it, copy))
  );
  const [newest] = configs;
  return agreed ?? (typeof newest === "string" ? newest : undefined);
}

function runConfigOf(
  text: string,
  { configPath: name, dir }: RunFolder,
): ResolvedConfig {
  const entries = Object.fromEntries(parseMapping(text, name));
  const algorithm = String(entries.algorithm);
  const modules = entries.algorithmModules;
  const isOwn = Array.isArray(modules) && modules.length > 0;
  if (findAlgorithm(algorithm) === undefined && !isOwn) {
    throw new UsageError(
      `Cannot use the run ${dir}: its config.yaml names the algorithm '${algorithm}', expected one of ${
        ALGORITHMS.map(({ meta }) => meta.name).join(", ")
      }`,
    );
  }
  return withSharedModules(configOfFile({ name, text }), dir);
}

/** Resolves a run's file; user algorithms are not imported yet. */
function configOfFile(file: { name: string; text: string }): ResolvedConfig {
  const options = { isOpen: true, keepsFormer: true };
  return resolveConfig(undefined, { file, entries: [] }, options);
}

/** Largest number of edited settings to name. */
const NAMED_EDITS = 3;

/** Describes edits of `config.yaml` since the run started, if any. */
function editsOf(
  current: string | undefined,
  { folder: { configPath: path }, config, configText }: Omit<
    SavedRun,
    "notices"
  >,
): string | undefined {
  if (current === configText) return undefined;
  const show = (value: unknown) => JSON.stringify(value) ?? String(value);
  const asBefore = "this resumes with what the run began with";
  if (current === undefined) return `${path} is gone: ${asBefore}`;
  let edited: ResolvedConfig;
  try {
    edited = configOfFile({ name: path, text: current });
  } catch {
    return `${path} cannot be read any more: ${asBefore}`;
  }
  const keys = Object.keys({ ...config, ...edited })
    .filter((key) => show(edited[key]) !== show(config[key]));
  if (keys.length === 0) return undefined;
  const named = keys.slice(0, NAMED_EDITS)
    .map((key) => `${key} (${show(config[key])}, not ${show(edited[key])})`);
  const rest = keys.length - named.length;
  return `${path} was edited: ${asBefore}, ${named.join(", ")}${
    rest > 0 ? ` and ${rest} more keys` : ""
  }; 'train --config ${path}' starts another run`;
}

/**
 * Makes the error for untrusted code and files.
 *
 * @param code The code.
 * @param what Command, its use of the code, and why that is not trusted.
 * @param trust Option that trusts it.
 * @returns The error; undefined if there is no such code.
 */
function refusalOf(
  { modules, options, files, programs }: RunCode,
  what: string,
  trust = "--trust",
): UsageError | undefined {
  const code = [
    ...modules.map((it) => `import ${it}`),
    ...options.map((it) => `give Python the option ${JSON.stringify(it)}`),
    ...programs.map((it) => `start ${JSON.stringify(it)}`),
    ...files.map((it) => `read the file ${JSON.stringify(it)}`),
  ];
  if (code.length === 0) return undefined;
  const hint = code.length === files.length
    ? "look at that first"
    : "read that code first";
  return new UsageError(
    `Cannot ${what} and would ${code.join(", ")}; ${hint}, then add ${trust}`,
  );
}

/**
 * Throws for a plan that names code or files of unknown origin.
 *
 * @param config Configuration of the plan's runs, before anything is imported.
 * @param what Command, and plan or part of it.
 * @param path Path of the plan.
 * @throws {UsageError} If it names some.
 *
 * @example
 * ```ts
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { admitPlan } from "@bellman/runs/training";
 * import { assertThrows } from "@std/assert";
 *
 * const entries: [string, unknown][] = [["algorithmModules", ["npm:theirs@1"]]];
 * const config = resolveConfig("a2c", { entries }, { isOpen: true });
 * const refused = "would import npm:theirs@1";
 * assertThrows(() => admitPlan(config, "run theirs"), Error, refused);
 * ```
 */
export function admitPlan(
  config: ResolvedConfig,
  what: string,
  path?: string,
): void {
  const refusal = refusalOf(
    foreignCode(codeOf(config), path),
    `${what}: its plan may be somebody else's`,
  );
  if (refusal !== undefined) throw refusal;
}

/**
 * Throws for a run that would execute code, or read files, from outside of the project,
 * unless it is trusted.
 *
 * @param run The run.
 * @param options Command, whether the user trusts the run and its environment is
 * needed, and the option that trusts it.
 * @returns Lines for the user before code is imported.
 * @throws {UsageError} If it would run code or read files that are not trusted.
 */
export function admitRun(
  { folder, config, notices }: SavedRun,
  { command, isTrusted, environment = true, trust = "--trust" }: {
    command: string;
    isTrusted: boolean;
    environment?: boolean;
    trust?: string;
  },
): string[] {
  const code = codeOf(config, { environment });
  const refusal = isTrusted ? undefined : refusalOf(
    foreignCode(code, folder.dir),
    `${command} ${folder.dir}: it may be somebody else's`,
    trust,
  );
  if (refusal !== undefined) throw refusal;
  return [
    ...notices,
    ...code.modules.length === 0
      ? []
      : [`The run imports ${code.modules.join(", ")}`],
  ];
}

/** True where a run names code or files that it resumes with only where it is trusted. */
export function needsTrust(config: ResolvedConfig, dir: string): boolean {
  const code = foreignCode(codeOf(config), dir);
  return Object.values(code).some((names) => names.length > 0);
}

/** Choice of a checkpoint: `best`, `latest` or a step. */
export type CheckpointChoice = "best" | "latest" | number;

/**
 * Loads a checkpoint of a run. If the best one is damaged or of another run, the
 * numbered one of its step replaces it, or else the latest.
 *
 * @param run Run folder, and text of the configuration.
 * @param choice The checkpoint.
 */
export function loadCheckpoint(
  run: Pick<SavedRun, "folder" | "configText">,
  choice: CheckpointChoice,
): Checkpoint {
  const store = storeOf(run.folder);
  // A shared agent has no other checkpoint.
  const isAlone = isShared(run.folder.dir);
  if (typeof choice === "number") return store.load(choice);
  if (choice !== "best" && choice !== "latest") {
    throw new RangeError(
      `Cannot load the checkpoint '${choice}': expected best, latest or a step`,
    );
  }
  const latest = (): Checkpoint => checkpointsOf(run).next().value!;
  if (choice === "latest" && !isAlone) return latest();
  try {
    const best = store.load("best");
    checkOwn(best, run);
    return best;
  } catch (error) {
    if (isAlone) throw error;
    const newest = latest();
    const { bestStep } = runStatus(newest.state);
    // A run without evaluations has no best checkpoint.
    if (error instanceof RangeError && bestStep === undefined) return newest;
    const copy = bestStep === undefined ? newest : loadCopy(run, bestStep);
    const { step } = copy ?? newest;
    const { message } = error as Error;
    const line = `${message}; the checkpoint of step ${step} is used instead`;
    return { ...copy ?? newest, warnings: [...newest.warnings, line] };
  }
}

/** Checks that a checkpoint was made with the run's configuration. */
function checkOwn(
  { notes, path }: Omit<Checkpoint, "warnings">,
  { folder, configText }: Pick<SavedRun, "folder" | "configText">,
): void {
  const config = savedConfig(folder, [configText]);
  if (config === undefined || isSameRun(notes.config, config)) return;
  throw new SyntaxError(`Cannot use ${path}: it is of another run`);
}

function loadCopy(
  run: Pick<SavedRun, "folder" | "configText">,
  step: number,
): Checkpoint | undefined {
  try {
    const copy = storeOf(run.folder).load(step);
    checkOwn(copy, run);
    return copy;
  } catch {
    return undefined;
  }
}

/**
 * Loads the readable checkpoints of a run, newest first, each with a warning for every
 * newer one that cannot be read or is of another run.
 *
 * @throws {SyntaxError | RangeError} If there is none.
 */
export function checkpointsOf(
  run: Pick<SavedRun, "folder" | "configText">,
): Generator<Checkpoint, void> {
  return storeOf(run.folder)
    .newest((checkpoint) => checkOwn(checkpoint, run));
}

/** Returns true if the last and the best agent of a run were evaluated. */
export function isEvaluated(
  { folder, record }: Omit<SavedRun, "config">,
): boolean {
  return record === undefined
    ? existsSync(folder.reportPath)
    : record.state === "ended";
}

/** Checks that a run can be resumed from a checkpoint. */
export function checkResumable(
  { state, step }: Checkpoint,
  run: SavedRun,
  { isProlonged, evaluatesAgain = false }: {
    isProlonged: boolean;
    evaluatesAgain?: boolean;
  },
): void {
  const { folder: { dir }, config } = run;
  let status: RunStatus;
  try {
    status = runStatus(state);
  } catch (error) {
    throw new RestoreFailure((error as Error).message, { cause: error });
  }
  const { hasEnded, stopReason } = status;
  // A run that was stopped in its last evaluation has yet to finish it.
  const isWhole = stopReason === undefined;
  const isDone = isEvaluated(run) && !evaluatesAgain;
  if (hasEnded && isDone && !(isProlonged && isWhole)) {
    throw new UsageError(
      `Cannot resume ${dir}: it ${
        isWhole
          ? `has run all of its ${config.totalTimesteps} steps; more --steps prolong it`
          : `has ended at step ${step}: ${stopReason}`
      }`,
    );
  }
}

/**
 * Restores the agent and the environments of a setup from a checkpoint; an agent that
 * only acts does without the experience that it would learn from.
 */
export function restoreSetup(
  setup: RunSetup,
  checkpoint: Checkpoint,
  { actsOnly = false }: { readonly actsOnly?: boolean } = {},
): void {
  const { weights, scales, ...run } = checkpoint.state as Record<
    string,
    StateTree
  >;
  const odd = divergedArray(
    weights === undefined ? run : { algorithm: { weights, scales } },
  );
  if (odd !== undefined) {
    throw new UsageError(
      `Cannot use the checkpoint ${checkpoint.path}: ${odd.statistic} holds ${odd.value}, expected finite numbers`,
    );
  }
  if (restoreShared(setup, checkpoint)) return;
  const { algorithm, env } = checkpoint.state as Record<string, StateTree>;
  if (algorithm === undefined || env === undefined) {
    throw new UsageError(
      `Cannot use the checkpoint ${checkpoint.path}: it is not of a training run`,
    );
  }
  const state = actsOnly ? withoutExperience(algorithm) : algorithm;
  try {
    setup.algorithm.load(state);
  } catch (error) {
    // Settings of earlier versions may have made another agent.
    const { config } = setup;
    refuseFormer(config, findAlgorithm(config.algorithm)!.meta.schema);
    throw error;
  }
  // An algorithm that steps its own environments has saved them.
  if (env !== null) setup.environments.training.load(env);
}

function withoutExperience(algorithm: StateTree): StateTree {
  if (!isStateRecord(algorithm)) return algorithm;
  const { experience: _, ...acting } = algorithm;
  return acting;
}
