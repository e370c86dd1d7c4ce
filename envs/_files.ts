/**
 * Tells a missing permission as what it is: otherwise it reads as if what cannot
 * be looked at was not there. Other errors are left to the caller.
 *
 * @param error What was thrown.
 * @param action What could not be done, such as `read the file 'a'`.
 * @param flag The flag that permits it.
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
