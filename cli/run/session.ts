import { Agent } from "@bellman/agent";
import {
  type BackendInfo,
  type BackendName,
  type EngineInfo,
  selectBackend,
  selectEngine,
} from "@bellman/compute";
import { describeSpace, spacesEqual } from "@bellman/envs";
import type { Algorithm } from "@bellman/types";
import { findAlgorithm } from "../config/algorithms.ts";
import type { ResolvedConfig } from "../config/resolve.ts";
import type { CommandIo } from "../terminal/process.ts";
import { messageOf, UsageError } from "../terminal/errors.ts";
import { loadEnvironment } from "./environment_modules.ts";
import { checkMemory } from "./memory.ts";
import {
  copiesFor,
  type Environments,
  groupsOf,
  type Hosting,
  makeEnvironments,
} from "./environments.ts";

/** A run put together: its environments and its algorithm, ready to act. */
export interface Session {
  config: ResolvedConfig;
  /** What acts and learns, in words. */
  engine: string;
  environments: Environments;
  algorithm: Algorithm;
  close(): void;
}

/** Notices as lines on standard error. */
export function notices(io: CommandIo): (line: string) => void {
  return (line) => io.err(`${line}\n`);
}

/** A backend that was asked for and cannot be used is a mistake of the input. */
async function requestedBackend(name: BackendName): Promise<BackendInfo> {
  try {
    return await selectBackend(name);
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

/** What acts and learns: a backend that is named is meant to be computed on. */
function requestedEngine(
  { engine, backend }: ResolvedConfig,
  onNotice: (line: string) => void,
): EngineInfo {
  const wanted = engine === "auto" && backend !== "auto" ? "eager" : engine;
  try {
    return selectEngine(wanted, { onNotice });
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

/** What an environment lacks on this machine is a mistake of the input, too. */
async function requestedEnvironments(
  ...[config, hosting]: Parameters<typeof makeEnvironments>
): Promise<Environments> {
  let environments: Environments | undefined;
  try {
    environments = await makeEnvironments(config, hosting);
    if (hosting.spaces === undefined) {
      checkEvaluation(config, environments, hosting);
    }
    return environments;
  } catch (error) {
    environments?.close();
    const message = messageOf(error);
    // Errors of our own name what they are about, those of others need not.
    const isOwn = /^(Cannot|Unknown|Wrong) /.test(message);
    throw new UsageError(
      isOwn ? message : `Cannot make the environment ${config.env}: ${message}`,
      { cause: error },
    );
  }
}

/** Environments of other options show at once whether they can be made and fit. */
function checkEvaluation(
  { evaluationEnvKwargs, vectorization }: ResolvedConfig,
  { training, evaluation }: Environments,
  { evaluationCopies = 0 }: Hosting,
): void {
  if (Object.keys(evaluationEnvKwargs).length === 0) return;
  const isHosted = vectorization !== "sync";
  // Hosts that nobody needs are not started for it.
  if (isHosted && evaluationCopies === 0) return;
  const judged = evaluation(isHosted ? evaluationCopies : 1);
  judged.close();
  for (const space of ["observationSpace", "actionSpace"] as const) {
    const [theirs, own] = [judged[space], training[space]];
    if (spacesEqual(theirs, own)) continue;
    throw new TypeError(
      `Cannot evaluate with these evaluationEnvKwargs: the ${space} is ${
        describeSpace(theirs)
      }, expected ${describeSpace(own)} as in training`,
    );
  }
}

/**
 * Puts together what a configuration describes.
 *
 * @param config The configuration.
 * @param onNotice Takes a line that the user should see.
 * @param options Whether the agent is to be judged alone, not trained on, and in
 * how many copies; for training as many as the configuration's evaluations take.
 * Spaces may stand for the environment where it is not needed.
 */
export async function openSession(
  config: ResolvedConfig,
  onNotice: (line: string) => void,
  {
    isForJudging = false,
    evaluationCopies = isForJudging ? 0 : copiesFor(config.evaluationEpisodes),
    spaces,
  }: Omit<Hosting, "imports" | "onNotice"> = {},
): Promise<Session> {
  const imports = spaces === undefined ? await loadEnvironment(config) : [];
  const environments = await requestedEnvironments(config, {
    imports,
    onNotice,
    isForJudging,
    evaluationCopies,
    spaces,
  });
  // Paths count from the folder that the run is started in, wherever it goes on.
  const envModules = imports.length > 0 ? imports : config.envModules;
  try {
    if (!isForJudging) {
      const notice = checkMemory(config, environments.training);
      if (notice !== undefined) onNotice(notice);
    }
    return await sessionIn(environments, { ...config, envModules }, onNotice);
  } catch (error) {
    environments.close();
    throw error;
  }
}

/** What acts and learns in environments that are there. */
async function sessionIn(
  environments: Environments,
  config: ResolvedConfig,
  onNotice: (line: string) => void,
): Promise<Session> {
  const { training } = environments;
  const engine = requestedEngine(config, onNotice);
  // Compiled functions need a backend for their first parameters alone.
  const compiled = engine.name === "onnx" && config.backend === "auto";
  const backend = await requestedBackend(compiled ? "cpu" : config.backend);
  const definition = findAlgorithm(config.algorithm)!;
  const own = Object.keys(definition.schema.properties)
    .map((key) => [key, config[key]]);
  const algorithm = new Agent(definition, {
    observationSpace: training.observationSpace,
    actionSpace: training.actionSpace,
    numEnvs: config.numEnvs,
    stackedFrames: training.stackedFrames,
  }, {
    config: Object.fromEntries(own),
    normalization: environments.normalization,
    seed: config.seed,
    totalTimesteps: config.totalTimesteps,
    engine: engine.name,
    threads: config.threads ?? "auto",
  });
  return {
    config: {
      ...config,
      workers: groupsOf(config),
      engine: engine.name,
      backend: backend.name as ResolvedConfig["backend"],
    },
    engine: engine.name === "onnx"
      ? engine.description
      : `${engine.description}, on ${backend.description}`,
    environments,
    algorithm,
    close: () => {
      algorithm.close?.();
      environments.close();
    },
  };
}
