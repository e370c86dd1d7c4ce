import type { Hyperparameters, Logger } from "@bellman/training";

/** Run of a custom logger. */
export interface RegisteredRun {
  /** Folder of the run. */
  readonly dir: string;
  /** Configuration: settings of all runs and of its algorithm. */
  readonly config: Readonly<Record<string, unknown>>;
}

const factories: ((run: RegisteredRun) => Logger)[] = [];

/**
 * Adds a custom logger to every trained run: it gets the same rows, episodes, settings
 * and images as TensorBoard. The module that calls this is named in `algorithmModules`.
 *
 * @param make Makes the logger of a run, when its training starts or resumes.
 *
 * @example
 * ```ts
 * import { trainRun } from "@bellman/runs";
 * import { registerLogger } from "@bellman/runs/settings";
 * import { assert } from "@std/assert";
 *
 * const returns: number[] = [];
 * registerLogger(({ config }) => ({
 *   write({ statistics }) {
 *     if (config.env !== "CartPole-v1") return;
 *     const found = statistics["eval/return_mean"];
 *     if (found !== undefined) returns.push(found);
 *   },
 *   close() {},
 * }));
 * const dir = `${await Deno.makeTempDir()}/run`;
 * await trainRun({ algorithm: "a2c", totalTimesteps: 400 }, { dir });
 * assert(returns[0] > 5);
 * ```
 */
export function registerLogger(make: (run: RegisteredRun) => Logger): void {
  factories.push(make);
}

/** Returns the number of registered loggers. */
export function countLoggers(): number {
  return factories.length;
}

/** Makes the registered loggers of a run. */
export function registeredLoggers(run: RegisteredRun): Logger[] {
  return factories.map((make) => make(run));
}

/** Flattens the settings of a configuration: nested values are named by their paths. */
export function hyperparametersOf(
  config: Readonly<Record<string, unknown>>,
): Hyperparameters {
  const plain = (name: string, value: unknown): [string, unknown][] => {
    if (typeof value !== "object" || value === null) return [[name, value]];
    if (Array.isArray(value)) return [[name, JSON.stringify(value)]];
    return Object.entries(value)
      .flatMap(([key, part]) => plain(`${name}.${key}`, part));
  };
  const entries = Object.entries(config)
    .flatMap(([name, value]) => plain(name, value));
  return Object.fromEntries(
    entries.filter(([, value]) => value !== undefined),
  ) as Hyperparameters;
}
