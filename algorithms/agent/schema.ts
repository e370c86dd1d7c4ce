/** Settings as JSON Schema: defaults, ranges, other names and help by key. */
export interface ConfigSchema {
  /** Each setting's own schema, by key. */
  readonly properties: Readonly<Record<string, PropertySchema>>;
}

/** JSON Schema of one setting. */
export interface PropertySchema {
  /** Type or types of JSON. */
  readonly type?: string | readonly string[];
  /** Allowed values. */
  readonly enum?: readonly unknown[];
  /** The only allowed value. */
  readonly const?: unknown;
  /** Schemas, one of which a value fits. */
  readonly anyOf?: readonly PropertySchema[];
  /** Schemas of the entries of a mapping with known keys. */
  readonly properties?: Readonly<Record<string, PropertySchema>>;
  /** Schema of each entry of a list. */
  readonly items?: PropertySchema;
  /** Help. */
  readonly description?: string;
  /** Default value. */
  readonly default?: unknown;
  /** Inclusive lower bound. */
  readonly minimum?: number;
  /** Inclusive upper bound. */
  readonly maximum?: number;
  /** Exclusive lower bound. */
  readonly exclusiveMinimum?: number;
  /** Exclusive upper bound. */
  readonly exclusiveMaximum?: number;
  /** Smallest length of a list. */
  readonly minItems?: number;
  /** Largest length of a list. */
  readonly maxItems?: number;
  /** Number that all values are multiples of. */
  readonly multipleOf?: number;
  /** Narrower range that another setting imposes, as text. */
  readonly limit?: string;
  /** Other names of the key, separated by commas. */
  readonly alias?: string;
}

/**
 * Returns the default settings of a schema.
 *
 * @typeParam Config Settings that the schema was made from.
 * @param schema The schema.
 * @returns A new object with the default of each setting.
 *
 * @example
 * ```ts
 * import { defaultsOf } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const schema = { properties: { gamma: { type: "number", default: 0.99 } } };
 * assertEquals(defaultsOf<{ gamma: number }>(schema), { gamma: 0.99 });
 * ```
 */
export function defaultsOf<Config extends object>(
  schema: ConfigSchema,
): Config {
  const { properties } = schema;
  return Object.fromEntries(
    Object.keys(properties).map((key) => [
      key,
      structuredClone(properties[key].default),
    ]),
  ) as Config;
}

/** Upper bounds from here on guard against overflow: messages name them only when broken. */
const GUARD = 1e4;

/**
 * Checks the numbers of a configuration against the ranges of a schema.
 *
 * @param config Settings by key.
 * @param options The schema, and the name of what is configured.
 * @throws {RangeError} For the first setting that does not.
 *
 * @example
 * ```ts
 * import { checkRanges } from "@bellman/agent";
 * import { assertThrows } from "@std/assert";
 *
 * const gamma = { type: "number", minimum: 0, maximum: 1 };
 * assertThrows(
 *   () => checkRanges({ gamma: 2 }, { of: "A2C", schema: { properties: { gamma } } }),
 *   RangeError,
 *   "Cannot run A2C with gamma = 2: expected a number from 0 to 1",
 * );
 * ```
 */
export function checkRanges(
  config: object,
  { of, schema }: { readonly of: string; readonly schema: ConfigSchema },
): void {
  for (
    const [key, { items, ...property }] of Object.entries(schema.properties)
  ) {
    const value = (config as Record<string, unknown>)[key];
    if (Array.isArray(value) && items !== undefined) {
      value.forEach((it, i) => checkNumber(of, `${key}[${i}]`, it, items));
    } else checkNumber(of, key, value, property);
  }
}

function checkNumber(
  ...[of, name, value, property]: [string, string, unknown, PropertySchema]
): void {
  if (typeof value !== "number") return;
  const { type, exclusiveMinimum: above = -Infinity } = property;
  const { minimum: given = -Infinity, maximum = Infinity } = property;
  const whole = [type].flat().includes("integer") || property.multipleOf === 1;
  // A count of -1 represents a rule, and 0 is not allowed.
  const isRule = whole && given === -1;
  if (isRule && value === -1) return;
  const minimum = isRule ? 1 : given;
  const isInside = value >= minimum && value > above && value <= maximum;
  if (isInside && (!whole || Number.isInteger(value))) return;
  const hasMaximum = maximum < GUARD || value > maximum;
  const range = above > -Infinity
    ? `above ${above}${hasMaximum ? ` and at most ${maximum}` : ""}`
    : hasMaximum
    ? `from ${minimum} to ${maximum}`
    : `of at least ${minimum}`;
  throw new RangeError(
    `Cannot run ${of} with ${name} = ${value}: expected a ${
      whole ? "whole number" : "number"
    } ${range}`,
  );
}
