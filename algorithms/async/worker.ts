/** An actor-learner in a thread, as an environment that is stepped there. */
import { Agent, loopEnv, type WorkersRun } from "@bellman/agent";
import { selectBackend } from "@bellman/compute";
import {
  deriveSeed,
  discrete,
  VecRecordEpisodeStatistics,
} from "@bellman/envs";
import {
  type CheckedSource,
  type GroupOptions,
  makeGroup,
  SubprocessVecEnv,
} from "@bellman/envs/workers";
import type { StateTree, VecEnv, VecStep } from "@bellman/types";
import type { AsyncConfig } from "./config.ts";
import { methodNamed } from "./methods.ts";
import { type ParameterMemory, SharedParameters } from "./parameter_server.ts";

/** Settings of all workers of a training, as plain data. */
export interface WorkerSettings extends
  Omit<
    WorkersRun<AsyncConfig>,
    "source" | "spaces" | "onNotice" | "isForEvaluation"
  > {
  readonly method: string;
  readonly config: AsyncConfig;
  readonly source: CheckedSource;
  /** True to step the environment in a process of its own. */
  readonly processes: boolean;
  readonly memory: ParameterMemory;
}

/**
 * Makes an agent that learns with the shared parameters, as the environment of a
 * thread: one step of it is as many steps of the agent as it can claim.
 */
export default async function makeWorker(
  options: GroupOptions,
): Promise<VecEnv> {
  const settings = options as unknown as WorkerSettings & GroupOptions;
  const { method, config, workers, memory, first, guard } = settings;
  await selectBackend(settings.backend);
  const env = new VecRecordEpisodeStatistics(await environmentOf(settings));
  const shared = new SharedParameters(memory, { ...config, workers });
  const server = shared.connect(first, guard);
  const seed = deriveSeed(
    deriveSeed(settings.seed, first),
    shared.start(first),
  );
  const agent = new Agent<AsyncConfig>(
    methodNamed(method).with(() => server),
    env,
    { ...settings, seed, threads: 1 },
  );
  const learn = (): Partial<VecStep> => {
    const episodes = [], taken = new Float64Array(1);
    for (; server.claim(); taken[0]++) {
      const step = env.step(agent.act(env.observations()));
      agent.observe(step);
      episodes.push(...step.episodes!);
      const statistics = agent.update();
      if (statistics) server.report(Object.values(statistics));
    }
    return { rewards: taken, episodes };
  };
  const observationSpace = discrete(1), actionSpace = discrete(1);
  const loop = loopEnv({ observationSpace, actionSpace, numEnvs: 1 }, learn);
  return {
    ...loop,
    reset() {
      env.reset({ seed: deriveSeed(seed, 0) });
      return loop.reset();
    },
    save: () => ({ agent: agent.save(), env: env.save() }),
    load(state: StateTree) {
      const saved = state as Record<string, StateTree>;
      agent.load(saved.agent);
      env.load(saved.env);
    },
    close() {
      agent.close();
      env.close();
    },
  };
}

/** Makes the environment that a worker acts in. */
function environmentOf(
  { source, processes, stepTimeoutMs, first }: WorkerSettings & GroupOptions,
): VecEnv | Promise<VecEnv> {
  const numEnvs = 1;
  if (!processes) return makeGroup(source, { numEnvs, first });
  return new SubprocessVecEnv(source, { numEnvs, processes: 1, stepTimeoutMs });
}
