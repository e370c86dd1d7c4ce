import type { AgentContext } from "@bellman/agent";
import type { SacConfig } from "./config.ts";

/** Settings with all defaults resolved. */
export interface SettledConfig extends SacConfig {
  learningRate: number;
  batchSize: number;
  learningStarts: number;
  initialTemperature: number;
  initialExploration: NonNullable<SacConfig["initialExploration"]>;
}

/** Resolves settings whose defaults depend on the action space or the length of the run. */
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
  return {
    ...config,
    learningRate: config.learningRate ?? usual.learningRate,
    batchSize: config.batchSize ?? usual.batchSize,
    learningStarts: config.learningStarts ?? usual.learningStarts,
    initialTemperature: config.initialTemperature ?? usual.initialTemperature,
    initialExploration: config.initialExploration ?? usual.initialExploration,
  };
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
