/** Validation of settings against schemas. */
import {
  aliasesOf,
  type ConfigSchema,
  faultOf,
  findFormer,
  findKey,
  type PropertySchema,
} from "@bellman/agent";
import { hintAt } from "@bellman/files/options";
import { UsageError } from "../program/usage_error.ts";
import { hintAtSetting } from "./elsewhere.ts";

/** Largest number of settings that error messages list. */
const FEW_KEYS = 16;

/** Suggests a similar setting or alias. */
function hintAtKey(schema: ConfigSchema, name: string): string {
  const names = Object.entries(schema.properties).flatMap((
    [key, property],
  ) => [key, ...aliasesOf(property)]);
  const known = hintAtSetting(name);
  if (known !== undefined) return known;
  const hint = hintAt(name, names);
  // A few settings are listed.
  return hint.startsWith("did") || names.length <= FEW_KEYS
    ? hint
    : "'train ALGORITHM --help' lists the keys";
}

/** Number with `_` between its digits, as in YAML 1.1 and Python. */
const SPACED = /^(?=.*_)[-+]?\d+(_\d+)*(\.(\d+(_\d+)*)?)?(e[-+]?\d+)?$/i;

/** Converts texts such as `100_000` to numbers, as YAML 1.1 does; others stay the same. */
export function numberOf(value: unknown): unknown {
  const isNumber = typeof value === "string" && SPACED.test(value);
  return isNumber ? Number(value.replaceAll("_", "")) : value;
}

/** Converts a text to a number, or one name to a list of it, where that is wanted. */
function valueOf(raw: unknown, { type, items }: PropertySchema): unknown {
  const isName = typeof raw === "string" && raw !== "";
  const takesNames = type === "array" && items?.type === "string";
  return isName && takesNames ? [raw] : numberOf(raw);
}

/** Returns the schema of the entries of mappings, for settings that are one. */
function schemaOfEntries(
  { properties, anyOf = [] }: PropertySchema,
): ConfigSchema | undefined {
  const known = properties ?? anyOf.find((it) => it.properties)?.properties;
  return known && { properties: known };
}

/** Finds the setting of a name such as `opponents.window`, and its entry. */
function findEntry(
  schema: ConfigSchema,
  name: string,
): { key: string; entry: string } | undefined {
  const at = name.indexOf(".");
  const key = at < 0 ? undefined : findKey(schema, name.slice(0, at));
  return key !== undefined && schemaOfEntries(schema.properties[key])
    ? { key, entry: name.slice(at + 1) }
    : undefined;
}

/** Setting as it was given, its value, and the option if its name differs. */
export type Entry = [name: string, value: unknown, option?: string];

/** Schema for validation, and source of the entries. */
export interface Validation {
  /** Schema of the settings. */
  schema: ConfigSchema;
  /** Source of the entries, for error messages. */
  origin: string;
  /** Accept settings that the schema lacks. */
  isOpen?: boolean;
  /** Keep settings of earlier versions, as of a run that is only read. */
  keepsFormer?: boolean;
}

/** Returns the error of a setting of earlier versions with another value than the default. */
function formerFault(
  [name, value]: Entry,
  former: PropertySchema,
  origin: string,
): UsageError | undefined {
  const fault = faultOf(value, former);
  return fault && new UsageError(
    `Cannot use ${name} = ${fault.shown} of ${origin}: ${former.description}`,
  );
}

/** Throws if settings of a saved run are those of earlier versions alone. */
export function refuseFormer(
  config: Readonly<Record<string, unknown>>,
  schema: ConfigSchema,
): void {
  for (const [name, value] of Object.entries(config)) {
    const former = findKey(schema, name) === undefined &&
      findFormer(schema, name);
    const fault = former && formerFault([name, value], former, "this run");
    if (fault) throw fault;
  }
}

/**
 * Validates the entries of one source (a file, a preset, `--set`) against the schema.
 * Names such as `opponents.window` are of an entry of a mapping.
 *
 * @returns Values by the schema's names, with aliases resolved and without settings of
 * earlier versions.
 * @throws {UsageError} If a key or a value is not valid.
 *
 * @example
 * ```ts
 * import { runConfigSchema, validateEntries } from "@bellman/runs/settings";
 * import { assertEquals } from "@std/assert";
 *
 * const options = { schema: runConfigSchema, origin: "mine.yaml" };
 * assertEquals(validateEntries([["n_envs", 4]], options), { numEnvs: 4 });
 * ```
 */
export function validateEntries(
  entries: readonly Entry[],
  { schema, origin, isOpen = false, keepsFormer = false }: Validation,
): Record<string, unknown> {
  const valid: Record<string, unknown> = {};
  const givenAs: Record<string, string> = {};
  const parts = new Map<string, Entry[]>();
  const refuseTwice = (key: string, option: string) => {
    if (!Object.hasOwn(valid, key)) return;
    throw new UsageError(
      `Cannot use both '${
        givenAs[key]
      }' and '${option}' in ${origin}: they are the same key, give one`,
    );
  };
  for (const [name, raw, option = name] of entries) {
    const key = findKey(schema, name);
    const part = key === undefined ? findEntry(schema, name) : undefined;
    if (part !== undefined) {
      const others = parts.get(part.key) ?? [];
      parts.set(part.key, [...others, [part.entry, raw, option]]);
      continue;
    }
    if (key === undefined && isOpen) {
      valid[name] = raw;
      continue;
    }
    const former = key === undefined ? findFormer(schema, name) : undefined;
    if (former !== undefined) {
      const gone = formerFault([name, raw], former, origin);
      if (gone === undefined) continue;
      if (!keepsFormer) throw gone;
      valid[name] = raw;
      continue;
    }
    if (key === undefined) {
      throw new UsageError(
        `Unknown key '${name}' in ${origin}: ${hintAtKey(schema, name)}`,
      );
    }
    refuseTwice(key, option);
    valid[key] = validValue([name, raw], { schema, key, origin });
    givenAs[key] = option;
  }
  for (const [key, own] of parts) {
    refuseTwice(key, own[0][2]!);
    const within = schemaOfEntries(schema.properties[key])!;
    valid[key] = validateEntries(own, {
      schema: within,
      origin: `${key} of ${origin}`,
    });
  }
  return valid;
}

/** Validates the value of a setting, and the entries of one that is a mapping. */
function validValue(
  [name, raw]: Entry,
  { schema, key, origin }: Validation & { key: string },
): unknown {
  const property = schema.properties[key], within = schemaOfEntries(property);
  const isMapping = typeof raw === "object" && raw !== null &&
    !Array.isArray(raw);
  if (within !== undefined && isMapping) {
    return validateEntries(Object.entries(raw), {
      schema: within,
      origin: `${name} of ${origin}`,
    });
  }
  const value = faultOf(raw, property) === undefined
    ? raw
    : valueOf(raw, property);
  const fault = faultOf(value, property);
  if (fault === undefined) return value;
  throw new UsageError(
    `Cannot use ${name} = ${fault.shown} of ${origin}: expected ${fault.expected}`,
  );
}
