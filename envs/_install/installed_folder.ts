import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { InstallError } from "./install_error.ts";
import type { WheelContent } from "./read_wheel.ts";

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
}

/** The file that marks a folder as ours, with what is in it. */
const MANIFEST = "installed.json";

/** What an installed folder says it holds, or undefined if it is none. */
export async function installedPackages(
  dir: string,
): Promise<InstalledPackage[] | undefined> {
  try {
    const text = await Deno.readTextFile(`${dir}/${MANIFEST}`);
    return JSON.parse(text).packages;
  } catch {
    return undefined;
  }
}

/** Whether a folder is absent or empty, so that nothing can be lost in it. */
async function isFree(dir: string): Promise<boolean> {
  try {
    for await (const _ of Deno.readDir(dir)) return false;
    return true;
  } catch (error) {
    return error instanceof Deno.errors.NotFound;
  }
}

/**
 * Checks that a folder may be replaced.
 *
 * @throws {InstallError} If it holds things that were not installed by us.
 */
export async function checkReplaceable(dir: string): Promise<void> {
  if (await installedPackages(dir) || await isFree(dir)) return;
  throw new InstallError(
    `'${dir}' holds other files: give an empty or new folder with --dir`,
  );
}

/** A folder and those above it that are not there, the innermost first. */
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

async function writeAll(folder: string, wheels: readonly WheelContent[]) {
  for (const { files } of wheels) {
    for (const [place, bytes] of files) {
      const path = `${folder}/${place}`;
      await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), {
        recursive: true,
      });
      await Deno.writeFile(path, bytes);
    }
  }
  const packages = wheels.map(({ package: { name, version }, file, sha256 }) =>
    ({ name, version, wheel: file, sha256 }) satisfies InstalledPackage
  );
  const text = JSON.stringify({ packages }, null, 2) + "\n";
  await Deno.writeTextFile(`${folder}/${MANIFEST}`, text);
}

/**
 * Makes `dir` hold exactly the files of some wheels. They are written into
 * `temporary`, which is renamed at the end: `dir` is whole or as it was.
 *
 * @param dir The folder.
 * @param wheels What goes into it.
 * @param temporary A folder on the same disk.
 */
export async function replaceFolder(
  dir: string,
  wheels: readonly WheelContent[],
  temporary: string,
): Promise<void> {
  const fresh = `${temporary}/fresh`;
  const old = `${temporary}/old`;
  await Deno.mkdir(fresh);
  await writeAll(fresh, wheels);
  const hadOne = await rename(dir, old);
  try {
    await Deno.rename(fresh, dir);
  } catch (error) {
    if (hadOne) await rename(old, dir);
    throw error;
  }
}

/** Renames a folder; whether there was one. */
async function rename(from: string, to: string): Promise<boolean> {
  try {
    await Deno.rename(from, to);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
