/**
 * Checks of settings against their schemas. They work in a page as well, where no
 * code may be made of text.
 */
import type { ConfigSchema, PropertySchema } from "@bellman/agent";
import { type Schema, validate } from "@cfworker/json-schema";
import { hintAt, UsageError } from "../terminal/usage_error.ts";
import { hintAtSetting } from "./elsewhere.ts";

/** Returns the aliases of a property. */
export function aliasesOf(property: PropertySchema): string[] {
  return (property.alias ?? "").split(",").map((name) => name.trim())
    .filter((name) => name !== "");
}

/** Finds a key by its own name or by an alias. */
export function findKey(
  schema: ConfigSchema,
  name: string,
): string | undefined {
  if (Object.hasOwn(schema.properties, name)) return name;
  return Object.keys(schema.properties).find((key) =>
    aliasesOf(schema.properties[key]).includes(name)
  );
}

/** Most keys of settings that are not those of a run. */
const FEW_KEYS = 16;

/** Suggests which key or alias was meant. */
function hintAtKey(schema: ConfigSchema, name: string): string {
  const names = Object.entries(schema.properties).flatMap((
    [key, property],
  ) => [key, ...aliasesOf(property)]);
  const hint = hintAt(name, names);
  // A few keys are listed.
  if (names.length <= FEW_KEYS) return hint;
  const known = hintAtSetting(name);
  if (known !== undefined) return known;
  return hint.startsWith("did")
    ? hint
    : "'train ALGORITHM --help' lists the keys";
}

function describeRange(property: PropertySchema): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = property;
  if (minimum !== undefined && maximum !== undefined) {
    return ` from ${minimum} to ${maximum}`;
  }
  const parts = [];
  if (minimum !== undefined) parts.push(`at least ${minimum}`);
  if (exclusiveMinimum !== undefined) parts.push(`above ${exclusiveMinimum}`);
  if (maximum !== undefined) parts.push(`at most ${maximum}`);
  if (exclusiveMaximum !== undefined) parts.push(`below ${exclusiveMaximum}`);
  const range = parts.join(" and ");
  if (range === "") return "";
  return range.startsWith("at ") ? ` of ${range}` : ` ${range}`;
}

const TYPE_WORDS: Record<string, string> = {
  integer: "an integer",
  number: "a number",
  string: "a text",
  boolean: "true or false",
  null: "null",
  object: "a mapping",
};

/** Describes the values of a property: `an integer of at least 1 or null`. */
export function describeProperty(property: PropertySchema): string {
  if (property.enum !== undefined) {
    const names = property.enum.map(String);
    return names.length === 1
      ? names[0]
      : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  }
  if (property.const !== undefined) return String(property.const);
  if (property.anyOf !== undefined) {
    return property.anyOf.map(describeProperty).join(" or ");
  }
  const types = property.type === undefined ? [] : [property.type].flat();
  const words = types.map((type) => {
    if (type === "array") {
      const item = property.items ? describeProperty(property.items) : "value";
      const { maxItems } = property;
      const most = maxItems === undefined ? "" : ` of at most ${maxItems}`;
      return `a list${most}, each ${item}`;
    }
    if (type === "integer" || type === "number") {
      const whole = type === "integer" || property.multipleOf === 1;
      const word = TYPE_WORDS[whole ? "integer" : "number"];
      const limit = property.limit === undefined ? "" : `, ${property.limit}`;
      return word + describeRange(property) + limit;
    }
    const entries = Object.entries(property.properties ?? {}).map((
      [key, it],
    ) => `${key}: ${describeProperty(it)}`);
    const which = entries.length === 0 ? "" : ` with ${entries.join("; ")};`;
    return (TYPE_WORDS[type] ?? type) + which;
  });
  return words.join(" or ");
}

function show(value: unknown): string {
  if (typeof value === "number") return String(value);
  return JSON.stringify(value) ?? String(value);
}

function checkValue(
  key: string,
  value: unknown,
  { property, origin }: { property: PropertySchema; origin: string },
): void {
  // A union with null lets NaN and infinity through.
  const finite = typeof value !== "number" || Number.isFinite(value);
  if (finite && validate(value, property as Schema).valid) return;
  const names = (property.enum ?? []).filter((it) => typeof it === "string");
  const guess = typeof value === "string" && names.length > 1
    ? hintAt(value, names as string[])
    : "";
  const isItem = property.type === "array" && typeof value === "number";
  const hint = guess.startsWith("did")
    ? `; ${guess}`
    : isItem
    ? `, as in [${value}, ${value}]`
    : "";
  throw new UsageError(
    `Cannot use ${key} = ${show(value)} of ${origin}: expected ${
      describeProperty(property)
    }${hint}`,
  );
}

/** A key as it was given, its value, and the option if that is named otherwise. */
export type Entry = [name: string, value: unknown, option?: string];

/** Schema that entries are checked against, and their source for messages. */
interface Validation {
  schema: ConfigSchema;
  origin: string;
  /** True where keys that the schema lacks are taken as they are. */
  isOpen?: boolean;
}

/**
 * Checks the entries of one source (a file, a preset, `--set`) against the
 * schema.
 *
 * @returns Values under the schema's own names, aliases resolved.
 */
export function validateEntries(
  entries: readonly Entry[],
  { schema, origin, isOpen = false }: Validation,
): Record<string, unknown> {
  const valid: Record<string, unknown> = {};
  const givenAs: Record<string, string> = {};
  for (const [name, value, option = name] of entries) {
    const key = findKey(schema, name);
    if (key === undefined && isOpen) {
      valid[name] = value;
      continue;
    }
    if (key === undefined) {
      throw new UsageError(
        `Unknown key '${name}' in ${origin}: ${hintAtKey(schema, name)}`,
      );
    }
    if (Object.hasOwn(valid, key)) {
      throw new UsageError(
        `Cannot use both '${
          givenAs[key]
        }' and '${option}' in ${origin}: they are the same key, give one`,
      );
    }
    checkValue(name, value, { property: schema.properties[key], origin });
    valid[key] = value;
    givenAs[key] = option;
  }
  return valid;
}
