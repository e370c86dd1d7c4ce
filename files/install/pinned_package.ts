/**
 * A failed installation, told to the user in one line.
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

/** A package of PyPI in one version, whose wheels are known by their hashes. */
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
   * True where machine code is taken, so that only wheels for the machine's own
   * platform will do.
   *
   * @default false
   */
  isNative?: boolean;
  /**
   * Returns the place of a wheel's entry in the installed folder; undefined for
   * entries that are left out. Licence files are kept anyway.
   */
  place(entry: string): string | undefined;
  /** Files that must be in the installed folder. */
  files: readonly string[];
  /** Name of what it brings, such as `library`. */
  what: string;
  /**
   * File or folder of that in the installed folder.
   *
   * @default none: it is of use to another package alone, and not told
   */
  at?: string;
  /**
   * The variable of the environment that points to one's own copy: where it is
   * set and no wheel fits the platform, the package is left out.
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
  return `${Deno.build.os}-${Deno.build.arch}`;
}

/**
 * Returns the distribution name in a wheel's file name, as
 * `multi_agent_ale_py`.
 */
export function distributionName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, "_");
}

/** Names of systems and machines in the tags of wheels. */
const SYSTEMS: readonly [RegExp, name: string][] = [
  [/^(many|musl)?linux/, "linux"],
  [/^macosx/, "darwin"],
  [/^win/, "windows"],
];
const MACHINES: readonly [RegExp, name: string][] = [
  [/(x86_64|amd64)$/, "x86_64"],
  [/(aarch64|arm64)$/, "aarch64"],
];

function nameOf(tag: string, names: readonly [RegExp, string][]) {
  return names.find(([pattern]) => pattern.test(tag))?.[1];
}

/**
 * Returns the platform that a wheel is for, as its file name says.
 *
 * @param file Such as `toy_box-1.0-cp312-cp312-win_amd64.whl`.
 * @returns Such as `windows-x86_64`; undefined if it names none that we know,
 * as a wheel for any platform does.
 * @example
 * ```ts
 * import { wheelPlatform } from "@bellman/files/install";
 * import { assertEquals } from "@std/assert";
 *
 * const file = "toy_box-1.0-cp312-cp312-win_amd64.whl";
 * assertEquals(wheelPlatform(file), "windows-x86_64");
 * ```
 */
export function wheelPlatform(file: string): string | undefined {
  // A wheel for several versions of a system has a tag for each.
  const [tag] = file.replace(/\.whl$/, "").split("-").at(-1)!.split(".");
  const system = nameOf(tag, SYSTEMS), machine = nameOf(tag, MACHINES);
  return system && machine && `${system}-${machine}`;
}

/**
 * Returns the wheel of a package to take: of machine code, the first for a
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
  { wheels, isNative }: Pick<PinnedPackage, "wheels" | "isNative">,
  on: string = platform(),
): string | undefined {
  const files = Object.keys(wheels);
  return isNative ? files.find((it) => wheelPlatform(it) === on) : files[0];
}

/**
 * Returns the other platform that a package's wheel is for, where that matters.
 *
 * @param of The package.
 * @param file The wheel's file name.
 */
export function foreignPlatform(
  { isNative }: PinnedPackage,
  file: string,
): string | undefined {
  const found = isNative ? wheelPlatform(file) : undefined;
  return found === platform() ? undefined : found;
}
