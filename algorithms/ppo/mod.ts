export * from "./config.ts";
export * from "./loss.ts";
export * from "./ppo.ts";
export * from "./presets.ts";
export * from "./update.ts";
