import type { GroupFactory } from "@bellman/envs/workers";
import { importModules } from "../settings/modules.ts";
import type { ResolvedConfig } from "../settings/resolve.ts";
import { asLine } from "../program/errors.ts";
import { loadEnvironment } from "./environment_modules.ts";
import { makeEnvironments } from "./environments.ts";

/** Settings of a run, and modules that register its environment. */
interface WorkerOptions {
  config: ResolvedConfig;
  imports: string[];
}

/** Makes the training environment of a learning worker. */
const makeWorkerEnvironment: GroupFactory = async (options) => {
  const { config, imports } = options as unknown as WorkerOptions;
  await importModules(config, "algorithmModules");
  await loadEnvironment(config);
  // Evaluations are elsewhere.
  const own = { ...config, evaluationOpponent: null };
  const { training } = await makeEnvironments(own, {
    imports,
    // deno-lint-ignore no-console -- a worker's only way to report
    onNotice: (line) => console.error(asLine(line)),
  });
  return training;
};

export default makeWorkerEnvironment;
