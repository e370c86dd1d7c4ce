/**
 * A stand-in for `jsr:@std/yaml` on machines that cannot reach JSR: the
 * functions that this workspace uses, over `npm:js-yaml`.
 */
// @ts-types="npm:@types/js-yaml@4.0.9"
import { dump, load, YAMLException } from "npm:js-yaml@4.3.2";

export interface StringifyOptions {
  indent?: number;
  lineWidth?: number;
  sortKeys?: boolean;
  skipInvalid?: boolean;
}

export function parse(content: string): unknown {
  try {
    return load(content) ?? null;
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
  return dump(data, { lineWidth: 80, ...options });
}
