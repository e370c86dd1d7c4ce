import { Ajv } from "ajv";
import { UsageError } from "../usage_error.ts";
import {
  type ConfigSchema,
  describeProperty,
  findKey,
  nearest,
  nearestKey,
  type PropertySchema,
} from "./schema.ts";

const ajv = new Ajv({ strict: false, allErrors: false });

function show(value: unknown): string {
  if (typeof value === "number") return String(value);
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // YAML's anchors may lead in a circle.
    return Deno.inspect(value, { compact: true, breakLength: Infinity });
  }
}

function checkValue(
  key: string,
  value: unknown,
  { property, origin }: { property: PropertySchema; origin: string },
): void {
  // A union with null lets NaN and infinity through.
  const finite = typeof value !== "number" || Number.isFinite(value);
  if (finite && ajv.validate(property, value)) return;
  const names = (property.enum ?? []).filter((it) => typeof it === "string");
  const hint = typeof value === "string" && names.length > 1
    ? `; did you mean '${nearest(value, names as string[])}'?`
    : "";
  throw new UsageError(
    `Cannot use ${key} = ${show(value)} of ${origin}: expected ${
      describeProperty(property)
    }${hint}`,
  );
}

/** A key as it was given, its value, and the option if that says it otherwise. */
export type Entry = [name: string, value: unknown, option?: string];

/**
 * Checks the entries of one source (a file, a preset, `--set`) against the
 * schema and returns them under the schema's own names, aliases resolved.
 */
export function validateEntries(
  entries: readonly Entry[],
  { schema, origin }: { schema: ConfigSchema; origin: string },
): Record<string, unknown> {
  const valid: Record<string, unknown> = {};
  const givenAs: Record<string, string> = {};
  for (const [name, value, option = name] of entries) {
    const key = findKey(schema, name);
    if (key === undefined) {
      throw new UsageError(
        `Unknown key '${name}' in ${origin}: did you mean '${
          nearestKey(schema, name)
        }'?`,
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
