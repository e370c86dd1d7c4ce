/**
 * Program of an actor-learner, in a thread or in a process of another machine.
 * Importing it has no effect: the thread that starts workers imports it too, so that
 * nothing is downloaded while that thread waits.
 */
import { Agent, type WorkersRun } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import {
  deriveSeed,
  EnvDataError,
  RecordEpisodeStatistics,
} from "@bellman/envs";
import {
  type CheckedSource,
  type GroupAnswer,
  type GroupCommand,
  makeGroup,
  serveProcess,
  serveWorker,
  type WorkerProgram,
} from "@bellman/envs/workers";
import type { EpisodeStatistics, StateTree } from "@bellman/types";
import type { AsyncConfig } from "./config.ts";
import { methodNamed } from "./methods.ts";
import {
  type ParameterMemory,
  type ParameterServer,
  SharedParameters,
} from "./parameter_server.ts";
import { RemoteServer } from "./remote_server.ts";

/** Settings of a worker, as plain data. */
export interface WorkerSettings extends
  Omit<
    WorkersRun<AsyncConfig>,
    | "source"
    | "spaces"
    | "stepTimeoutMs"
    | "onNotice"
    | "isForEvaluation"
    | "cluster"
  > {
  /** Number of the worker, from 0. */
  readonly worker: number;
  readonly method: string;
  readonly config: AsyncConfig;
  readonly source: CheckedSource;
}

/** Settings of a worker in a thread. */
export interface ThreadSettings extends WorkerSettings {
  readonly memory: ParameterMemory;
}

/** Settings of a worker in a process. */
export interface ProcessSettings extends WorkerSettings {
  /** Number of parameters. */
  readonly size: number;
  /** Starts of this worker before this one. */
  readonly start: number;
}

/** Learns in this thread, as a worker of a training. */
export function main(): void {
  serveWorker<ThreadSettings>((settings, guard) => {
    const { memory, worker, config, workers } = settings;
    return makeLearner(settings, () => {
      const shared = new SharedParameters(memory, { ...config, workers });
      const server = shared.connect(worker, guard);
      return { server, start: shared.start(worker) };
    });
  });
}

/** Learns in this process, with parameters in the calling one. */
function learnElsewhere(): Promise<never> {
  return serveProcess<ProcessSettings>((settings, ask) => {
    const { size, start, config, workers } = settings;
    const { targetInterval } = config;
    // At most its share of the steps between two stops.
    const claim = Math.min(
      methodNamed(settings.method).stepsPerPush(config),
      Math.ceil(config.stepsPerStop / workers),
    );
    const server = new RemoteServer({ size, ask, claim, targetInterval });
    return makeLearner(settings, () => ({ server, start }));
  });
}

/**
 * Creates an agent that learns with the shared parameters; it steps as often as it can
 * claim.
 */
async function makeLearner(
  settings: WorkerSettings,
  connect: () => { server: ParameterServer; start: number },
): Promise<WorkerProgram> {
  const { worker, method, source, config, totalTimesteps, engine } = settings;
  await selectBackend(settings.backend);
  const env = new RecordEpisodeStatistics(
    await makeGroup(source, { first: worker, numEnvs: 1 }),
  );
  const { server, start } = connect();
  const seed = deriveSeed(deriveSeed(settings.seed, worker), start);
  const agent = new Agent<AsyncConfig>(
    methodNamed(method).with(() => server),
    env,
    // Worker 0 gives notices for all.
    { config, totalTimesteps, engine, seed, threads: 1, onNotice: () => {} },
  );
  const learn = (): EpisodeStatistics[] => {
    const episodes: EpisodeStatistics[] = [];
    while (server.claim()) {
      const step = env.step(agent.act(env.observations(), env.actionMasks));
      agent.observe(step);
      for (const it of step.episodes!) episodes.push({ ...it, env: worker });
      const statistics = agent.update();
      if (statistics) server.report(Object.values(statistics));
    }
    return episodes;
  };
  const carryOut = (command: GroupCommand): GroupAnswer => {
    switch (command.type) {
      case "step":
        return { episodes: learn() };
      case "save":
        return { snapshot: { agent: agent.save(), env: env.save() } };
      case "load": {
        const saved = command.snapshot as Record<string, StateTree>;
        agent.load(saved.agent);
        env.load(saved.env);
        return {};
      }
      default:
        env.reset({ seed: deriveSeed(seed, 0) });
        return {};
    }
  };
  return {
    run(command) {
      try {
        return carryOut(command);
      } catch (error) {
        // Environments are numbered over all workers.
        throw error instanceof EnvDataError ? error.from(worker) : error;
      }
    },
    close() {
      agent.close();
      env.close();
    },
  };
}

// Not awaited: modules imported for its environment may import this module.
if (import.meta.main) learnElsewhere();
