export * from "./composition.ts";
export * from "./scheduler.ts";
export * from "./schedules.ts";
