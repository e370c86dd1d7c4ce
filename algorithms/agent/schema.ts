import { registeredNetworks } from "@bellman/policies";
import { hintAt } from "@bellman/files/options";

/** JSON Schema of settings: defaults, ranges, aliases and help. */
export interface ConfigSchema {
  /** Each setting's own schema, by key. */
  readonly properties: Readonly<Record<string, PropertySchema>>;
  /**
   * Settings of earlier versions, by key: `const` is the value that each had by default,
   * which is still accepted and dropped; `description` says where the others went.
   *
   * @default {}
   */
  readonly former?: Readonly<Record<string, PropertySchema>>;
}

/** JSON Schema of one setting. */
export interface PropertySchema {
  /** JSON type or types. */
  readonly type?: string | readonly string[];
  /** Allowed values. */
  readonly enum?: readonly unknown[];
  /** The only allowed value. */
  readonly const?: unknown;
  /** Alternative schemas. */
  readonly anyOf?: readonly PropertySchema[];
  /** Schemas of the entries of a mapping with known keys. */
  readonly properties?: Readonly<Record<string, PropertySchema>>;
  /** Schema of entries of a mapping with other keys; false where there are none. */
  readonly additionalProperties?: boolean | PropertySchema;
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
  /** Narrower range imposed by another setting, as text. */
  readonly limit?: string;
  /** Aliases of the setting, separated by commas. */
  readonly alias?: string;
}

/**
 * Settings that a schema describes: the type of an algorithm's `config` where its schema
 * is a constant (`as const`). A property whose `type` is no literal has the type of its
 * default.
 *
 * @typeParam S Type of the schema, such as `typeof schema`.
 */
export type SettingsOf<S extends ConfigSchema> = {
  -readonly [K in keyof S["properties"]]: SettingOf<S["properties"][K]>;
};

/**
 * Value that a setting's schema describes.
 *
 * @typeParam P Type of its schema.
 * @typeParam T Its JSON types.
 */
export type SettingOf<
  P,
  T = P extends { readonly type: infer U }
    ? U extends readonly (infer V)[] ? V : U
    : never,
> = P extends { readonly enum: readonly (infer V)[] } ? V
  : P extends { readonly const: infer V } ? V
  : P extends { readonly anyOf: readonly (infer Q)[] } ? SettingOf<Q>
  : [T] extends [never] ? unknown
  : string extends T ? P extends { readonly default: infer D } ? D : unknown
  : T extends "integer" | "number" ? number
  : T extends "string" ? string
  : T extends "boolean" ? boolean
  : T extends "null" ? null
  : T extends "array"
    ? P extends { readonly items: infer Q } ? SettingOf<Q>[] : unknown[]
  : P extends { readonly properties: infer O }
    ? { -readonly [K in keyof O]: SettingOf<O[K]> }
  : P extends { readonly additionalProperties: infer Q extends PropertySchema }
    ? Record<string, SettingOf<Q>>
  : Record<string, unknown>;

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

/**
 * Returns the aliases of a setting.
 *
 * @param property Its schema.
 *
 * @example
 * ```ts
 * import { aliasesOf } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(aliasesOf({ alias: "lr, eta" }), ["lr", "eta"]);
 * ```
 */
export function aliasesOf(property: PropertySchema): string[] {
  return (property.alias ?? "").split(",").map((name) => name.trim())
    .filter((name) => name !== "");
}

/**
 * Finds a setting by its name or an alias.
 *
 * @param schema The schema.
 * @param name Given name.
 * @returns Name in the schema; `undefined` if there is none.
 *
 * @example
 * ```ts
 * import { findKey } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const schema = { properties: { learningRate: { alias: "lr" } } };
 * assertEquals(findKey(schema, "lr"), "learningRate");
 * ```
 */
export function findKey(
  schema: ConfigSchema,
  name: string,
): string | undefined {
  if (Object.hasOwn(schema.properties, name)) return name;
  return Object.keys(schema.properties).find((key) =>
    aliasesOf(schema.properties[key]).includes(name)
  );
}

/**
 * Finds a setting of earlier versions by its name or an alias.
 *
 * @param schema The schema.
 * @param name Given name.
 * @returns Its schema, where `const` is the accepted value; `undefined` if there is none.
 *
 * @example
 * ```ts
 * import { findFormer } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const gone = { const: 1, description: "it is gone", alias: "int" };
 * const schema = { properties: {}, former: { interval: gone } };
 * assertEquals(findFormer(schema, "int"), gone);
 * assertEquals(findFormer(schema, "tau"), undefined);
 * ```
 */
