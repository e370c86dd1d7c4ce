import { execFile } from "node:child_process";
import { promisify } from "node:util";

/**
 * Returns the commit of a folder, short or full; empty if there is none.
 *
 * @example
 * ```ts
 * import { commitOf } from "@bellman/runs/tasks";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(await commitOf(await Deno.makeTempDir()), "");
 * ```
 */
export async function commitOf(
  cwd: string,
  { isShort = true } = {},
): Promise<string> {
  try {
    const args = ["rev-parse", ...isShort ? ["--short"] : [], "HEAD"];
    const { stdout } = await promisify(execFile)("git", args, { cwd });
    return stdout.trim();
  } catch {
    // Git is missing, or not permitted.
    return "";
  }
}
