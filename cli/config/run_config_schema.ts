import schema from "./run_config.schema.json" with { type: "json" };
import type { ConfigSchema } from "./schema.ts";

/** The schema made from {@linkcode RunConfig} by `deno task schema`. */
export const runConfigSchema: ConfigSchema = schema as ConfigSchema;
