import { openPlainSync } from "@bellman/files";
import { parse } from "@std/yaml";
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { fileProblem, messageOf, UsageError } from "../terminal/errors.ts";

/** Most values of a text, those that its anchors repeat included. */
const MOST_VALUES = 1_000_000;

/**
 * Parses YAML of which nothing is known: anchors may represent more values than
 * memory holds, or lead in a circle.
 *
 * @throws {Error} If it is no YAML, or too much.
 */
export function parseYaml(text: string): unknown {
  const value = parse(text);
  const rest: unknown[] = [value];
  for (let count = 1; rest.length > 0; count++) {
    const next = rest.pop();
    if (typeof next === "object" && next !== null) {
      for (const inner of Object.values(next)) rest.push(inner);
    }
    if (count + rest.length > MOST_VALUES) {
      throw new SyntaxError(
        `it has more than ${
          MOST_VALUES.toLocaleString("en-US")
        } values, counting those that its anchors repeat`,
      );
    }
  }
  return value;
}

/** Most bytes of a file of settings. */
const MOST_BYTES = 1 << 26;

/** Reads a text file, or fails with one line that names it. */
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
