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
