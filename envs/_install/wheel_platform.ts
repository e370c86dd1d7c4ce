import { type PinnedPackage, platform } from "./pinned_package.ts";

/** How the tags of wheels name systems and machines. */
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
 * The platform that a wheel is for, as its file name says.
 *
 * @param file Such as `toy_box-1.0-cp312-cp312-win_amd64.whl`.
 * @returns Such as `windows-x86_64`; undefined if it names none that we know,
 * as a wheel for any platform does.
 */
export function wheelPlatform(file: string): string | undefined {
  // A wheel for several versions of a system has a tag for each.
  const [tag] = file.replace(/\.whl$/, "").split("-").at(-1)!.split(".");
  const system = nameOf(tag, SYSTEMS), machine = nameOf(tag, MACHINES);
  return system && machine && `${system}-${machine}`;
}

/**
 * The other platform that a package's wheel is for, where that matters.
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
