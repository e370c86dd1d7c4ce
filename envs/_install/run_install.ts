import { downloadWheel } from "./download_wheel.ts";
import { InstallError } from "./install_error.ts";
import { type InstallOptions, parseInstallOptions } from "./install_options.ts";
import {
  checkReplaceable,
  installedPackages,
  replaceFolder,
  withFolderBeside,
} from "./installed_folder.ts";
import { type PinnedPackage, platform } from "./pinned_package.ts";
import { packageOfWheel, readWheel, type WheelContent } from "./read_wheel.ts";
import { readVariable } from "./cache_folder.ts";

/** What an install task sets up. */
export interface Installation {
  /** What is installed, such as `Atari`. */
  title: string;
  /** The task's name, such as `install-atari`. */
  task: string;
  /** The folder to install into unless `--dir` says another. */
  dir: () => string;
  /** The packages that it is made of. */
  packages: readonly PinnedPackage[];
  /** Lines about licences, printed before anything is fetched. */
  notice: readonly string[];
  /** Files of each package that must be there, by the package's name. */
  required: Readonly<Record<string, readonly string[]>>;
  /** The lines that say where things are, once they are in a folder. */
  told(dir: string): string[];
}

/** Where an install task writes: lines for its result and for its failure. */
export interface InstallOutput {
  /** Prints a line. */
  out(line: string): void;
  /** Prints a line that says why nothing was installed. */
  error(line: string): void;
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}

/** The packages that this machine can have or must have. */
function wantedPackages(
  { packages }: Installation,
  { wheels }: InstallOptions,
): PinnedPackage[] {
  const given = wheels.map((path) => packageOfWheel(path, packages));
  return packages.filter((it) =>
    given.includes(it) || it.wheelFor(platform()) !== undefined ||
    readVariable(it.variable) === undefined
  );
}

async function isInstalled(
  dir: string,
  wanted: readonly PinnedPackage[],
  required: Installation["required"],
): Promise<boolean> {
  const present = await installedPackages(dir) ?? [];
  for (const { name, version, wheels } of wanted) {
    // Another version that was let through is not the pinned one.
    const hashes = Object.values(wheels);
    const found = present.some((it) =>
      it.name === name && it.version === version && hashes.includes(it.sha256)
    );
    if (!found) return false;
    for (const file of required[name] ?? []) {
      if (!await isFile(`${dir}/${file}`)) return false;
    }
  }
  return true;
}

function checkComplete(
  { package: { name }, file, files }: WheelContent,
  required: Installation["required"],
): void {
  const missing = required[name]?.find((it) => !files.has(it));
  if (missing === undefined) return;
  throw new InstallError(`the wheel '${file}' holds no ${missing}`);
}

async function collect(
  installation: Installation,
  options: InstallOptions,
  folder: string,
): Promise<WheelContent[]> {
  const { packages, required } = installation;
  const wheels: WheelContent[] = [];
  for (const it of wantedPackages(installation, options)) {
    const given = options.wheels.find((path) =>
      packageOfWheel(path, packages) === it
    );
    const path = given ?? await downloadWheel(it, folder);
    const content = await readWheel(
      path,
      packages,
      given !== undefined && options.allowOtherVersion,
    );
    checkComplete(content, required);
    wheels.push(content);
  }
  return wheels;
}

async function install(
  installation: Installation,
  args: readonly string[],
  output: InstallOutput,
): Promise<number> {
  const { packages, required, task, title } = installation;
  const options = parseInstallOptions(args, task);
  const dir = absolute(options.dir ?? installation.dir());
  const wanted = wantedPackages(installation, options);
  const isPresent = options.wheels.length === 0 &&
    await isInstalled(dir, wanted, required);
  if (!isPresent) {
    for (const it of packages) {
      output.out(`${it.name} ${it.version}: ${it.licence}`);
    }
    for (const line of installation.notice) output.out(line);
    if (!options.acceptLicense) {
      output.error(
        `Cannot install ${title}: accept the licences above with --accept-license`,
      );
      return 2;
    }
    await checkReplaceable(dir);
    await withFolderBeside(dir, async (folder) => {
      const wheels = await collect(installation, options, folder);
      await replaceFolder(dir, wheels, folder);
    });
  }
  for (const line of installation.told(dir)) output.out(line);
  return 0;
}

function absolute(dir: string): string {
  const isAbsolute = /^([\\/]|[a-z]:)/i.test(dir);
  return isAbsolute ? dir : `${Deno.cwd()}/${dir}`;
}

/**
 * Does what an install task's command line asks for. Doing it twice does
 * nothing; a failure leaves what was there as it was.
 *
 * @param installation What is set up.
 * @param args The command line's arguments.
 * @param output Where lines go.
 * @returns The exit code: 0 if it is installed, 2 if the licences are yet to be
 * accepted, 1 if it failed.
 */
export async function runInstall(
  installation: Installation,
  args: readonly string[],
  output: InstallOutput = STREAMS,
): Promise<number> {
  try {
    return await install(installation, args, output);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const [line] = error.message.split("\n");
    output.error(`Cannot install ${installation.title}: ${line}`);
    return 1;
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
