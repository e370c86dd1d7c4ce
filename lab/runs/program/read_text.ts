import { openPlainSync } from "@bellman/files";
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { fileProblem, messageOf, UsageError } from "./errors.ts";

/** Largest size of a settings file in bytes. */
const MOST_BYTES = 1 << 26;

/**
 * Reads a text file; errors are one line with its name.
 *
 * @example
 * ```ts
 * import { readText, UsageError } from "@bellman/runs/program";
 * import { assertThrows } from "@std/assert";
 *
 * assertThrows(() => readText("no/plan.yaml", "the plan"), UsageError);
 * ```
 */
export function readText(path: string, what: string): string {
  try {
    const file = openPlainSync(path, "read");
    try {
      const { size } = fstatSync(file);
      if (size > MOST_BYTES) {
        throw new Error(`it has ${size} bytes, expected some thousand`);
      }
      return readFileSync(file, "utf8");
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const why = messageOf(error).replace(`Cannot open ${path}: `, "");
    throw new UsageError(
      `Cannot read ${what} ${path}: ${fileProblem(error) ?? why}`,
      { cause: error },
    );
  }
}
