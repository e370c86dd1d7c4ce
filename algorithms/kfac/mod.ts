export {
  type FactorArrays,
  type FactoredDamping,
  factoredDamping,
} from "./damping.ts";
export * from "./factors.ts";
export { invertFactors, type InvertOptions } from "./inverses.ts";
export * from "./kfac.ts";
export {
  findLayers,
  type FindLayersOptions,
  type KfacLayer,
  type KfacObjective,
} from "./layers.ts";
export {
  type DampingAdaptation,
  type KfacForm,
  type KfacOptions,
  type TrustRegion,
} from "./options.ts";
export * from "./predictive.ts";
export * from "./rows.ts";
export {
  kfacSchedule,
  type KfacScheduled,
  type KfacScheduleOptions,
} from "./schedule.ts";
