import {
  foreignPlatform,
  InstallError,
  type PinnedPackage,
  wheelFor,
} from "./pinned_package.ts";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { neededVariable } from "./installed.ts";
import {
  downloadWheel,
  packageOfWheel,
  readWheel,
  type WheelContent,
} from "./wheels.ts";
import {
  checkReplaceable,
  findFolder,
  type FoundFolder,
  installedContent,
  type InstalledPackage,
  realFolder,
  replaceFolder,
  withFolderBeside,
} from "./installed_folder.ts";

/** The process was asked to end, told by the exit code of its signal. */
class Interruption extends Error {
  override name = "Interruption";
  /** 128 and the signal's number, as shells tell it. */
  readonly exitCode: number;

  constructor(exitCode: number) {
    super("it was interrupted");
    this.exitCode = exitCode;
  }
}

const EXIT_CODES: readonly (readonly [Deno.Signal, exitCode: number])[] =
  Deno.build.os === "windows"
    ? [["SIGINT", 130]]
    : [["SIGINT", 130], ["SIGTERM", 143]];

/**
 * Runs something that is not to be torn off in its midst, such as between two
 * renames: it is told of the signals that would end the process, and cleans up
 * by itself.
 *
 * @param run Function to run: its signal is aborted with an
 * {@linkcode Interruption}.
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

/** Options of an install task's command line. */
interface InstallOptions {
  /** True where the licences are accepted. */
  acceptLicense: boolean;
  /** True where wheels of other versions than the pinned one are taken. */
  allowOtherVersion: boolean;
  /** Wheels given by path; what is not given is downloaded. */
  wheels: string[];
  /** The folder to install into. */
  dir?: string;
}

/**
 * Reads an install task's arguments.
 *
 * @param args As typed.
 * @param task The task's name, for the usage line.
 * @throws {InstallError} If one is not known, lacks its value, or is one folder
 * too many.
 */
export function parseInstallOptions(
  args: readonly string[],
  task: string,
): InstallOptions {
  const options: InstallOptions = {
    acceptLicense: false,
    allowOtherVersion: false,
    wheels: [],
  };
  const rest = args.flatMap((arg) =>
    /^--(wheel|dir)=/.test(arg) ? arg.split(/=(.*)/s).slice(0, 2) : [arg]
  );
  while (rest.length > 0) {
    const arg = rest.shift()!;
    const takesValue = arg === "--wheel" || arg === "--dir";
    const value = takesValue ? rest.shift() : undefined;
    if (arg === "--accept-license") options.acceptLicense = true;
    else if (arg === "--allow-other-version") options.allowOtherVersion = true;
    else if (!takesValue) fail(`unknown argument '${arg}'`, task);
    else if (!value) fail(`${arg} lacks its path`, task);
    else if (arg === "--wheel") options.wheels.push(value);
    else if (options.dir !== undefined) fail(`${arg} is given twice`, task);
    else options.dir = value;
  }
  return options;
}

/** Describes the usage of a task in one line. */
function usageOf(task: string): string {
  return `usage: ${task} [--accept-license] [--wheel PATH ...] [--dir DIR] [--allow-other-version]`;
}

function fail(problem: string, task: string): never {
  throw new InstallError(`${problem}, ${usageOf(task)}`);
}

/** Packages and texts of an install task. */
export interface Installation {
  /** Name of the simulator, such as `Atari`. */
  title: string;
  /** The task's name, such as `install-atari`, and flags of its own. */
  task: string;
  /** The folder to install into unless `--dir` says another. */
  dir: () => string;
  /** The packages that it is made of. */
  packages: readonly PinnedPackage[];
  /** Lines about licences, printed before anything is fetched. */
  notice: readonly string[];
  /**
   * Other packages that the folder may hold, and that then are replaced.
   *
   * @default none
   */
  replaced?: readonly PinnedPackage[];
  /**
   * Links of the folder to the folders of someone else, by their place.
   *
   * @default none
   */
  links?: Readonly<Record<string, string>>;
}

