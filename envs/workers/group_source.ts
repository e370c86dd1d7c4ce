import type { EnvKwargs } from "../registry.ts";
import type { VecEnv } from "@bellman/types";

/** Copies of a registered environment. */
export interface RegisteredSource {
  /** Its name with the version. */
  readonly id: string;
  /**
   * The environment's own options: data that can be cloned, no functions.
   *
   * @default {}
   */
  readonly kwargs?: EnvKwargs;
  /**
   * Steps after which an episode is truncated; `Infinity` for no limit.
   *
   * @default the registered limit
   */
  readonly maxEpisodeSteps?: number;
  /**
   * Modules that register it, as absolute URLs: what `import.meta.resolve`
   * gives. Those of this package, Atari's and MuJoCo's too, need none.
   *
   * @default []
   */
  readonly imports?: readonly string[];
}

/**
 * Copies that a module makes: its default export is a {@linkcode GroupFactory}.
 */
export interface ModuleSource {
  /** The module's absolute URL: what `import.meta.resolve` gives. */
  readonly module: string;
  /**
   * What its default export gets beside the copies to make: data that can be
   * cloned, no functions.
   *
   * @default {}
   */
  readonly options?: Readonly<Record<string, unknown>>;
}

/**
 * What the copies of a group are made from: an id, an id with options, or a
 * module. It must be possible to send it: a function cannot be, and belongs
 * into a module.
 */
export type GroupSource = string | RegisteredSource | ModuleSource;

/**
 * Which copies a {@linkcode GroupFactory} makes, and the options of its source.
 */
export interface GroupOptions {
  /** How many copies to make. */
  readonly numEnvs: number;
  /** Which copy of all is the first of them. */
  readonly first: number;
  /** The options of the source. */
  readonly [option: string]: unknown;
}

/**
 * Makes the copies of one group. It need not seed them: `reset` does, for each
 * copy alone.
 *
 * @param options Which copies, and the options of the source.
 * @returns The copies.
 */
export type GroupFactory = (
  options: GroupOptions,
) => VecEnv | Promise<VecEnv>;
