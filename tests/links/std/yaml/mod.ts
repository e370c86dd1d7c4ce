/**
 * A stand-in for `jsr:@std/yaml` on machines that cannot reach JSR: the
 * functions that this workspace uses, over `npm:js-yaml`. It reads YAML 1.2:
 * std also takes `1_000` for a number and `0o17` for a text.
 */
// @ts-types="npm:@types/js-yaml@4.0.9"
import {
  CORE_SCHEMA,
  DEFAULT_SCHEMA,
  dump,
  FAILSAFE_SCHEMA,
  JSON_SCHEMA,
  load,
  YAMLException,
} from "npm:js-yaml@4.3.2";

/** Schemas by std's names; its `extended` one, for code, is left out. */
const SCHEMAS = {
  core: CORE_SCHEMA,
  default: DEFAULT_SCHEMA,
  failsafe: FAILSAFE_SCHEMA,
  json: JSON_SCHEMA,
};

export type SchemaType = keyof typeof SCHEMAS;

export interface ParseOptions {
  schema?: SchemaType;
  allowDuplicateKeys?: boolean;
}

export interface StringifyOptions {
  schema?: SchemaType;
  indent?: number;
  lineWidth?: number;
  sortKeys?: boolean | ((a: string, b: string) => number);
  skipInvalid?: boolean;
}

export function parse(content: string, options: ParseOptions = {}): unknown {
  const { schema = "default", allowDuplicateKeys = false } = options;
  try {
    return load(content, {
      schema: SCHEMAS[schema],
      json: allowDuplicateKeys,
    }) ?? null;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const at = error.mark
      ? ` at line ${error.mark.line + 1}, column ${error.mark.column + 1}`
      : "";
    throw new SyntaxError(`Cannot parse YAML: ${error.reason}${at}`);
  }
}

export function stringify(
  data: unknown,
  options: StringifyOptions = {},
): string {
  const { schema = "default", ...rest } = options;
  try {
    return dump(data, { lineWidth: 80, ...rest, schema: SCHEMAS[schema] });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new TypeError(`Cannot stringify: ${error.reason}`);
  }
}
