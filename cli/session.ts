import {
  type BackendInfo,
  type BackendName,
  selectBackend,
} from "@bellman/compute";
import type { Algorithm } from "@bellman/training";
import { ALGORITHMS } from "./algorithms.ts";
import type { ResolvedConfig } from "./config/resolve.ts";
import { UsageError } from "./usage_error.ts";
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

/** A backend that was asked for and cannot be used is a mistake of the input. */
async function requestedBackend(name: BackendName): Promise<BackendInfo> {
  try {
    return await selectBackend(name);
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

/** Puts together what a configuration describes. */
export async function openSession(config: ResolvedConfig): Promise<Session> {
  const environments = makeEnvironments(config);
  const { training } = environments;
  const backend = await requestedBackend(config.backend);
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