export function findFormer(
  { former = {} }: ConfigSchema,
  name: string,
): PropertySchema | undefined {
  const key = findKey({ properties: former }, name);
  return key === undefined ? undefined : former[key];
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

/**
 * Describes the values that a setting accepts.
 *
 * @param property Its schema.
 *
 * @example
 * ```ts
 * import { describeProperty } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   describeProperty({ type: ["integer", "null"], minimum: 1 }),
 *   "an integer of at least 1 or null",
 * );
 * ```
 */
export function describeProperty(property: PropertySchema): string {
  if (property.enum !== undefined) {
    const names = property.enum.map(String);
    return names.length === 1
      ? names[0]
      : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
  }
  if (property.const !== undefined) return String(property.const);
  if (property.anyOf !== undefined) {
    // Rules of lists stand beside their kinds.
    const { items, maxItems } = property;
    return property.anyOf.map((it) =>
      describeProperty(
        it.type === "array" && items !== undefined
          ? { ...it, items, maxItems }
          : it,
      )
    ).join(" or ");
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
      const isRule = whole && property.minimum === -1;
      const range = describeRange(
        isRule ? { ...property, minimum: 1 } : property,
      );
      return (isRule ? "-1 or " : "") + word + range + limit;
    }
    const entries = Object.entries(property.properties ?? {}).map((
      [key, it],
    ) => `${key}: ${describeProperty(it)}`);
    const which = entries.length === 0 ? "" : ` with ${entries.join("; ")};`;
    return (TYPE_WORDS[type] ?? type) + which;
  });
  return words.join(" or ");
}

/** Returns true for a value that a setting takes. */
function fits(value: unknown, property: PropertySchema): boolean {
  const { anyOf, items, properties = {}, additionalProperties } = property;
  if (property.enum !== undefined) return property.enum.includes(value);
  if (property.const !== undefined) return value === property.const;
  if (!hasType(value, property)) return false;
  if (anyOf !== undefined && !anyOf.some((it) => fits(value, it))) return false;
  if (typeof value === "number") return isInside(value, property);
  if (Array.isArray(value)) {
    const { minItems = 0, maxItems = Infinity } = property;
    return value.length >= minItems && value.length <= maxItems &&
      (items === undefined || value.every((it) => fits(it, items)));
  }
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, it]) => {
    const own = Object.hasOwn(properties, key)
      ? properties[key]
      : additionalProperties;
    return typeof own === "object" ? fits(it, own) : own !== false;
  });
}

/** Returns true for a value of the type, or one of the types, of a setting. */
function hasType(value: unknown, { type, anyOf }: PropertySchema): boolean {
  if (type === undefined) {
    return anyOf?.some((it) => hasType(value, it)) ?? true;
  }
  const own = value === null
    ? "null"
    : Array.isArray(value)
    ? "array"
    : typeof value;
  const types = [type].flat();
  return types.includes(own) || own === "number" && types.includes("integer");
}

function isInside(value: number, property: PropertySchema): boolean {
  const { type, multipleOf, minimum = -Infinity } = property;
  const isWhole = [type].flat().includes("integer") || multipleOf === 1;
  if (!Number.isFinite(value) || isWhole && !Number.isInteger(value)) {
    return false;
  }
  if (multipleOf !== undefined && value % multipleOf !== 0) return false;
  // A count of -1 represents a rule, and 0 is none.
  if (isWhole && minimum === -1 && value === 0) return false;
  const { maximum = Infinity } = property;
  const { exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } =
    property;
  return value >= minimum && value <= maximum && value > exclusiveMinimum &&
    value < exclusiveMaximum;
}

/** Most letters of a value in a message. */
const MOST_LETTERS = 80;

function show(value: unknown): string {
  const text = textOf(value);
  return text.length <= MOST_LETTERS
    ? text
    : `${text.slice(0, MOST_LETTERS - 3)}...`;
}

function textOf(value: unknown): string {
  if (typeof value === "function") return "a function";
  const isJson = typeof value === "object" || typeof value === "string";
  try {
    return isJson ? JSON.stringify(value) : String(value);
  } catch { // An object that holds itself, or a bigint.
    return String(value);
  }
}

/** Fault of a setting's value. */
export interface SettingFault {
  /** The value, shortened for messages. */
  readonly shown: string;
  /** Accepted values, with a suggestion. */
  readonly expected: string;
  /** True if another value of this type would be accepted. */
  readonly hasType: boolean;
}

