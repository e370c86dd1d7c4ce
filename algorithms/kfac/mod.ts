export * from "./factors.ts";
export * from "./inverses.ts";
export * from "./kfac.ts";
export * from "./layers.ts";
export * from "./predictive.ts";
export {
  kfacSchedule,
  type KfacScheduled,
  type KfacScheduleOptions,
} from "./schedule.ts";
