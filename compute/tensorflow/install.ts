/**
 * Sets up PyPI's `tensorflow-cpu` in a virtual environment, so that the
 * `tensorflow` backend finds a native library. Doing it twice does nothing.
 *
 *     deno task install-tensorflow [--dir .venv/tensorflow]
 *
 * Prints the path of the library.
 */
import { libraryInEnvironment } from "./library_search.ts";

const DEFAULT_DIR = ".venv/tensorflow";
const WHEEL = "tensorflow-cpu>=2.16";

/** A failure that is told to the user in one line. */
class InstallError extends Error {}

function directoryFrom(args: string[]): string {
  if (args.length === 0) return DEFAULT_DIR;
  if (args[0] === "--dir" && args[1] && args.length === 2) return args[1];
  if (args[0]?.startsWith("--dir=") && args.length === 1) {
    return args[0].slice("--dir=".length);
  }
  throw new InstallError(
    `unknown argument '${
      args.join(" ")
    }', usage: install-tensorflow [--dir DIR]`,
  );
}

async function run(command: string, args: string[]): Promise<void> {
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
  const lines = new TextDecoder().decode(output.stderr).trim().split("\n");
  const told = lines.findLast((line) => line.startsWith("ERROR:")) ??
    lines.at(-1) ?? "";
  throw new InstallError(`${command} ended with ${output.code}: ${told}`);
}

/** The platform's Python, which must be able to make virtual environments. */
function python(): string {
  return Deno.build.os === "windows" ? "python" : "python3";
}

function binary(dir: string, name: string): string {
  return Deno.build.os === "windows"
    ? `${dir}/Scripts/${name}.exe`
    : `${dir}/bin/${name}`;
}

async function install(dir: string): Promise<string> {
  const present = libraryInEnvironment(dir);
  if (present) return present;
  await run(python(), ["-m", "venv", dir]);
  await run(binary(dir, "python3"), [
    ...["-m", "pip", "install", "--quiet", "--disable-pip-version-check"],
    // Only the native library is wanted, not what Python needs beside it.
    ...["--no-deps", "--no-compile", WHEEL],
  ]);
  const library = libraryInEnvironment(dir);
  if (library) return library;
  throw new InstallError(`the wheel in ${dir} holds no TensorFlow library`);
}

function print(stream: { writeSync(p: Uint8Array): number }, line: string) {
  stream.writeSync(new TextEncoder().encode(line + "\n"));
}

if (import.meta.main) {
  try {
    const dir = await Deno.realPath(".") + "/";
    const asked = directoryFrom(Deno.args);
    const path = await install(asked.startsWith("/") ? asked : dir + asked);
    print(Deno.stdout, path);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    print(
      Deno.stderr,
      `Cannot install TensorFlow: ${error.message.split("\n")[0]}`,
    );
    Deno.exit(1);
  }
}