/**
 * Returns the lines that say where in a folder things are, of those that are
 * there, and how to use them from one that is not looked into by itself.
 *
 * @param installation The installation.
 * @param dir The folder.
 * @example
 * ```ts
 * import { told } from "@bellman/files/install";
 * import { assertEquals } from "@std/assert";
 *
 * const toys = {
 *   ...{ title: "Toys", task: "install-toys", packages: [], notice: [] },
 *   dir: () => "toys",
 * };
 * assertEquals(told(toys, "elsewhere"), []);
 * ```
 */
export function told(installation: Installation, dir: string): string[] {
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
export interface InstallOutput {
  /** Prints a line. */
  out(line: string): void;
  /** Prints a line that says why nothing was installed. */
  error(line: string): void;
}

/** Finds the wheel that is given of each package. */
function givenWheels(
  paths: readonly string[],
  packages: readonly PinnedPackage[],
): Map<PinnedPackage, string> {
  const given = new Map<PinnedPackage, string>();
  for (const path of paths) {
    const of = packageOfWheel(path, packages), other = given.get(of);
    if (other !== undefined) {
      throw new InstallError(
        `'${other}' and '${path}' are both wheels of ${of.name}: give one of them`,
      );
    }
    given.set(of, path);
  }
  return given;
}

/** Returns the packages that this machine can have or must have. */
function wantedPackages(
  packages: readonly PinnedPackage[],
  given: ReadonlyMap<PinnedPackage, string>,
): PinnedPackage[] {
  return packages.filter((it) =>
    given.has(it) || wheelFor(it) !== undefined ||
    neededVariable(it.variable) === undefined
  );
}

/** True where a wheel is a pinned one that this machine can use. */
function isPinned(of: PinnedPackage, sha256: string): boolean {
  return Object.entries(of.wheels).some(([file, hash]) =>
    hash === sha256 && foreignPlatform(of, file) === undefined
  );
}

/**
 * Returns the entry of a package in a folder, if all of it is there in the
 * pinned version.
 */
function wholePackage(
  { packages = [], files }: FoundFolder,
  of: PinnedPackage,
): InstalledPackage | undefined {
  // Another version that was let through is not the pinned one.
  const found = packages.find(({ name, version, sha256 }) =>
    name === of.name && version === of.version && isPinned(of, sha256)
  );
  if (found === undefined) return undefined;
  const isThere = of.files.every((it) => files.get(it)) &&
    Object.entries(found.files).every(([it, size]) => files.get(it) === size);
  return isThere ? found : undefined;
}

/** True where a folder has the links of an installation and no others. */
function hasLinks(
  { dir, files }: FoundFolder,
  { links = {} }: Installation,
): boolean {
  return [...files.keys()].every((place) => {
    const { isSymlink } = Deno.lstatSync(`${dir}/${place}`);
    return !isSymlink || place in links;
  }) && Object.entries(links).every(([place, target]) =>
    files.has(place) && Deno.readLinkSync(`${dir}/${place}`) === target
  );
}

/** Reads a wheel that holds all that its package must have. */
async function readComplete(
  path: string,
  of: PinnedPackage,
  allowOtherVersion?: boolean,
): Promise<WheelContent> {
  const content = await readWheel(path, of, allowOtherVersion);
  const { file, files } = content;
  const missing = of.files.find((it) => !files.has(it));
  if (missing === undefined) return content;
  throw new InstallError(`the wheel '${file}' holds no ${missing}`);
}

/** Prints what comes with which licence, and goes on if they are accepted. */
function checkLicences(
  { packages, notice }: Installation,
  { acceptLicense }: InstallOptions,
  output: InstallOutput,
): void {
  for (const { name, version, licence } of packages) {
    output.out(`${name} ${version}: ${licence}`);
  }
  for (const line of notice) output.out(line);
  if (acceptLicense) return;
  throw new InstallError("accept the licences above with --accept-license");
}

/** Work to do, once all that was given has been checked. */
interface Order {
  /** The folder that is asked for. */
  dir: string;
  /** That folder, or where it leads to as a link. */
  target: string;
  /** Contents of given wheels, and of the folder those that stay. */
  ready: WheelContent[];
  /** Packages to download. */
  missing: PinnedPackage[];
}

/**
 * Reads the contents of the folder that stay, as they are pinned and not given.
 */
async function keptContents(
  { packages }: Installation,
  found: FoundFolder,
  given: ReadonlyMap<PinnedPackage, string>,
): Promise<WheelContent[]> {
  const kept: WheelContent[] = [];
  for (const it of packages) {
    const whole = wholePackage(found, it);
    if (given.has(it) || whole === undefined) continue;
    kept.push(await installedContent(found, it, whole));
  }
  return kept;
}

/** Looks at all that was given; of what is there already nothing is missing. */
async function takeOrder(
  installation: Installation,
  args: readonly string[],
  output: InstallOutput,
): Promise<Order> {
  const { task, packages } = installation;
  const options = parseInstallOptions(args, task);
  // It stays the same wherever the process goes.
  const dir = resolve(options.dir ?? installation.dir());
  const target = await realFolder(dir);
  const paths = givenWheels(options.wheels, packages);
  const wanted = wantedPackages(packages, paths);
  const found = await findFolder(target);
  const isWhole = (it: PinnedPackage) => wholePackage(found, it) !== undefined;
  const isSame = wanted.every(isWhole) && hasLinks(found, installation);
  if (paths.size === 0 && isSame) {
    return { dir, target, ready: [], missing: [] };
  }
  checkLicences(installation, options, output);
  checkReplaceable(found, [...packages, ...installation.replaced ?? []]);
  const ready = await keptContents(installation, found, paths);
  for (const [of, path] of paths) {
    ready.push(await readComplete(path, of, options.allowOtherVersion));
  }
  const missing = wanted.filter((it) =>
    !ready.some((content) => content.package === it)
  );
  return { dir, target, ready, missing };
}

/** Contents of the folder; what lacks is downloaded when it is asked for. */
async function* contentsOf(
  { ready, missing }: Order,
  { folder, links, signal }: {
    readonly folder: string;
    readonly links: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
  },
): AsyncGenerator<WheelContent> {
  let isFirst = true;
  const withLinks = (content: WheelContent) => {
    if (isFirst) {
      for (const [place, linkTo] of Object.entries(links)) {
        content.files.set(place, { linkTo });
      }
    }
    isFirst = false;
    return content;
  };
  for (const it of ready) yield withLinks(it);
  for (const it of missing) {
    const path = await downloadWheel(it, folder, signal);
    const content = await readComplete(path, it);
    await Deno.remove(path);
    yield withLinks(content);
  }
  signal.throwIfAborted();
}

async function carryOut(
  order: Order,
  { links = {} }: Installation,
): Promise<void> {
  if (order.ready.length + order.missing.length === 0) return;
  await interruptibly((signal) =>
    withFolderBeside(order.target, (folder) => {
      const contents = contentsOf(order, { folder, links, signal });
      return replaceFolder(order.target, contents, folder);
    })
  );
}

/** The exit codes: what was asked for is at fault, or something else is. */
const BAD_INPUT = 2, FAILED = 1;

/**
 * Does what an install task's command line asks for. Doing it twice does
 * nothing; a failure leaves what was there as it was.
 *
 * @param installation The installation.
 * @param args The command line's arguments.
 * @param output Output of lines.
 * @returns The exit code: 0 if it is installed; 2 for licences that are yet to
 * be accepted, arguments, wheels or a folder that cannot be; 1 if it failed; 130
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
 * const code = await runInstall(toys, ["--all"], { out: say, error: say });
 * assertEquals(code, 2);
 * assertEquals(said[0].startsWith("Cannot install Toys: unknown argument"), true);
 * ```
 */
export async function runInstall(
  installation: Installation,
  args: readonly string[],
  output: InstallOutput = STREAMS,
): Promise<number> {
  let failure = BAD_INPUT;
  if (args.includes("--help") || args.includes("-h")) {
    output.out(usageOf(installation.task));
    return 0;
  }
  try {
    const order = await takeOrder(installation, args, output);
    failure = FAILED;
    await carryOut(order, installation);
    for (const line of told(installation, order.dir)) output.out(line);
    return 0;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const [line] = error.message.split("\n");
    output.error(`Cannot install ${installation.title}: ${line}`);
    return error instanceof Interruption ? error.exitCode : failure;
  }
}

function printer(stream: { writeSync(bytes: Uint8Array): number }) {
  return (line: string): void => {
    stream.writeSync(new TextEncoder().encode(line + "\n"));
  };
}

const STREAMS: InstallOutput = {
  out: printer(Deno.stdout),
  error: printer(Deno.stderr),
};
