/**
 * Reports a missing permission, which otherwise reads as a missing file. Other
 * errors are left to the caller.
 *
 * @param error Error that was thrown.
 * @param action Action that failed, such as `read the file 'a'`.
 * @param flag Flag that permits it.
 * @throws {Deno.errors.NotCapable} If it is a missing permission.
 */
export function tellPermission(
  error: unknown,
  action: string,
  flag: string,
): void {
  if (!(error instanceof Deno.errors.NotCapable)) return;
  throw new Deno.errors.NotCapable(
    `Cannot ${action}: it needs the permission ${flag}`,
  );
}

/**
 * Finds out if there is a file.
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
