import schema from "./config.schema.json" with { type: "json" };

/**
 * JSON Schema of {@linkcode SacConfig}, made from the type by
 * `deno task schema`. Beside the standard keywords each property may have
 * `alias`: the names it has elsewhere, separated by commas.
 */
export const sacConfigSchema: SacConfigSchema =
  schema as unknown as SacConfigSchema;

/** A JSON Schema of an object with its properties. */
export interface SacConfigSchema {
  /** Each property's own schema, by key. */
  readonly properties: Readonly<Record<string, Record<string, unknown>>>;
}
