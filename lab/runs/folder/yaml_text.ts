// @ts-types="@types/js-yaml"
import {
  CORE_SCHEMA,
  DEFAULT_SCHEMA,
  dump,
  load,
  YAMLException,
} from "js-yaml";

const SCHEMAS = { core: CORE_SCHEMA, default: DEFAULT_SCHEMA };

/**
 * Parses YAML; null for an empty text.
 *
 * @param text The text.
 * @param schema Schema: `core` has no dates, bytes and sets.
 * @throws {SyntaxError} If it is not YAML; one line says where.
 */
export function parseText(
  text: string,
  schema: keyof typeof SCHEMAS = "default",
): unknown {
  try {
    return load(text, { schema: SCHEMAS[schema] }) ?? null;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { mark, reason } = error;
    const at = mark
      ? ` at line ${mark.line + 1}, column ${mark.column + 1}`
      : "";
    throw new SyntaxError(`Cannot parse YAML: ${reason}${at}`);
  }
}

/**
 * Writes plain data as YAML.
 *
 * @param value The data.
 */
export function toText(value: unknown): string {
  return dump(value, { lineWidth: 80 });
}
