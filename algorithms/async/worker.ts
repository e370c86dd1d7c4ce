/**
 * Program of an actor-learner in a thread. Importing it does nothing: the thread that
 * starts workers imports it too, so that nothing is downloaded while it waits.
 */
import { Agent, type WorkersRun } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import {
  deriveSeed,
  EnvDataError,
  VecRecordEpisodeStatistics,
} from "@bellman/envs";
import {
  type CheckedSource,
  type GroupAnswer,
  type GroupCommand,
  type Guard,
  makeGroup,
  serveWorker,
  type WorkerProgram,
} from "@bellman/envs/workers";
import type { EpisodeStatistics, StateTree } from "@bellman/types";
import type { AsyncConfig } from "./config.ts";
import { methodNamed } from "./methods.ts";
import { type ParameterMemory, SharedParameters } from "./parameter_server.ts";

/** Settings of a worker, as plain data. */
export interface WorkerSettings extends
  Omit<
    WorkersRun<AsyncConfig>,
    "source" | "spaces" | "stepTimeoutMs" | "onNotice" | "isForEvaluation"
  > {
  /** Number of the worker, from 0. */
  readonly worker: number;
  readonly method: string;
  readonly config: AsyncConfig;
  readonly source: CheckedSource;
  readonly memory: ParameterMemory;
}

/** Learns in this thread, as part of a training with workers. */
export function main(): void {
  serveWorker(makeLearner);
}

/** Creates an agent that learns with the shared parameters: a step is as many as it can claim. */
async function makeLearner(
  settings: WorkerSettings,
  guard: Guard,
): Promise<WorkerProgram> {
  const { worker, method, config, source, workers, memory } = settings;
  await selectBackend(settings.backend);
  const env = new VecRecordEpisodeStatistics(
    await makeGroup(source, { first: worker, numEnvs: 1 }),
  );
  const shared = new SharedParameters(memory, { ...config, workers });
  const server = shared.connect(worker, guard);
  const start = shared.start(worker);
  const seed = deriveSeed(deriveSeed(settings.seed, worker), start);
  const agent = new Agent<AsyncConfig>(
    methodNamed(method).with(() => server),
    env,
    { ...settings, seed, threads: 1 },
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
        // Environments are counted over all workers.
        throw error instanceof EnvDataError ? error.from(worker) : error;
      }
    },
    close() {
      agent.close();
      env.close();
    },
  };
}
