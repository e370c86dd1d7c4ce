import { parseText, toText } from "../folder/yaml_text.ts";
import { UsageError } from "../program/usage_error.ts";
import type { Entry } from "./settings.ts";

/** Largest number of values in a text, including those that anchors repeat. */
const MOST_VALUES = 1_000_000;

/**
 * Parses untrusted YAML: anchors may represent more values than fit into memory, or
 * form a cycle.
 *
 * @param text The text.
 * @param options Largest number of values, including repeated ones, and the schema:
 * `core` has no dates, bytes and sets.
 * @throws {Error} If it is not YAML, or too large.
 *
 * @example
 * ```ts
 * import { parseYaml } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseYaml("hiddenSizes: [64, 64]"), { hiddenSizes: [64, 64] });
 * ```
 */
export function parseYaml(
  text: string,
  { mostValues = MOST_VALUES, schema = "default" }: {
    mostValues?: number;
    schema?: "default" | "core";
  } = {},
): unknown {
  const value = parseText(text, schema);
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

/** Texts that YAML 1.1 may parse as numbers, such as `1_000`, and YAML 1.2 as texts. */
const AMBIGUOUS = /^[-+]?[.\d][\w.:+-]*_[\w.:+-]*$/;

/**
 * Writes YAML with the same meaning in 1.1 (as in PyYAML) and 1.2: `1_000` is quoted if
 * it is a text, and 1e22 has a point.
 *
 * @param value Plain data.
 *
 * @example
 * ```ts
 * import { writeYaml } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(writeYaml({ seed: 1, name: "1_000" }), "seed: 1\nname: '1_000'\n");
 * ```
 */
export function writeYaml(value: unknown): string {
  const scalars: string[] = [];
  // Placeholders for scalars until all is written.
  const stand = (scalar: string) => `\uE000${scalars.push(scalar) - 1}\uE001`;
  const prepare = (node: unknown): unknown => {
    if (typeof node === "string") {
      if (node.includes("\uE000")) return stand(JSON.stringify(node));
      return AMBIGUOUS.test(node) ? stand(`'${node}'`) : node;
    }
    if (typeof node === "number" && Number.isInteger(node)) {
      const digits = String(node);
      return digits.includes("e")
        ? stand(digits.replace(/^(-?\d+)e/, "$1.e"))
        : node;
    }
    if (Array.isArray(node)) return node.map(prepare);
    if (typeof node !== "object" || node === null) return node;
    return Object.fromEntries(
      Object.entries(node).map((
        [key, inner],
      ) => [prepare(key) as string, prepare(inner)]),
    );
  };
  return toText(prepare(value))
    .replaceAll(/\uE000(\d+)\uE001/g, (_, at) => scalars[at]);
}

/**
 * Parses a YAML mapping.
 *
 * @example
 * ```ts
 * import { parseMapping } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseMapping("numEnvs: 8", "mine.yaml"), [["numEnvs", 8]]);
 * ```
 */
export function parseMapping(text: string, origin: string): Entry[] {
  let value: unknown;
  try {
    // Numbers of YAML 1.1 that are tagged as such.
    const plain = text.replaceAll(
      /!!(float|int)\s+[\d_.e+-]+/gi,
      (it) => it.replaceAll("_", ""),
    );
    value = parseYaml(plain);
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
