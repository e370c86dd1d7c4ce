import { tellPermission } from "./_permission.ts";

/**
 * Whether there is a file.
 *
 * @throws {Deno.errors.NotCapable} If it is not permitted to look.
 */
export function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    tellPermission(error, `look for '${path}'`, `--allow-read=${path}`);
    return false;
  }
}
