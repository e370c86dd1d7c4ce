import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { isDeno, platform } from "../host.ts";
import { cacheFolder, type InstallTask, neededVariable } from "./installed.ts";
import {
  checkReplaceable,
  fillFolder,
  installedPackages,
  isWhole,
} from "./installed_folder.ts";
import {
  downloadWheel,
  InstallError,
  type PinnedPackage,
  readWheel,
  type WheelContent,
  wheelFor,
} from "./wheels.ts";

/** Packages and texts of an install task. */
export interface Installation extends InstallTask {
  /** Name of the simulator, such as `Atari`. */
  readonly title: string;
  /** Folder below the cache folder to install into unless `--dir` is given. */
  readonly folder: string;
  /**
   * Packages that it is made of. One without a wheel for this platform is left out
   * where another has the same variable, or the variable is set.
   */
  readonly packages: readonly PinnedPackage[];
  /** Line about licences, printed before anything is fetched. */
  readonly notice: string;
  /**
   * Flags of this task only.
   *
   * @default none
   */
  readonly own?: {
    /** Names of the flags. */
    readonly flags: readonly string[];
    /** Usage of the flags, such as `[--cuda]`. */
    readonly usage: string;
    /** Returns another installation that given flags select, or why there is none. */
    choose(
      given: Readonly<Record<string, unknown>>,
    ): Installation | string | undefined;
  };
}

/** Options of all tasks. */
const OPTIONS = {
  "accept-license": { type: "boolean" },
  dir: { type: "string" },
  help: { type: "boolean", short: "h" },
  wheel: { type: "string", multiple: true },
} as const;

/** Describes the usage of a task in one line. */
function usageOf({ task, own }: Installation): string {
  const options = "[--accept-license] [--wheel PATH ...] [--dir DIR]";
  return ["usage:", task, ...own ? [own.usage] : [], options].join(" ");
}

/**
 * Reads an install task's arguments.
 *
 * @param args As typed.
 * @param installation Installation with the task's name and options.
 * @throws {InstallError} If one is not known or lacks its value.
 */
function parseOptions(args: readonly string[], installation: Installation) {
  const fail = (problem: string): never => {
    throw new InstallError(`${problem}, ${usageOf(installation)}`);
  };
  const flags = (installation.own?.flags ?? [])
    .map((it) => [it, { type: "boolean" }] as const);
  try {
    const options = { ...Object.fromEntries(flags), ...OPTIONS };
    const { values } = parseArgs({ args: [...args], options });
    const empty = Object.entries(values)
      .find(([, value]) => value === "" || [value].flat().includes(""));
    if (empty !== undefined) fail(`--${empty[0]} lacks its path`);
    return values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return fail(error.message.split("\n")[0]);
  }
}

/** Finds the packages that this machine needs. */
function neededPackages({ packages }: Installation): PinnedPackage[] {
  const fitting = packages.filter((it) => wheelFor(it) !== undefined);
  return packages.filter((it) =>
    fitting.includes(it) ||
    !fitting.some(({ variable }) => variable === it.variable) &&
      neededVariable(it.variable) === undefined
  );
}

/**
 * Returns lines with the paths of what a folder holds, and how to use a folder that
 * is not searched by default.
 */
function told(
  packages: readonly PinnedPackage[],
  dir: string,
  isUsual: boolean,
): string[] {
  const there = packages.filter(({ at }) =>
    at !== undefined && existsSync(`${dir}/${at}`)
  );
  const lines = there.map(({ what, at }) => `${what} ${dir}/${at}`);
  if (there.length === 0 || isUsual) return lines;
  const settings = there.map(({ variable, at }) => `${variable}=${dir}/${at}`);
  return [...lines, `To use them, set ${settings.join(" and ")}`];
}

/** Output of an install task: lines for its result and for its failure. */
export type InstallOutput = Pick<Console, "log" | "error">;

/** A signal that ends the process, with its exit code. */
class Interruption extends Error {
  constructor(
    /** 128 plus the signal's number, as in shells. */
    readonly exitCode: number,
  ) {
    super("it was interrupted");
  }
}

