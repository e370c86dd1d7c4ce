import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { InstallError, type PinnedPackage } from "./pinned_package.ts";
import type { FileSource, WheelContent } from "./wheels.ts";

/** A package that was installed. */
export interface InstalledPackage {
  /** Its name. */
  name: string;
  /** Its version as pinned. */
  version: string;
  /** The wheel's file name. */
  wheel: string;
  /** The wheel's SHA-256. */
  sha256: string;
  /** Bytes of its files by their places. */
  files: Record<string, number>;
}

/** An installed folder, or what is in its place, as it was found. */
export interface FoundFolder {
  /** Its path. */
  dir: string;
  /** Packages that it says it holds; undefined if it is none of ours. */
  packages?: InstalledPackage[];
  /** Bytes of all files in it by their places; one thing if it is none of ours. */
  files: ReadonlyMap<string, number>;
}

/** The file that marks a folder as ours, with what is in it. */
const MANIFEST = "installed.json";
const HELP = "give an empty or new folder with --dir";

/** Adds the files below a folder, with their bytes. */
async function addFiles(
  files: Map<string, number>,
  dir: string,
  below = "",
): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(`${dir}/${below}`)) {
    const place = `${below}${name}`;
    if (isDirectory) await addFiles(files, dir, `${place}/`);
    else files.set(place, (await Deno.lstat(`${dir}/${place}`)).size);
  }
}

function isInstalledPackage(value: unknown): value is InstalledPackage {
  if (typeof value !== "object" || value === null) return false;
  const { files, ...texts } = value as InstalledPackage;
  return ["name", "version", "wheel", "sha256"].every((key) =>
    typeof texts[key as keyof typeof texts] === "string"
  ) && typeof files === "object" && files !== null;
}

