import { parse } from "@std/yaml";
import { UsageError } from "../terminal/usage_error.ts";
import type { Entry } from "./settings.ts";

/** Most values of a text, those that its anchors repeat included. */
const MOST_VALUES = 1_000_000;

/**
 * Parses YAML of which nothing is known: anchors may represent more values than
 * memory holds, or lead in a circle.
 *
 * @param text The text.
 * @param options Most values, those that anchors repeat included, and the schema:
 * `core` has no dates, bytes and sets.
 * @throws {Error} If it is no YAML, or too much.
 */
export function parseYaml(
  text: string,
  { mostValues = MOST_VALUES, schema = "default" }: {
    mostValues?: number;
    schema?: "default" | "core";
  } = {},
): unknown {
  const value = parse(text, { schema });
  const rest: unknown[] = [value];
  for (let count = 1; rest.length > 0; count++) {
    const next = rest.pop();
    if (typeof next === "object" && next !== null) {
      for (const inner of Object.values(next)) rest.push(inner);
    }
    if (count + rest.length > mostValues) {
      throw new SyntaxError(
        `it has more than ${
          mostValues.toLocaleString("en-US")
        } values, counting those that its anchors repeat`,
      );
    }
  }
  return value;
}

/** Parses a YAML mapping. */
export function parseMapping(text: string, origin: string): Entry[] {
  let value: unknown;
  try {
    value = parseYaml(text);
  } catch (error) {
    const reason = (error as Error).message.split("\n")[0];
    throw new UsageError(`Cannot read ${origin} as YAML: ${reason}`);
  }
  if (value === null || value === undefined) return [];
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new UsageError(
      `Cannot read ${origin}: expected a mapping of keys to values, such as 'numEnvs: 8'`,
    );
  }
  return Object.entries(value);
}
