export * from "./losses.ts";
export * from "./update.ts";
