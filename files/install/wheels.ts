import {
  distributionName,
  foreignPlatform,
  InstallError,
  type PinnedPackage,
  platform,
  wheelFor,
} from "./pinned_package.ts";
import { createHash } from "node:crypto";
import { unzipSync } from "fflate";

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

/** Returns the line of pip's output that says what went wrong. */
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
 * @param folder Folder of the wheel.
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
  const file = wheelFor(wanted);
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

/** Content of a file: bytes, a file to copy, or the place that a link leads to. */
export type FileSource =
  | Uint8Array
  | { readonly copyOf: string }
  | { readonly linkTo: string };

/** Contents of one wheel. */
export interface WheelContent {
  /** The package that the wheel is of. */
  package: PinnedPackage;
  /** The wheel's file name. */
  file: string;
  /** The wheel's SHA-256. */
  sha256: string;
  /** Files by their place in the installed folder. */
  files: Map<string, FileSource>;
}

const fileName = (path: string): string => path.split(/[\\/]/).at(-1)!;

/** Finds the package of a wheel, by its file name. */
export function packageOfWheel(
  path: string,
  packages: readonly PinnedPackage[],
): PinnedPackage {
  const [name] = fileName(path).split("-");
  const found = packages.find((it) =>
    distributionName(it.name) === distributionName(name)
  );
  if (found && path.endsWith(".whl")) return found;
  throw new InstallError(
    `'${path}' is no wheel of ${packages.map((it) => it.name).join(" or ")}`,
  );
}

function checkHash(content: WheelContent): void {
  const { package: { name, version, wheels }, file, sha256 } = content;
  if (Object.values(wheels).includes(sha256)) return;
  throw new InstallError(
    `'${file}' has the SHA-256 ${sha256}, which is none of ${name} ${version}'s: ` +
      "--allow-other-version takes it all the same",
  );
}

/** Refuses machine code that this machine cannot run. */
function checkPlatform({ package: of, file, sha256 }: WheelContent): void {
  // A file that was renamed is known by its hash.
  const pinned = Object.entries(of.wheels).find((it) => it[1] === sha256);
  const foreign = foreignPlatform(of, pinned?.[0] ?? file);
  if (foreign === undefined) return;
  throw new InstallError(
    `'${file}' is for ${foreign}, expected one for ${platform()}`,
  );
}

/**
 * Returns the place of an entry: licence files are kept beside what is wanted.
 */
function placeOf(entry: string, { name, place }: PinnedPackage) {
  // Some wheels list their folders too.
  if (entry.endsWith("/")) return undefined;
  const isLicence =
    /\.dist-info\/(licenses\/)?[^/]*(LICEN[CS]E|NOTICE|COPYING)/i
      .test(entry);
  return isLicence ? `licenses/${name}/${fileName(entry)}` : place(entry);
}

/**
 * Checks a wheel and takes the wanted files out of it.
 *
 * @param path The wheel's file.
 * @param of The package that it is of.
 * @param allowOtherVersion True where its hash may be another than the pinned
 * ones.
 * @throws {InstallError} If it cannot be read, is of another version or for
 * another platform, or is no archive.
 */
export async function readWheel(
  path: string,
  of: PinnedPackage,
  allowOtherVersion = false,
): Promise<WheelContent> {
  let bytes: Uint8Array;
  try {
    bytes = await Deno.readFile(path);
  } catch {
    throw new InstallError(`cannot read the wheel '${path}'`);
  }
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const files = new Map<string, FileSource>();
  const content = { package: of, file: fileName(path), sha256, files };
  checkPlatform(content);
  if (!allowOtherVersion) checkHash(content);
  let entries: Record<string, Uint8Array>;
  try {
    entries = unzipSync(bytes, { filter: ({ name }) => !!placeOf(name, of) });
  } catch (error) {
    throw new InstallError(
      `cannot unzip '${path}' (${(error as Error).message})`,
    );
  }
  for (const [entry, data] of Object.entries(entries)) {
    files.set(placeOf(entry, of)!, data);
  }
  return content;
}
