/**
 * What a person gave cannot be used: the message is one line that says what
 * was wrong and what was expected. The command line prints it and exits with 2.
 *
 * @example
 * ```ts
 * import { UsageError } from "@bellman/cli";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new UsageError("Cannot read steps 'many': expected an integer");
 * assertEquals(error.name, "UsageError");
 * ```
 */
export class UsageError extends Error {
  /** The name that distinguishes this error from others. */
  override name = "UsageError";

  /**
   * Makes an error.
   *
   * @param message What was wrong and what was expected; line breaks in what is quoted there become spaces.
   * @param options What caused it.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message.replaceAll(/\s*[\r\n]\s*/g, " "), options);
  }
}
