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

/** A source in full. */
export type CheckedSource = RegisteredSource | ModuleSource;

/** Throws unless a host elsewhere can make copies from a source. */
export function checkSource(source: GroupSource): CheckedSource {
  const full = typeof source === "string" ? { id: source } : source;
  if ("id" in full) {
    for (const url of full.imports ?? []) checkUrl(url);
    checkClonable(full.kwargs, `kwargs of ${full.id}`);
  } else {
    checkUrl(full.module);
    checkClonable(full.options, `options of ${full.module}`);
  }
  return full;
}

function checkUrl(url: string): void {
  if (URL.canParse(url)) return;
  throw new TypeError(
    `Cannot import '${url}' in a host: expected an absolute URL, such as import.meta.resolve(${
      JSON.stringify(url)
    })`,
  );
}

function checkClonable(data: unknown, name: string): void {
  try {
    structuredClone(data);
  } catch (error) {
    throw new TypeError(
      `Cannot send the ${name} to a host: ${
        joinLines((error as Error).message)
      }; expected plain data, and functions in a module that the host imports`,
    );
  }
}

/** What could not be cloned may be shown over many lines. */
function joinLines(text: string): string {
  return text.replaceAll(/\s+/g, " ").replace(/\.$/, "");
}

/**
 * Checks that a worker with a module could start: a thread that waits for it would
 * not hear of an error.
 */
export function checkStartable(module: string): void {
  const path = new URL(".", module);
  if (path.protocol !== "file:") return;
  const { state } = Deno.permissions.querySync({ name: "read", path });
  if (state === "granted") return;
  throw new Deno.errors.NotCapable(
    `Cannot start workers without the permission to read ${path.pathname}: add --allow-read`,
  );
}
