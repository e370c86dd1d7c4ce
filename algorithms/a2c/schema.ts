import schema from "./config.schema.json" with { type: "json" };

/**
 * JSON Schema of {@linkcode A2CConfig}, made from the type by
 * `deno task schema`. Beside the standard keywords each property may have
 * `alias`: the names it has in the original, separated by commas.
 */
export const a2cConfigSchema: A2CConfigSchema =
  schema as unknown as A2CConfigSchema;

/** A JSON Schema of an object with its properties. */
export interface A2CConfigSchema {
  /** Each property's own schema, by key. */
  readonly properties: Readonly<Record<string, Record<string, unknown>>>;
}
