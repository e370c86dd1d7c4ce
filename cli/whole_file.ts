import { dirname, sep } from "node:path";
import { fileError } from "./input_errors.ts";
import { UsageError } from "./usage_error.ts";

async function isFolder(path: string): Promise<boolean> {
  if (path.endsWith("/") || path.endsWith(sep)) return true;
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch {
    return false;
  }
}

/**
 * Says before there is anything to write why a file could not be written.
 *
 * @param path Where it is to be.
 * @param what What it is, in words.
 * @throws {UsageError} If that is a folder, or in none that can be written to.
 */
export async function checkWritable(path: string, what: string): Promise<void> {
  if (await isFolder(path)) {
    throw new UsageError(
      `Cannot write ${what} to ${path}: expected a file, this is a folder`,
    );
  }
  const dir = dirname(path);
  try {
    await Deno.remove(await Deno.makeTempFile({ dir }));
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound
      ? "is not there"
      : "cannot be written to";
    throw new UsageError(
      `Cannot write ${what} to ${path}: the folder ${dir} ${why}`,
      { cause: error },
    );
  }
}

/**
 * Writes a file that is there only when it is whole: its presence tells that
 * the writing has ended, and one that was there is kept until then.
 */
export async function writeWhole(
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  const unfinished = `${path}.tmp`;
  try {
    if (typeof content === "string") {
      await Deno.writeTextFile(unfinished, content);
    } else await Deno.writeFile(unfinished, content);
    await Deno.rename(unfinished, path);
  } catch (error) {
    await Deno.remove(unfinished).catch(() => {});
    // The caller knows its own path, not the one that is written to first.
    throw fileError(error, path) ?? error;
  }
}
