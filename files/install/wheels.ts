import { createHash } from "node:crypto";
import { unzipSync } from "fflate";
import { platform as hostPlatform } from "../host.ts";

/**
 * A failed installation, reported to the user in one line.
 *
 * @example
 * ```ts
 * import { InstallError } from "@bellman/files/install";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(new InstallError("no wheel").message, "no wheel");
 * ```
 */
export class InstallError extends Error {
  /** Name of the class. */
  override name = "InstallError";
}

/** One version of a PyPI package, with the hashes of its wheels. */
export interface PinnedPackage {
  /** Its name, such as `ale-py`. */
  name: string;
  /** Its version, such as `0.12.1`. */
  version: string;
  /** Purpose and licence, in one line. */
  licence: string;
  /** SHA-256 of its wheels by file name. */
  wheels: Readonly<Record<string, string>>;
  /**
   * True for machine code, which needs a wheel for this platform.
   *
   * @default false
   */
  isNative?: boolean;
  /**
   * Returns the path of a wheel's entry in the installed folder; undefined for skipped
   * entries. Licence files are always kept.
   */
  place(entry: string): string | undefined;
  /** Files that must be in the installed folder. */
  files: readonly string[];
  /** Name of what it brings, such as `library`. */
  what: string;
  /**
   * File or folder of that in the installed folder.
   *
   * @default none: only another package uses it, and it is not printed
   */
  at?: string;
  /**
   * The environment variable that points to a custom copy: where it is set and no wheel
   * fits the platform, the package is skipped.
   */
  variable: string;
}

/**
 * Names the machine's platform, such as `linux-x86_64`.
 *
 * @example
 * ```ts
 * import { platform } from "@bellman/files/install";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(platform(), `${Deno.build.os}-${Deno.build.arch}`);
 * ```
 */
export function platform(): string {
  const { os, arch } = hostPlatform();
  return `${os}-${arch}`;
}

/** Suffixes of wheels' names, by the platform of their machine code. */
const ENDS: Readonly<Record<string, RegExp>> = {
  "linux-x86_64": /linux_\w+_x86_64\.whl$/,
  "linux-aarch64": /linux_\w+_aarch64\.whl$/,
  "darwin-x86_64": /macosx_\w+_(x86_64|universal2)\.whl$/,
  "darwin-aarch64": /macosx_\w+_(arm64|universal2)\.whl$/,
  "windows-x86_64": /win_amd64\.whl$/,
  "windows-aarch64": /win_arm64\.whl$/,
};

/** True where a package's wheel of that file name fits a platform. */
function isFor(
  on: string,
  file: string,
  { isNative }: Pick<PinnedPackage, "isNative">,
): boolean {
  return !isNative || file.endsWith("-any.whl") || !!ENDS[on]?.test(file);
}

/**
 * Returns the wheel of a package to install: for machine code the first for a
 * platform, whatever Python the machine has.
 *
 * @param of The package's wheels, and whether they are of machine code.
 * @param on The platform.
 * @example
 * ```ts
 * import { wheelFor } from "@bellman/files/install";
 * import { assertEquals } from "@std/assert";
 *
 * const wheels = { "toy_box-1.0-cp312-cp312-win_amd64.whl": "" };
 * const toys = { wheels, isNative: true };
 * assertEquals(wheelFor(toys, "linux-x86_64"), undefined);
 * ```
 */
export function wheelFor(
  of: Pick<PinnedPackage, "wheels" | "isNative">,
  on: string = platform(),
): string | undefined {
  return Object.keys(of.wheels).find((file) => isFor(on, file, of));
}

/** True where a hash is that of a pinned wheel that this machine can use. */
export function isPinned(of: PinnedPackage, sha256: string): boolean {
  return Object.entries(of.wheels).some(([file, hash]) =>
    hash === sha256 && isFor(platform(), file, of)
  );
}

/** Returns the line of pip's output with the error. */
function reason(stderr: Uint8Array): string {
  const lines = new TextDecoder().decode(stderr).trim().split("\n");
  return lines.findLast((line) => line.startsWith("ERROR:")) ?? lines.at(-1)!;
}

