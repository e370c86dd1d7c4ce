import type { AgentContext } from "@bellman/agent";
import { droppedOf } from "@bellman/policies";
import type { SacConfig } from "./config.ts";

/** Settings whose null stands for a default. */
type Filled =
  | "numCritics"
  | "droppedQuantiles"
  | "targetNetworks"
  | "normalization"
  | "dropout"
  | "policyDelay"
  | "gradientSteps"
  | "adamBeta1"
  | "criticHiddenSizes"
  | "learningRate"
  | "batchSize"
  | "learningStarts"
  | "initialTemperature"
  | "initialExploration";

/** Settings that have defaults by the method, and the interval of its updates. */
export const METHOD_SETTINGS = [
  "numCritics",
  "quantiles",
  "droppedQuantiles",
  "targetCritics",
  "targetNetworks",
  "normalization",
  "dropout",
  "policyDelay",
  "trainFrequency",
  "gradientSteps",
  "learningRate",
  "adamBeta1",
] as const satisfies readonly (keyof SacConfig)[];

/** Settings with all defaults resolved. */
export type SettledConfig =
  & Omit<SacConfig, Filled>
  & { [K in Filled]: NonNullable<SacConfig[K]> };

/** Settings that a method gives defaults to. */
type MethodDefaults =
  & Pick<SacConfig, "quantiles" | "targetCritics" | "policyDelay">
  & Pick<
    SettledConfig,
    "numCritics" | "dropout" | "gradientSteps" | "adamBeta1" | "normalization"
  >
  & Partial<Pick<SettledConfig, "learningRate">>;

const ORIGINAL: MethodDefaults = {
  numCritics: 2,
  quantiles: null,
  targetCritics: null,
  normalization: "none",
  dropout: 0,
  policyDelay: 1,
  gradientSteps: 1,
  adamBeta1: 0.9,
};

/** Defaults of each method: those of sb3-contrib and sbx, for redq those of its paper. */
const METHODS: Readonly<Record<SacConfig["method"], MethodDefaults>> = {
  sac: ORIGINAL,
  tqc: { ...ORIGINAL, quantiles: 25 },
  crossq: {
    ...ORIGINAL,
    normalization: "batch",
    policyDelay: 3,
    learningRate: 1e-3,
    adamBeta1: 0.5,
  },
  redq: {
    ...ORIGINAL,
    numCritics: 10,
    targetCritics: 2,
    policyDelay: null,
    gradientSteps: 20,
  },
  droq: {
    ...ORIGINAL,
    normalization: "layer",
    dropout: 0.01,
    policyDelay: null,
    gradientSteps: 20,
  },
};

/**
 * Resolves settings whose defaults depend on the method, the action space or the length
 * of the run.
 */
export function settledConfig(
  config: SacConfig,
  { actionSpace, totalTimesteps }: AgentContext,
): SettledConfig {
  const usual = actionSpace.type === "discrete"
    ? {
      ...DISCRETE,
      learningStarts: Math.max(
        1,
        Math.min(5000, config.bufferSize, Math.floor(totalTimesteps / 4)),
      ),
    }
    : BOX;
  const defaults = { ...usual, ...METHODS[config.method] };
  const settled = { ...config, ...nullsFilled(config, defaults) };
  return {
    ...settled,
    // One update of the policy for each round of updates.
    policyDelay: settled.policyDelay ?? Math.max(1, settled.gradientSteps),
    droppedQuantiles: droppedOf(settled, {
      of: "SAC",
      expected: "quantiles or method: tqc",
    }),
    targetNetworks: hasTargetNetworks(config),
    criticHiddenSizes: config.criticHiddenSizes ?? config.hiddenSizes,
  };
}

/** Returns whether next values are estimated by target networks. */
export function hasTargetNetworks(
  { method, normalization, targetNetworks }: SacConfig,
): boolean {
  const settled = normalization ?? METHODS[method].normalization;
  return targetNetworks ?? settled !== "batch";
}

/** Returns settings, with defaults for those that are null. */
function nullsFilled<D extends Partial<SacConfig>>(
  config: SacConfig,
  defaults: D,
): D {
  const filled = Object.entries(defaults).map(([key, value]) => [
    key,
    config[key as keyof SacConfig] ?? value,
  ]);
  return Object.fromEntries(filled) as D;
}

const BOX = {
  learningRate: 3e-4,
  batchSize: 256,
  learningStarts: 100,
  initialTemperature: 1,
  initialExploration: "uniform",
} as const;
const DISCRETE = {
  learningRate: 1e-3,
  batchSize: 64,
  initialTemperature: 0.02,
  initialExploration: "repeated",
} as const;
