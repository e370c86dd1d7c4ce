/**
 * Invalid input of the user: the message is one line that says what was wrong and what
 * was expected. The command line prints it and exits with 2.
 *
 * @example
 * ```ts
 * import { UsageError } from "@bellman/runs";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new UsageError("Cannot read steps 'many': expected an integer");
 * assertEquals(error.name, "UsageError");
 * ```
 */
export class UsageError extends Error {
  /** Name of the error class. */
  override name = "UsageError";

  /**
   * Creates an error.
   *
   * @param message One line; line breaks in quoted text become spaces.
   * @param options The cause.
   */
  constructor(message: string, options?: ErrorOptions) {
    super(message.replaceAll(/\s*[\r\n]\s*/g, " "), options);
  }
}
