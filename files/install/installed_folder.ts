import { existsSync, lstatSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { InstallError, isPinned, type PinnedPackage } from "./wheels.ts";
import type { WheelContent } from "./wheels.ts";

/** A package that was installed, as the folder's manifest lists it. */
export interface InstalledPackage {
  /** Its name. */
  name: string;
  /** Its version as pinned. */
  version: string;
  /** The wheel's file name. */
  wheel: string;
  /** The wheel's SHA-256. */
  sha256: string;
  /** Bytes of its files by path. */
  files: Record<string, number>;
}

/** The file that marks a folder as ours, with its content. */
const MANIFEST = "installed.json";
const HELP = "give an empty or new folder with --dir";

/**
 * Returns the packages in a folder's manifest; none if it is empty or does not
 * exist.
 *
 * @throws {InstallError} If it is not ours, or is damaged.
 */
export function installedPackages(dir: string): InstalledPackage[] {
  if (!lstatSync(dir, { throwIfNoEntry: false })) return [];
  if (!existsSync(dir)) {
    throw new InstallError(`'${dir}' is a link that leads nowhere: ${HELP}`);
  }
  if (!Deno.statSync(dir).isDirectory) {
    throw new InstallError(`'${dir}' is no folder: ${HELP}`);
  }
  const manifest = `${dir}/${MANIFEST}`;
  if (!existsSync(manifest)) {
    if ([...Deno.readDirSync(dir)].length === 0) return [];
    throw new InstallError(`'${dir}' holds other files: ${HELP}`);
  }
  try {
    const { packages } = JSON.parse(Deno.readTextFileSync(manifest));
    const isRight = ({ name, sha256, files }: InstalledPackage) =>
      typeof name === "string" && typeof sha256 === "string" &&
      Object.values(files).every(Number.isInteger);
    if (packages.length > 0 && packages.every(isRight)) return packages;
  } catch {
    // Reported below, with other damage.
  }
  throw new InstallError(
    `'${manifest}' is damaged: remove that folder, or ${HELP}`,
  );
}

/** True where a folder holds a complete package, from a pinned wheel. */
export function isWhole(
  dir: string,
  installed: readonly InstalledPackage[],
  of: PinnedPackage,
): boolean {
  const files = installed.find(({ name, sha256 }) =>
    name === of.name && isPinned(of, sha256)
  )?.files;
  return files !== undefined && of.files.every((it) => it in files) &&
    Object.entries(files).every(([place, size]) =>
      lstatSync(`${dir}/${place}`, { throwIfNoEntry: false })?.size === size
    );
}

/**
 * Checks that a folder holds only files of the installed packages, so that it may be
 * replaced.
 *
 * @throws {InstallError} If something would be lost.
 */
export function checkReplaceable(
  dir: string,
  installed: readonly InstalledPackage[],
  ours: readonly PinnedPackage[],
): void {
  const other = installed.find(({ name }) =>
    !ours.some((it) => it.name === name)
  );
  if (other) throw new InstallError(`'${dir}' holds ${other.name}: ${HELP}`);
  if (installed.length === 0) return;
  const listed = new Set(installed.flatMap((it) => Object.keys(it.files)));
  const strange = readdirSync(dir, { recursive: true })
    .map((it) => String(it).replaceAll("\\", "/")).find((it) =>
      it !== MANIFEST && !listed.has(it) &&
      !lstatSync(`${dir}/${it}`).isDirectory()
    );
  if (strange === undefined) return;
  throw new InstallError(
    `'${dir}/${strange}' is not listed in its ${MANIFEST} and would be lost: move it away, or ${HELP}`,
  );
}

/** Executable files. */
const PROGRAM = /(^|\/)bin\/[^/]+$/;

/** Writes the files of a wheel; returns its entry for the manifest. */
async function writeContent(
  dir: string,
  { package: { name, version }, file, sha256, files }: WheelContent,
): Promise<InstalledPackage> {
  const sizes: Record<string, number> = {};
  for (const [place, bytes] of files) {
    const path = `${dir}/${place}`;
    await Deno.mkdir(dirname(path), { recursive: true });
    const mode = PROGRAM.test(place) ? 0o755 : undefined;
    await Deno.writeFile(path, bytes, { mode });
    sizes[place] = bytes.length;
  }
  return { name, version, wheel: file, sha256, files: sizes };
}

/** Replaces a folder by another one on the same disk, or leaves it as it was. */
function replaceFolder(dir: string, fresh: string, old: string): void {
  const isThere = existsSync(dir);
  if (isThere) Deno.renameSync(dir, old);
  try {
    Deno.renameSync(fresh, dir);
  } catch (error) {
    if (isThere) Deno.renameSync(old, dir);
    throw error;
  }
}

/**
 * Replaces the content of `dir` with the files of some wheels, atomically: they are
 * written into a folder next to it, which replaces it at the end.
 *
 * @param dir The folder.
 * @param contents Contents of the wheels, given a folder for downloads: iterated one
 * by one, as one is in memory at a time.
 */
export async function fillFolder(
  dir: string,
  contents: (downloads: string) => AsyncIterable<WheelContent>,
): Promise<void> {
  // A link to a folder stays; its target is replaced.
  const target = existsSync(dir) ? Deno.realPathSync(dir) : dir;
  const parent = dirname(target);
  await Deno.mkdir(parent, { recursive: true });
  const beside = await Deno.makeTempDir({ dir: parent, prefix: ".bellman-" });
  try {
    const fresh = `${beside}/fresh`, packages: InstalledPackage[] = [];
    await Deno.mkdir(fresh);
    for await (const content of contents(beside)) {
      packages.push(await writeContent(fresh, content));
    }
    const text = JSON.stringify({ packages }, null, 2) + "\n";
    await Deno.writeTextFile(`${fresh}/${MANIFEST}`, text);
    replaceFolder(target, fresh, `${beside}/old`);
  } finally {
    await Deno.remove(beside, { recursive: true });
  }
}