const EXIT_CODES: readonly (readonly [Deno.Signal, exitCode: number])[] =
  platform().os === "windows"
    ? [["SIGINT", 130]]
    : [["SIGINT", 130], ["SIGTERM", 143]];

/**
 * Runs something that cleans up by itself when a signal ends the process: its
 * `AbortSignal` is aborted with an {@linkcode Interruption}.
 */
async function interruptibly<T>(
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const listeners = EXIT_CODES.map(([name, exitCode]) => {
    const listener = () => controller.abort(new Interruption(exitCode));
    Deno.addSignalListener(name, listener);
    return () => Deno.removeSignalListener(name, listener);
  });
  try {
    return await run(controller.signal);
  } finally {
    for (const remove of listeners) remove();
  }
}

/** Installs what is missing; returns the lines that report it. */
async function install(
  installation: Installation,
  options: ReturnType<typeof parseOptions>,
  output: InstallOutput,
): Promise<string[]> {
  const chosen = installation.own?.choose(options) ?? installation;
  if (typeof chosen === "string") throw new InstallError(chosen);
  const { packages, notice, folder } = chosen;
  // Absolute, in case the process changes its folder.
  const usual = () => resolve(cacheFolder(), folder);
  const dir = options.dir === undefined ? usual() : resolve(options.dir);
  const installed = installedPackages(dir),
    needed = neededPackages(chosen);
  const report = () => told(needed, dir, dir === usual());
  const { wheel: paths = [] } = options;
  const isInstalled = needed.every((it) => isWhole(dir, installed, it));
  if (isInstalled && paths.length === 0) return report();
  for (const { name, version, licence } of needed) {
    output.log(`${name} ${version}: ${licence}`);
  }
  output.log(notice);
  if (!options["accept-license"]) {
    throw new InstallError("accept the licences above with --accept-license");
  }
  checkReplaceable(dir, installed, packages);
  const given: WheelContent[] = [];
  for (const path of paths) given.push(await readWheel(path, packages));
  const missing = needed.filter((it) => !given.some((of) => of.package === it));
  await interruptibly((signal) =>
    fillFolder(dir, async function* (downloads) {
      yield* given;
      for (const it of missing) {
        const path = await downloadWheel(it, downloads, signal);
        yield await readWheel(path, [it]);
        await Deno.remove(path);
      }
      signal.throwIfAborted();
    })
  );
  return report();
}

/**
 * Runs the command line of an install task. The second time it does nothing; a
 * failure leaves the folder as it was.
 *
 * @param installation The installation.
 * @param args The command line's arguments.
 * @param output Output of lines, by default to stdout and stderr.
 * @returns The exit code: 0 if it is installed; 2 for licences that are not
 * accepted, or invalid arguments, wheels or folder; 1 if it failed; 130
 * or 143 if it was interrupted.
 * @example
 * ```ts
 * import { runInstall } from "@bellman/files/install";
 * import { assertEquals } from "@std/assert";
 *
 * const toys = {
 *   ...{ title: "Toys", task: "install-toys", packages: [], notice: "" },
 *   ...{ folder: "toys", module: "@toys/install" },
 * };
 * const said: string[] = [];
 * const say = (line: string) => said.push(line);
 * const code = await runInstall(toys, ["--all"], { log: say, error: say });
 * assertEquals(code, 2);
 * assertEquals(said[0].startsWith("Cannot install Toys: Unknown option"), true);
 * ```
 */
export async function runInstall(
  installation: Installation,
  args: readonly string[],
  output: InstallOutput = console,
): Promise<number> {
  try {
    if (!isDeno()) throw new InstallError("it needs Deno");
    const options = parseOptions(args, installation);
    const lines = options.help
      ? [usageOf(installation)]
      : await install(installation, options, output);
    for (const line of lines) output.log(line);
    return 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const [line] = error.message.split("\n");
    output.error(`Cannot install ${installation.title}: ${line}`);
    if (error instanceof Interruption) return error.exitCode;
    return error instanceof InstallError ? 2 : 1;
  }
}