function parseManifest(text: string): InstalledPackage[] | undefined {
  try {
    const { packages } = JSON.parse(text);
    const isRight = Array.isArray(packages) && packages.length > 0 &&
      packages.every(isInstalledPackage);
    return isRight ? packages : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Looks at what is in a folder.
 *
 * @throws {InstallError} If what it says that it holds cannot be understood, or
 * it is no folder.
 */
export async function findFolder(dir: string): Promise<FoundFolder> {
  const files = new Map<string, number>();
  if (!existsSync(dir)) return { dir, files };
  if (!(await Deno.stat(dir)).isDirectory) {
    throw new InstallError(`'${dir}' is no folder: ${HELP}`);
  }
  const manifest = `${dir}/${MANIFEST}`;
  if (!existsSync(manifest)) {
    // What belongs to others may be a whole disk: one thing of it will do.
    for await (const { name } of Deno.readDir(dir)) {
      return { dir, files: files.set(name, 0) };
    }
    return { dir, files };
  }
  await addFiles(files, dir);
  const packages = parseManifest(await Deno.readTextFile(manifest));
  if (packages !== undefined) return { dir, packages, files };
  throw new InstallError(
    `'${manifest}' is damaged: remove that folder, or ${HELP}`,
  );
}

/**
 * Checks that a folder may be replaced, as it is empty or holds nothing but what
 * was installed of some packages.
 *
 * @throws {InstallError} If something would be lost.
 */
export function checkReplaceable(
  { dir, packages, files }: FoundFolder,
  ours: readonly PinnedPackage[],
): void {
  if (files.size === 0) return;
  if (packages === undefined) {
    throw new InstallError(`'${dir}' holds other files: ${HELP}`);
  }
  const other = packages.find(({ name }) =>
    !ours.some((it) => it.name === name)
  );
  if (other !== undefined) {
    throw new InstallError(`'${dir}' holds ${other.name}: ${HELP}`);
  }
  const listed = new Set(packages.flatMap((it) => Object.keys(it.files)));
  const strange = [...files.keys()].find((it) =>
    it !== MANIFEST && !listed.has(it)
  );
  if (strange === undefined) return;
  throw new InstallError(
    `'${dir}/${strange}' is not listed in its ${MANIFEST} and would be lost: move it away, or ${HELP}`,
  );
}

/**
 * Returns the installed files of a package, as if they came out of its wheel.
 * Links are left out: each installation makes its own.
 *
 * @param found The folder.
 * @param of The package.
 * @param installed Entry of the folder's manifest.
 */
export async function installedContent(
  { dir }: FoundFolder,
  of: PinnedPackage,
  { wheel, sha256, files: listed }: InstalledPackage,
): Promise<WheelContent> {
  const files = new Map<string, FileSource>();
  for (const place of Object.keys(listed)) {
    const copyOf = `${dir}/${place}`;
    const { isSymlink } = await Deno.lstat(copyOf);
    if (!isSymlink) files.set(place, { copyOf });
  }
  return { package: of, file: wheel, sha256, files };
}

/**
 * Returns a folder and those above it that are not there, the innermost first.
 */
function missingFolders(dir: string): string[] {
  const missing: string[] = [];
  for (let at = dir; !existsSync(at); at = dirname(at)) missing.push(at);
  return missing;
}

async function removeEmpty(folders: readonly string[]): Promise<void> {
  for (const it of folders) {
    try {
      await Deno.remove(it);
    } catch {
      return; // It was not made, or someone else uses it by now.
    }
  }
}

/**
 * Runs with a new folder beside `dir`, which is gone afterwards. Folders that
 * had to be made for it are gone too where that fails.
 */
export async function withFolderBeside<T>(
  dir: string,
  run: (folder: string) => Promise<T>,
): Promise<T> {
  const parent = dirname(dir);
  const missing = missingFolders(parent);
  try {
    await Deno.mkdir(parent, { recursive: true });
    return await withFolderIn(parent, run);
  } catch (error) {
    await removeEmpty(missing);
    throw error;
  }
}

async function withFolderIn<T>(
  parent: string,
  run: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await Deno.makeTempDir({ dir: parent, prefix: ".bellman-" });
  try {
    return await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Programs among the files, which are to be run. */
const PROGRAM = /(^|\/)bin\/[^/]+$/;

/** Writes a file; returns its bytes. */
async function writeFile(path: string, source: FileSource): Promise<number> {
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  if (source instanceof Uint8Array) await Deno.writeFile(path, source);
  else if ("copyOf" in source) await Deno.copyFile(source.copyOf, path);
  else await Deno.symlink(source.linkTo, path);
  const { size, isFile } = await Deno.lstat(path);
  const isProgram = isFile && PROGRAM.test(path);
  if (isProgram && Deno.build.os !== "windows") await Deno.chmod(path, 0o755);
  return size;
}

/** Writes wheels, one in memory at a time, and the manifest. */
async function writeAll(
  folder: string,
  wheels: AsyncIterable<WheelContent>,
): Promise<void> {
  const packages: InstalledPackage[] = [];
  for await (
    const { package: { name, version }, file, sha256, files } of wheels
  ) {
    const sizes: Record<string, number> = {};
    for (const [place, source] of files) {
      sizes[place] = await writeFile(`${folder}/${place}`, source);
    }
    packages.push({ name, version, wheel: file, sha256, files: sizes });
  }
  const text = JSON.stringify({ packages }, null, 2) + "\n";
  await Deno.writeTextFile(`${folder}/${MANIFEST}`, text);
}

/**
 * Returns the folder that a path stands for: that which a link leads to, so
 * that links stay.
 *
 * @throws {InstallError} If a link leads nowhere.
 */
export async function realFolder(dir: string): Promise<string> {
  try {
    await Deno.lstat(dir);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return dir;
    throw error;
  }
  try {
    return await Deno.realPath(dir);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new InstallError(`'${dir}' is a link that leads nowhere: ${HELP}`);
  }
}

/**
 * Makes `dir` hold exactly the files of some wheels. They are written into
 * `temporary` and moved at the end: `dir` is whole or as it was. A folder that is
 * there stays, as a shell may be in it.
 *
 * @param dir The folder.
 * @param wheels Contents of the folder, asked for one after the other.
 * @param temporary A folder on the same disk.
 */
export async function replaceFolder(
  dir: string,
  wheels: AsyncIterable<WheelContent>,
  temporary: string,
): Promise<void> {
  const fresh = `${temporary}/fresh`;
  const old = `${temporary}/old`;
  await Deno.mkdir(fresh);
  await Deno.mkdir(old);
  await writeAll(fresh, wheels);
  if (!existsSync(dir)) return await Deno.rename(fresh, dir);
  await moveAll(dir, old);
  try {
    await moveAll(fresh, dir);
  } catch (error) {
    await moveAll(old, dir);
    throw error;
  }
}

/** Moves all that is in a folder into another one, or nothing if that fails. */
async function moveAll(from: string, to: string): Promise<void> {
  const names = [...Deno.readDirSync(from)].map(({ name }) => name);
  const moved: string[] = [];
  try {
    for (const name of names) {
      await Deno.rename(`${from}/${name}`, `${to}/${name}`);
      moved.push(name);
    }
  } catch (error) {
    for (const name of moved) {
      await Deno.rename(`${to}/${name}`, `${from}/${name}`);
    }
    throw error;
  }
}