/**
 * Downloads the pinned wheel for this platform with `pip download`, which knows
 * mirrors and proxies. Its hash is checked when it is read.
 *
 * @param wanted The package.
 * @param folder Folder of the wheel.
 * @param signal Ends pip where it is aborted, which throws its reason.
 * @returns The wheel's file.
 * @throws {Error} If no wheel fits, Python cannot be run, or pip fails.
 */
export async function downloadWheel(
  wanted: PinnedPackage,
  folder: string,
  signal?: AbortSignal,
): Promise<string> {
  const release = `${wanted.name} ${wanted.version}`, file = wheelFor(wanted);
  if (file === undefined) {
    throw new Error(
      `there is no wheel of ${release} for ${platform()}: set ${wanted.variable} to your own copy`,
    );
  }
  const [tag, abi, platforms] = file.replace(".whl", "").split("-").slice(-3);
  const version = tag.slice(2);
  const python = Deno.build.os === "windows" ? "python" : "python3";
  const command = new Deno.Command(python, {
    args: [
      ...["-m", "pip", "download", "--quiet", "--no-deps"],
      ...["--disable-pip-version-check", "--only-binary", ":all:"],
      // They select exactly one wheel, whatever Python runs pip.
      ...["--implementation", tag.slice(0, 2), "--abi", abi],
      ...(version.length > 1 ? ["--python-version", version] : []),
      ...platforms.split(".").flatMap((name) => ["--platform", name]),
      ...["--dest", folder, `${wanted.name}==${wanted.version}`],
    ],
    stdin: "null",
    signal,
  });
  let output: Deno.CommandOutput;
  try {
    output = await command.output();
  } catch (error) {
    const [line] = (error as Error).message.split("\n");
    throw new Error(`cannot run ${python} (${line}): give wheels with --wheel`);
  }
  signal?.throwIfAborted();
  if (output.success) return `${folder}/${file}`;
  throw new Error(`pip cannot download ${release}: ${reason(output.stderr)}`);
}

/** Selected files of one wheel. */
export interface WheelContent {
  /** The package that the wheel is of. */
  package: PinnedPackage;
  /** The wheel's file name. */
  file: string;
  /** The wheel's SHA-256. */
  sha256: string;
  /** Bytes of files by their path in the installed folder. */
  files: Map<string, Uint8Array>;
}

const fileName = (path: string): string => path.split(/[\\/]/).at(-1)!;

/**
 * Returns the path of an entry: licence files are kept in addition to what is selected.
 */
function placeOf(entry: string, { name, place }: PinnedPackage) {
  // Some wheels also list folders.
  if (entry.endsWith("/")) return undefined;
  const isLicence =
    /\.dist-info\/(licenses\/)?[^/]*(LICEN[CS]E|NOTICE|COPYING)/i
      .test(entry);
  return isLicence ? `licenses/${name}/${fileName(entry)}` : place(entry);
}

/**
 * Checks a wheel and extracts the selected files.
 *
 * @param path The wheel's file, of any name: its hash identifies it.
 * @param packages Packages that it may be of.
 * @throws {InstallError} If it cannot be read, has another hash than the pinned
 * ones, or is for another platform.
 */
export async function readWheel(
  path: string,
  packages: readonly PinnedPackage[],
): Promise<WheelContent> {
  const bytes = await Deno.readFile(path).catch(() => {
    throw new InstallError(`cannot read the wheel '${path}'`);
  });
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const of = packages.find((it) => Object.values(it.wheels).includes(sha256));
  if (of === undefined) {
    const known = packages.map((it) => `${it.name} ${it.version}`).join(" or ");
    throw new InstallError(
      `'${path}' has the SHA-256 ${sha256}, which is that of no wheel of ${known}`,
    );
  }
  if (!isPinned(of, sha256)) {
    throw new InstallError(
      `'${path}' is for another platform, expected one for ${platform()}`,
    );
  }
  const filter = ({ name }: { name: string }) => !!placeOf(name, of);
  const files = Object.entries(unzipSync(bytes, { filter }))
    .map(([entry, data]) => [placeOf(entry, of)!, data] as const);
  return { package: of, file: fileName(path), sha256, files: new Map(files) };
}
