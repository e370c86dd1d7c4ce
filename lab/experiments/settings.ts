import {
  type ConfigSources,
  type Entry,
  type ResolvedConfig,
  resolveWithModules,
  settingKey,
} from "@bellman/runs/settings";
import {
  asInputError,
  messageOf,
  readText,
  UsageError,
} from "@bellman/runs/program";
import { recordOf, type RunTask } from "@bellman/runs/tasks";
import {
  absolutePaths,
  admitPlan,
  evaluationOpponentOf,
  loadEnvironment,
  runChecker,
  runPlayer,
  savedConfigOf,
} from "@bellman/runs/training";
import { type Cell, type CellResult, nameOf } from "./cells.ts";
import type { Plan, Variant } from "./plan.ts";

/** Settings of a variant in one environment. */
export interface CellSettings {
  /** Configuration with the first seed. */
  config: ResolvedConfig;
  /** Threads of each run; null for all of the machine. */
  threads: number | null;
  /** Settings of plan and command line, without the seed. */
  entries: Entry[];
}

/** Settings of all cells, by variant and environment. */
export type PlanSettings = ReadonlyMap<string, CellSettings>;

/** Common options of an experiment's cells. */
export interface CellOptions {
  /** Settings of all cells, which override the plan's. */
  set: readonly Entry[];
  /** Trust code that the plan names. */
  isTrusted: boolean;
  /** Path of the plan's file. */
  path?: string;
  /** Default number of threads of a cell; all of the machine's if left out. */
  threads?: number;
  /** Keys of the cells to run, whose environments must exist. */
  wanted: ReadonlySet<string>;
}

/**
 * Key of a variant in an environment.
 *
 * @example
 * ```ts
 * import { keyOf } from "@bellman/experiments";
 * import { assertEquals } from "@std/assert";
 *
 * const cell = { variant: "a2c", environment: "CartPole-v1" };
 * assertEquals(keyOf(cell), "a2c on CartPole-v1");
 * ```
 */
export function keyOf(cell: Pick<Cell, "variant" | "environment">): string {
  return `${cell.variant} on ${cell.environment}`;
}

/** Returns the entries of a variant in an environment. */
function entriesOf(
  { algorithm, steps, set }: Variant,
  environment: string,
  command: readonly Entry[],
): Entry[] {
  const keyOf = (name: string) => settingKey(algorithm, name.trim());
  const keys = new Set(command.map(([name]) => keyOf(name)));
  const entries = Object.entries(set).filter(([name]) => !keys.has(keyOf(name)))
    .map(([key, value]): Entry => [
      key,
      value,
      `--set ${key}=${JSON.stringify(value)}`,
    ]);
  return [
    ["env", environment],
    ...steps === undefined || keys.has("totalTimesteps")
      ? []
      : [["totalTimesteps", steps, "steps"] satisfies Entry],
    ...entries,
    ...command,
  ];
}

/** Returns the sources of a variant's configuration with a seed. */
function sourcesOf(
  { name, preset, config: path }: Variant,
  entries: Entry[],
  seed: number,
): ConfigSources {
  if (path !== undefined && preset !== undefined) {
    throw new UsageError(
      `Cannot use both preset and config of the variant '${name}': give one of them`,
    );
  }
  const file = path === undefined
    ? undefined
    : { name: path, text: readText(path, "the configuration file") };
  return { preset, file, entries: [...entries, ["seed", seed]] };
}

/**
 * Resolves the settings of all variants in their environments, as `train` does, and
 * checks that the environments to run in exist, before anything runs.
 *
 * @param plan The plan.
 * @param options Settings of the command line.
 * @param onNotice Receives lines for the user.
 * @throws {UsageError} If a setting is not valid, there is no such environment, or code
 * is not trusted.
 */
export async function resolveSettings(
  { variants }: Plan,
  { set, isTrusted, path, threads, wanted }: CellOptions,
  onNotice: (line: string) => void,
): Promise<PlanSettings> {
  const resolved = new Map<string, CellSettings>();
  const pairs = variants.flatMap((variant) =>
    variant.environments.map((environment) => ({ variant, environment }))
  );
  for (const { variant, environment } of pairs) {
    const key = keyOf({ variant: variant.name, environment });
    const entries = entriesOf(variant, environment, set);
    try {
      // A seed among the settings would apply to all cells.
      const sources = sourcesOf(variant, entries, 0);
      const config = await resolveWithModules(variant.algorithm, sources, {
        admit(config) {
          if (!isTrusted) admitPlan(config, `run ${key}`, path);
        },
        onNotice: (line) => onNotice(`${key}: ${line}`),
      });
      if (wanted.has(key)) await loadEnvironment(config);
      // Cells use cores instead: the numbers are the same.
      const count = config.threads ?? threads ?? null;
      if (count !== config.threads) entries.push(["threads", count]);
      resolved.set(key, { config, threads: count, entries });
    } catch (error) {
      const input = asInputError(error);
      if (input === undefined || input.message.includes(key)) throw error;
      throw new UsageError(`Cannot use ${key}: ${input.message}`, {
        cause: error,
      });
    }
  }
  return resolved;
}

