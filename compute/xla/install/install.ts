/**
 * Sets up a PJRT plugin, which compiles programs with XLA, in the cache folder:
 * from wheels of PyPI whose hashes are known. Doing it twice does nothing.
 *
 * In Bellman's repository this is `deno task install-xla`. Prints where the
 * plugin is. Importing this installs nothing.
 *
 * - `--cuda`: the plugin for GPUs of NVIDIA with CUDA's libraries, of 3.4 GB.
 * - `--python PATH`: takes the libraries that a Python has instead.
 * - `--without-gpu`: does so on a machine that has no GPU.
 *
 * @example
 * ```sh
 * deno run -A jsr:@bellman/compute/xla/install [--accept-license] \
 *   [--cuda [--python PATH] [--without-gpu]] \
 *   [--wheel PATH ...] [--dir DIR] [--allow-other-version]
 * ```
 *
 * @module
 */
import {
  type Installation,
  InstallError,
  type InstallOutput,
  runInstall,
} from "@bellman/files/install";
import { checkGpu, librariesOf } from "./cuda.ts";
import { cpuInstallation, cudaInstallation } from "./packages.ts";

/** Flags of this task, which stand before the others in its usage. */
const USAGE = "[--cuda [--python PATH] [--without-gpu]]";

/** Flags of this task, and the rest of its command line. */
interface XlaFlags {
  cuda: boolean;
  withoutGpu: boolean;
  python?: string;
  rest: string[];
}

function parseFlags(args: readonly string[]): XlaFlags {
  const flags: XlaFlags = { cuda: false, withoutGpu: false, rest: [] };
  const left = args.flatMap((arg) =>
    arg.startsWith("--python=") ? arg.split(/=(.*)/s).slice(0, 2) : [arg]
  );
  while (left.length > 0) {
    const arg = left.shift()!;
    if (arg === "--cuda") flags.cuda = true;
    else if (arg === "--without-gpu") flags.withoutGpu = true;
    else if (arg !== "--python") flags.rest.push(arg);
    else {
      flags.python = left.shift();
      if (!flags.python) throw new InstallError(`${arg} lacks its path`);
    }
  }
  if (flags.cuda || (!flags.python && !flags.withoutGpu)) return flags;
  const arg = flags.python ? "--python" : "--without-gpu";
  throw new InstallError(`${arg} is for --cuda alone`);
}

async function installationOf(flags: XlaFlags): Promise<Installation> {
  if (!flags.cuda) return cpuInstallation();
  if (!flags.withoutGpu) checkGpu();
  return cudaInstallation(flags.python && await librariesOf(flags.python));
}

/**
 * Does what the command line of `install-xla` asks for, and prints where the
 * plugin is or why it cannot be installed.
 *
 * @param args The arguments.
 * @param output Output of lines, by default to stdout and stderr.
 * @returns The exit code: 0 if it is installed; 2 for licences that are yet to be
 * accepted, arguments, wheels or a folder that cannot be, and a GPU or a Python
 * that is not there; 130 or 143 if it was interrupted; 1 if it failed.
 * @example
 * ```ts
 * import { installXla } from "@bellman/compute/xla/install";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await installXla(["--help"]), 0);
 * ```
 */
export async function installXla(
  args: readonly string[],
  output?: InstallOutput,
): Promise<number> {
  if (args.some((it) => it === "--help" || it === "-h")) {
    return await runInstall(withUsage(cpuInstallation()), args, output);
  }
  try {
    const flags = parseFlags(args);
    const installation = withUsage(await installationOf(flags));
    return await runInstall(installation, flags.rest, output);
  } catch (error) {
    if (!(error instanceof InstallError)) throw error;
    const line = `Cannot install XLA: ${error.message}`;
    if (output) output.error(line);
    else Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
    return 2;
  }
}

function withUsage(installation: Installation): Installation {
  return { ...installation, task: `${installation.task} ${USAGE}` };
}

if (import.meta.main) {
  Deno.exitCode = await installXla(Deno.args);
}
