/**
 * Advantage actor-critic (A2C).
 *
 * @module
 */
export * from "./config.ts";
export * from "./presets.ts";
export * from "./schema.ts";