/**
 * Checks that the algorithms of cells can learn in their environments with these
 * settings, before anything runs. Settings without effect are reported.
 *
 * @throws {UsageError} If an environment cannot be made, a setting does not fit it, or
 * variants of a game are evaluated against different opponents.
 */
export async function checkFit(
  cells: readonly Cell[],
  settings: PlanSettings,
  onNotice: (line: string) => void,
): Promise<void> {
  checkOpponents(settings);
  const check = runChecker({ runPlayer });
  for (const key of new Set(cells.map(keyOf))) {
    try {
      const lines = await check(settings.get(key)!.config);
      lines.forEach((line) => onNotice(`${key}: ${line}`));
    } catch (error) {
      throw new UsageError(`Cannot use ${key}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }
}

/** Throws where variants of a game are evaluated against different opponents. */
function checkOpponents(settings: PlanSettings): void {
  const opponents = new Map<string, string>();
  for (const [key, { config }] of settings) {
    const own = evaluationOpponentOf({
      ...config,
      ...absolutePaths(config),
    });
    if (own === undefined) continue;
    const other = opponents.get(config.env) ?? own;
    opponents.set(config.env, other);
    if (other === own) continue;
    throw new UsageError(
      `Cannot use ${key}: it is evaluated against ${own}, others against ${other}; expected the same evaluationOpponent, as their returns are compared`,
    );
  }
}

/** Makes the task of a cell's job. */
export function taskOf(
  cell: Cell,
  { settings, episodes, isTrusted }: {
    settings: PlanSettings;
    episodes: number;
    isTrusted: boolean;
  },
): RunTask {
  const { config, threads } = settings.get(keyOf(cell))!;
  const cellSettings = { ...config, threads, seed: cell.seed };
  return { dir: cell.dir, settings: cellSettings, isTrusted, episodes };
}

/** Settings that a run chooses for its machine by default. */
const OF_MACHINE = ["engine", "backend", "plugin", "threads", "workers"];
/** Settings with paths that a run makes absolute. */
const PATHS: readonly string[] = ["envModules", "algorithmModules", "wrappers"];

/**
 * Lists the settings of an existing run that differ from the plan.
 *
 * @param dir Run folder.
 * @param given Configuration of the run.
 *
 * @example
 * ```ts
 * import { changedKeys } from "@bellman/experiments";
 * import { trainRun } from "@bellman/runs";
 * import { resolveConfig } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * const dir = `${await Deno.makeTempDir()}/run`;
 * await trainRun({ algorithm: "a2c", totalTimesteps: 100 }, { dir });
 * const entries: [string, unknown][] = [["totalTimesteps", 100], ["gamma", 0.9]];
 * assertEquals(changedKeys(dir, resolveConfig("a2c", { entries })), ["gamma"]);
 * ```
 */
export function changedKeys(dir: string, given: ResolvedConfig): string[] {
  const planned: ResolvedConfig = { ...given, ...absolutePaths(given) };
  const isOpen = (key: string) =>
    PATHS.includes(key) && (planned[key] as unknown[]).length > 0 ||
    OF_MACHINE.includes(key) && [null, "auto"].includes(planned[key] as null);
  const text = (value: unknown) => JSON.stringify(value ?? null);
  const saved = savedConfigOf(dir), record = recordOf(dir);
  // A run that never began starts anew.
  const isEmpty = record?.state === "failed" && record.checkpoints.length === 0;
  if (saved === undefined || isEmpty) return [];
  // Both, as the record may be another run's.
  const { settings = saved } = record ?? {};
  return Object.keys({ ...saved, ...settings, ...planned }).filter((key) =>
    !isOpen(key) &&
    [saved, settings].some((it) => text(it[key]) !== text(planned[key]))
  );
}

/**
 * Throws for a plan that changes settings of existing cells.
 *
 * @throws {UsageError} If it does; the message names a cell and the settings.
 */
export function checkUnchanged(
  cells: readonly CellResult[],
  settings: PlanSettings,
  { episodes }: Plan,
): void {
  for (const cell of cells) {
    const { dir, seed, last } = cell;
    const { config } = settings.get(keyOf(cell))!;
    const keys = changedKeys(dir, { ...config, seed });
    const evaluated = last?.episodes ?? episodes;
    if (evaluated !== episodes) keys.push("episodes");
    if (keys.length === 0) continue;
    throw new UsageError(
      `Cannot change ${keys.join(", ")} of ${
        nameOf(cell)
      }, which exists: give the variant another name, or remove its folder`,
    );
  }
}
