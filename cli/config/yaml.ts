import { parse } from "@std/yaml";

/** Most values of a text, those that its anchors repeat included. */
const MOST_VALUES = 1_000_000;

/**
 * Parses YAML of which nothing is known: anchors may stand for more values than
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
