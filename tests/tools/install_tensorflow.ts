/**
 * Sets up PyPI's `tensorflow-cpu` in a virtual environment, so that the
 * `tensorflow` backend finds a native library: one version, whose wheels are
 * known by their hashes. Doing it twice does nothing.
 *
 *     deno task install-tensorflow [--dir .venv/tensorflow]
 *
 * Prints the path of the library.
 */
import { resolve } from "node:path";
import { libraryInEnvironment } from "../../compute/backends/tensorflow/library_search.ts";

const DEFAULT_DIR = ".venv/tensorflow";

/** A version of `tensorflow-cpu`, and the SHA-256 of the wheels to be trusted. */
export interface PinnedTensorFlow {
  readonly version: string;
  /** Hashes by the wheels' tags. */
  readonly wheels: Readonly<Record<string, string>>;
}

const PINNED: PinnedTensorFlow = {
  version: "2.21.0",
  wheels: {
    "cp310-cp310-manylinux_2_27_x86_64":
      "d143e92f5c0661cdfa26eaca8f73cd2efd0ec53a68af8dec82f584ba8eb14b83",
    "cp311-cp311-manylinux_2_27_x86_64":
      "2b847d217b02ee7731ed91431daf3250daa0196c3c94614d23be27232e6e5b6c",
    "cp312-cp312-manylinux_2_27_x86_64":
      "dcc8afd32930e42d5296b6ee19078b773706830af4ea97fbe503b9f5e0f820cb",
    "cp313-cp313-manylinux_2_27_x86_64":
      "05af7c26d35f4de910b5598c7b507e3981831a7b0f47fed9a405d995d51d7793",
    "cp310-cp310-win_amd64":
      "efedd440b039df65171e85be61eea83b040025a7afc30d642763a7b902c23387",
    "cp311-cp311-win_amd64":
      "6fc992a9c8700e18c178b0525f4e7697e58fce88df0dcb95db4dd3c7ad5f4651",
    "cp312-cp312-win_amd64":
      "13ed4af80e5c5ddd6849323abecb4804eb2770f7570b57fe20208ad1e58c5d12",
    "cp313-cp313-win_amd64":
      "b1f474fb27ff458d2a349f70bb3314d5bee3daddd9e8d8d8a6edd1cd680c90fe",
  },
};

/** A failure that the user sees as one line. */
class InstallError extends Error {}

/** An argument that is not known. */
class UsageError extends InstallError {}

function directoryFrom(args: string[]): string {
  if (args.length === 0) return DEFAULT_DIR;
  if (args[0] === "--dir" && args[1] && args.length === 2) return args[1];
  if (args[0]?.startsWith("--dir=") && args.length === 1) {
    return args[0].slice("--dir=".length);
  }
  throw new UsageError(
    `unknown argument '${
      args.join(" ")
    }', usage: install-tensorflow [--dir DIR]`,
  );
}

/** Runs a program; where it fails, `reasonOf` finds the reason in what it said. */
async function run(
  command: string,
  args: string[],
  reasonOf: (said: string) => string | undefined = () => undefined,
): Promise<void> {
  let output: Deno.CommandOutput;
  try {
    output = await new Deno.Command(command, {
      args,
      stdout: "piped",
      stderr: "piped",
    }).output();
  } catch (error) {
    throw new InstallError(
      `cannot run ${command} (${(error as Error).message.split("\n")[0]})`,
    );
  }
  if (output.success) return;
  const said = new TextDecoder().decode(output.stderr).trim();
  const lines = said.split("\n");
  const told = lines.findLast((line) => line.startsWith("ERROR:")) ??
    lines.at(-1) ?? "";
  throw new InstallError(
    reasonOf(said) ?? `${command} ended with ${output.code}: ${told}`,
  );
}

/**
 * Names the platform's Python, which must be able to make virtual environments.
 */
function python(): string {
  return Deno.build.os === "windows" ? "python" : "python3";
}

function binary(dir: string, name: string): string {
  return Deno.build.os === "windows"
    ? `${dir}/Scripts/${name}.exe`
    : `${dir}/bin/${name}`;
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Finds the library in an environment, where it is of the wanted version. */
function installedLibrary(dir: string, version: string): string | undefined {
  const library = libraryInEnvironment(dir);
  if (library === undefined) return undefined;
  const packages = library.slice(0, library.lastIndexOf("/tensorflow/"));
  return exists(`${packages}/tensorflow_cpu-${version}.dist-info`)
    ? library
    : undefined;
}

/** Installs a wheel whose hash is one of the pinned ones. */
async function installWheel(
  dir: string,
  { version, wheels }: PinnedTensorFlow,
): Promise<void> {
  const hashes = Object.values(wheels).map((it) => `--hash=sha256:${it}`);
  const requirements = await Deno.makeTempFile({ suffix: ".txt" });
  try {
    await Deno.writeTextFile(
      requirements,
      `tensorflow-cpu==${version} ${hashes.join(" ")}\n`,
    );
    await run(binary(dir, "python3"), [
      ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check"],
      // Only the native library is wanted, not what Python needs beside it.
      ...["--no-deps", "--no-compile", "--only-binary", ":all:"],
      "--force-reinstall", // Where a file is missing, pip would see nothing to do.
      ...["--require-hashes", "--requirement", requirements],
    ], (said) => {
      if (/DO NOT MATCH THE HASHES/.test(said)) {
        return `the wheel of tensorflow-cpu ${version} has another SHA-256 than the pinned ones`;
      }
      if (!/No matching distribution/.test(said)) return undefined;
      return `there is no wheel of tensorflow-cpu ${version} for this Python and platform, expected one of ${
        Object.keys(wheels).join(", ")
      }: set BELLMAN_LIBTENSORFLOW to a library of your own`;
    });
  } finally {
    await Deno.remove(requirements);
  }
}

/**
 * Sets up a version of TensorFlow in a virtual environment, which is made where
 * it is not there. Where that fails, no new environment is left.
 *
 * @param dir The environment's root.
 * @param pinned The version, and its wheels' hashes.
 * @returns The path of the library.
 * @throws {InstallError} If Python, pip or the wheel will not do, in one line.
 */
export async function installTensorFlow(
  dir: string,
  pinned: PinnedTensorFlow = PINNED,
): Promise<string> {
  const present = installedLibrary(dir, pinned.version);
  if (present) return present;
  const isNew = !exists(dir);
  try {
    if (!exists(binary(dir, "python3"))) {
      await run(python(), ["-m", "venv", dir]);
    }
    await installWheel(dir, pinned);
    const library = installedLibrary(dir, pinned.version);
    if (library) return library;
    throw new InstallError(`the wheel in ${dir} holds no TensorFlow library`);
  } catch (error) {
    if (isNew) await Deno.remove(dir, { recursive: true }).catch(() => {});
    throw error;
  }
}

function print(stream: { writeSync(p: Uint8Array): number }, line: string) {
  stream.writeSync(new TextEncoder().encode(line + "\n"));
}

if (import.meta.main) {
  try {
    const path = await installTensorFlow(resolve(directoryFrom(Deno.args)));
    print(Deno.stdout, path);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    print(
      Deno.stderr,
      `Cannot install TensorFlow: ${error.message.split("\n")[0]}`,
    );
    Deno.exit(error instanceof UsageError ? 2 : 1);
  }
}
