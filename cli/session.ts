import { selectBackend } from "@bellman/compute";
import type { Algorithm } from "@bellman/training";
import { ALGORITHMS } from "./algorithms.ts";
import type { ResolvedConfig } from "./config/resolve.ts";
import { type Environments, makeEnvironments } from "./environments.ts";

/** A run put together: its environments and its algorithm, ready to act. */
export interface Session {
  config: ResolvedConfig;
  /** What computes the tensors, in words. */
  backend: string;
  environments: Environments;
  algorithm: Algorithm;
  close(): void;
}

/** Puts together what a configuration describes. */
export async function openSession(config: ResolvedConfig): Promise<Session> {
  const environments = makeEnvironments(config);
  const { training } = environments;
  const backend = await selectBackend(config.backend);
  const algorithm = ALGORITHMS[config.algorithm].create({
    observationSpace: training.observationSpace,
    actionSpace: training.actionSpace,
    numEnvs: config.numEnvs,
    seed: config.seed,
    totalTimesteps: config.totalTimesteps,
  }, config);
  return {
    config: { ...config, backend: backend.name as ResolvedConfig["backend"] },
    backend: backend.description,
    environments,
    algorithm,
    close: () => {
      algorithm.close?.();
      training.close();
    },
  };
}
