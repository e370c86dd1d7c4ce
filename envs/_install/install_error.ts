/** A failed installation, told to the user in one line. */
export class InstallError extends Error {
  override name = "InstallError";
}
