import { InstallError } from "./install_error.ts";
import { type PinnedPackage, platform } from "./pinned_package.ts";

/** pip's options that select exactly one wheel, whatever Python runs pip. */
function selection(file: string): string[] {
  const [python, abi, platforms] = file.replace(/\.whl$/, "").split("-").slice(
    -3,
  );
  const [implementation, version] = [python.slice(0, 2), python.slice(2)];
  return [
    ...["--only-binary", ":all:", "--implementation", implementation],
    ...(version.length > 1 ? ["--python-version", version] : []),
    ...["--abi", abi],
    ...platforms.split(".").flatMap((name) => ["--platform", name]),
  ];
}

/** The line of pip's output that says what went wrong. */
function reason(stderr: Uint8Array): string {
  const lines = new TextDecoder().decode(stderr).trim().split("\n");
  return lines.findLast((line) => line.startsWith("ERROR:")) ??
    lines.at(-1) ?? "";
}

/**
 * Downloads the pinned wheel for this platform with `pip download`, which
 * checks its hash.
 *
 * @param wanted The package.
 * @param folder Where the wheel goes.
 * @param signal Ends pip where it is aborted, which throws its reason.
 * @returns The wheel's file.
 * @throws {InstallError} If no wheel fits, Python cannot be run, or pip fails.
 */
export async function downloadWheel(
  wanted: PinnedPackage,
  folder: string,
  signal?: AbortSignal,
): Promise<string> {
  const { name, version } = wanted;
  const file = wanted.wheelFor(platform());
  if (file === undefined) {
    throw new InstallError(
      `there is no wheel of ${name} ${version} for ${platform()}: set ${wanted.variable} to your own copy`,
    );
  }
  const requirements = `${folder}/${name}.txt`;
  await Deno.writeTextFile(
    requirements,
    `${name}==${version} --hash=sha256:${wanted.wheels[file]}\n`,
  );
  const python = Deno.build.os === "windows" ? "python" : "python3";
  let output: Deno.CommandOutput;
  try {
    output = await new Deno.Command(python, {
      args: [
        ...["-m", "pip", "download", "--quiet", "--no-deps"],
        ...["--disable-pip-version-check", "--require-hashes"],
        ...selection(file),
        ...["--dest", folder, "--requirement", requirements],
      ],
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      signal,
    }).output();
  } catch (error) {
    throw new InstallError(
      `cannot run ${python} (${
        (error as Error).message.split("\n")[0]
      }): give wheels with --wheel PATH`,
    );
  }
  signal?.throwIfAborted();
  if (output.success) return `${folder}/${file}`;
  throw new InstallError(
    `pip cannot download ${name} ${version}: ${reason(output.stderr)}`,
  );
}
