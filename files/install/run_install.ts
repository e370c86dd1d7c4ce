import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs, type ParseArgsConfig } from "node:util";
import { isDeno, platform } from "../host.ts";
import { neededVariable } from "./installed.ts";
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

/** Options of an install task's command line by name, the task's included. */
export interface InstallOptions {
  /** True where the licences are accepted. */
  "accept-license"?: boolean;
  /** The folder to install into. */
  dir?: string;
  /** True where only the usage is printed. */
  help?: boolean;
  /** Wheels given by path; what is not given is downloaded. */
  wheel?: string[];
  /** An option of this task only. */
  [name: string]: string | boolean | string[] | undefined;
}

/** Packages and texts of an install task. */
export interface Installation {
  /** Name of the simulator, such as `Atari`. */
  title: string;
  /** The task's name, such as `install-atari`. */
  task: string;
  /** The folder to install into unless `--dir` is given. */
  dir: () => string;
  /** The packages that it is made of. */
  packages: readonly PinnedPackage[];
  /** Lines about licences, printed before anything is fetched. */
  notice: readonly string[];
  /**
   * Other packages that the folder may hold, which are replaced.
   *
   * @default none
   */
  replaced?: readonly PinnedPackage[];
  /**
   * Options of this task only.
   *
   * @default none
   */
  own?: {
    /** Their usage, such as `[--cuda]`. */
    usage: string;
    /** Their types, as `parseArgs` takes them. */
    types: NonNullable<ParseArgsConfig["options"]>;
    /** Returns the installation that they select. */
    choose(options: InstallOptions): Installation;
  };
}

const TYPES = {
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
function parseOptions(
  args: readonly string[],
  installation: Installation,
): InstallOptions {
  const fail = (problem: string): never => {
    throw new InstallError(`${problem}, ${usageOf(installation)}`);
  };
  try {
    const types: ParseArgsConfig["options"] = {
      ...TYPES,
      ...installation.own?.types,
    };
    const { values } = parseArgs({ args: [...args], options: types });
    const empty = Object.keys(values).find((name) =>
      [values[name]].flat().includes("")
    );
    if (empty !== undefined) fail(`--${empty} lacks its path`);
    return values as InstallOptions;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return fail(error.message.split("\n")[0]);
  }
}

/**
 * Returns lines with the paths of what a folder holds, and how to use a folder that
 * is not searched by default.
 */
function told(installation: Installation, dir: string): string[] {
  const there = installation.packages.filter(({ at }) =>
    at !== undefined && existsSync(`${dir}/${at}`)
  );
  const lines = there.map(({ what, at }) => `${what} ${dir}/${at}`);
  const isUsual = dir === resolve(installation.dir());
  if (there.length === 0 || isUsual) return lines;
  const settings = there.map(({ variable, at }) => `${variable}=${dir}/${at}`);
  return [...lines, `To use them, set ${settings.join(" and ")}`];
}

/** Output of an install task: lines for its result and for its failure. */
export type InstallOutput = Pick<Console, "log" | "error">;

/** Prints the licences; throws unless they are accepted. */
function checkLicences(
  { packages, notice }: Installation,
  isAccepted: boolean | undefined,
  output: InstallOutput,
): void {
  for (const { name, version, licence } of packages) {
    output.log(`${name} ${version}: ${licence}`);
  }
  for (const line of notice) output.log(line);
  if (isAccepted) return;
  throw new InstallError("accept the licences above with --accept-license");
}

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
  options: InstallOptions,
  output: InstallOutput,
): Promise<string[]> {
  const { packages, replaced = [] } = installation;
  const { wheel: paths = [] } = options;
  // Absolute, in case the process changes its folder.
  const dir = resolve(options.dir ?? installation.dir());
  const installed = installedPackages(dir);
  const needed = packages.filter((it) =>
    wheelFor(it) !== undefined || neededVariable(it.variable) === undefined
  );
  const isInstalled = needed.every((it) => isWhole(dir, installed, it));
  if (isInstalled && paths.length === 0) return told(installation, dir);
  checkLicences(installation, options["accept-license"], output);
  checkReplaceable(dir, installed, [...packages, ...replaced]);
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
  return told(installation, dir);
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
 *   ...{ title: "Toys", task: "install-toys", packages: [], notice: [] },
 *   dir: () => "toys",
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
    const lines = options.help ? [usageOf(installation)] : await install(
      installation.own?.choose(options) ?? installation,
      options,
      output,
    );
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