/**
 * Finds the fault of a setting's value.
 *
 * @param value The value.
 * @param property Schema of the setting.
 * @returns The fault; `undefined` if the value is valid.
 *
 * @example
 * ```ts
 * import { faultOf } from "@bellman/agent";
 * import { assertEquals } from "@std/assert";
 *
 * const gamma = { type: "number", minimum: 0, maximum: 1 };
 * assertEquals(faultOf(0.99, gamma), undefined);
 * assertEquals(faultOf(2, gamma)?.expected, "a number from 0 to 1");
 * ```
 */
export function faultOf(
  value: unknown,
  property: PropertySchema,
): SettingFault | undefined {
  if (fits(value, property)) return undefined;
  const names = (property.enum ?? []).filter((it) => typeof it === "string");
  const guess = typeof value === "string" && names.length > 1
    ? hintAt(value, names)
    : "";
  const isItem = property.type === "array" && typeof value === "number";
  const hint = guess.startsWith("did")
    ? `; ${guess}`
    : isItem
    ? `, as in [${value}, ${value}]`
    : "";
  return {
    shown: show(value),
    expected: describeProperty(property) + hint,
    hasType: hasType(value, property),
  };
}

/**
 * Returns the schema of an algorithm's settings, including registered networks.
 *
 * @param meta The algorithm's.
 *
 * @example
 * ```ts
 * import { a2c } from "@bellman/a2c";
 * import { ownSchema } from "@bellman/agent";
 * import { cnn, registerNetwork } from "@bellman/policies";
 * import { assert } from "@std/assert";
 *
 * registerNetwork("own", ({ inputShape }) => cnn({ inputShape }));
 * assert(ownSchema(a2c.meta).properties.network.enum?.includes("own"));
 * ```
 */
export function ownSchema(
  { schema }: { readonly schema: ConfigSchema },
): ConfigSchema {
  const { network } = schema.properties, own = registeredNetworks();
  if (!network?.enum?.includes("mlp") || own.length === 0) return schema;
  const named = { ...network, enum: [...network.enum, ...own] };
  return { ...schema, properties: { ...schema.properties, network: named } };
}

/** Schema for {@link checkSettings}. */
export interface SettingsCheck {
  /** Name of the configured object, such as `SAC`. */
  readonly of: string;
  /** Schema of the settings. */
  readonly schema: ConfigSchema;
}

/**
 * Validates names and values of settings against a schema, as the command line does.
 * Settings of earlier versions are accepted with the value that they had by default.
 *
 * @param config Settings by name; undefined ones are ignored.
 * @param check The schema, and the name of what is configured.
 * @throws {TypeError} If there is no such setting, or its value is of another type.
 * @throws {RangeError} If a value of the right type does not fit.
 *
 * @example
 * ```ts
 * import { checkSettings } from "@bellman/agent";
 * import { assertThrows } from "@std/assert";
 *
 * const gamma = { type: "number", minimum: 0, maximum: 1 };
 * const check = { of: "A2C", schema: { properties: { gamma } } };
 * assertThrows(
 *   () => checkSettings({ gamma: 2 }, check),
 *   RangeError,
 *   "Cannot run A2C with gamma = 2: expected a number from 0 to 1",
 * );
 * assertThrows(
 *   () => checkSettings({ gama: 0.9 }, check),
 *   TypeError,
 *   "Unknown setting 'gama' of A2C: did you mean 'gamma'?",
 * );
 * ```
 */
export function checkSettings(
  config: object,
  { of, schema }: SettingsCheck,
): void {
  for (const [name, value] of Object.entries(config)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(schema.properties, name)) {
      const former = findFormer(schema, name);
      const gone = former && faultOf(value, former);
      if (gone !== undefined) {
        throw new TypeError(
          `Cannot run ${of} with ${name} = ${gone.shown}: ${
            former!.description
          }`,
        );
      }
      if (former !== undefined) continue;
      const key = findKey(schema, name);
      const hint = key === undefined
        ? hintAt(name, Object.keys(schema.properties))
        : `did you mean '${key}'?`;
      throw new TypeError(`Unknown setting '${name}' of ${of}: ${hint}`);
    }
    const fault = faultOf(value, schema.properties[name]);
    if (fault === undefined) continue;
    const Fault = fault.hasType ? RangeError : TypeError;
    throw new Fault(
      `Cannot run ${of} with ${name} = ${fault.shown}: expected ${fault.expected}`,
    );
  }
}
