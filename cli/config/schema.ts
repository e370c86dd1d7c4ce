import { closest, distance } from "fastest-levenshtein";

/** One property of a configuration, as JSON Schema describes it. */
export interface PropertySchema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  items?: PropertySchema;
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minItems?: number;
  multipleOf?: number;
  /** Other names the key goes by, separated by commas. */
  alias?: string;
}

/** The schema of a configuration type: its properties by name. */
export interface ConfigSchema {
  description?: string;
  properties: Record<string, PropertySchema>;
}

/** The other names that a property goes by. */
export function aliasesOf(property: PropertySchema): string[] {
  return (property.alias ?? "").split(",").map((name) => name.trim())
    .filter((name) => name !== "");
}

/** The key that `name` stands for, by its own name or by an alias. */
export function findKey(
  schema: ConfigSchema,
  name: string,
): string | undefined {
  if (Object.hasOwn(schema.properties, name)) return name;
  return Object.keys(schema.properties).find((key) =>
    aliasesOf(schema.properties[key]).includes(name)
  );
}

/** The valid name nearest to `name`, own names and aliases alike. */
export function nearestKey(schema: ConfigSchema, name: string): string {
  const names = Object.entries(schema.properties).flatMap((
    [key, property],
  ) => [key, ...aliasesOf(property)]);
  return nearest(name, names);
}

/** The entry of `candidates` with the fewest edits from `name`, case aside. */
export function nearest(name: string, candidates: readonly string[]): string {
  const lower = name.toLowerCase();
  const byLower = new Map(candidates.map((it) => [it.toLowerCase(), it]));
  return byLower.get(closest(lower, [...byLower.keys()]))!;
}

/** Whether `name` is near enough to `candidate` to be a typo of it. */
export function isLikelyTypo(name: string, candidate: string): boolean {
  return distance(name.toLowerCase(), candidate.toLowerCase()) <=
    Math.max(2, Math.ceil(candidate.length / 3));
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

/** What a property accepts, in words: `an integer of at least 1 or null`. */
export function describeProperty(property: PropertySchema): string {
  if (property.enum !== undefined) {
    const names = property.enum.map(String);
    return names.length === 1
      ? names[0]
      : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  }
  if (property.const !== undefined) return String(property.const);
  const types = property.type === undefined ? [] : [property.type].flat();
  const words = types.map((type) => {
    if (type === "array") {
      const item = property.items ? describeProperty(property.items) : "value";
      return `a list, each ${item}`;
    }
    if (type === "integer" || type === "number") {
      const whole = type === "integer" || property.multipleOf === 1;
      const word = TYPE_WORDS[whole ? "integer" : "number"];
      return word + describeRange(property);
    }
    return TYPE_WORDS[type] ?? type;
  });
  return words.join(" or ");
}
