import type { Session } from "./session.ts";

/**
 * The agent's present policy as an ONNX file, with the environment's scaling;
 * it chooses actions as the run was evaluated, where nothing else is said.
 */
export function policyFile(
  { algorithm, config, environments }: Session,
  { batchSize = 1, deterministic = config.evaluationDeterministic } = {},
): Uint8Array | undefined {
  return algorithm.exportPolicy?.({
    scaling: environments.scaling(),
    batchSize,
    deterministic,
    metadata: {
      algorithm: config.algorithm,
      environment: config.env,
      "frame stack": String(config.frameStack),
      actions: deterministic ? "likeliest" : "sampled by the input noise",
    },
  });
}
