/** An actor-learner in a thread, as an environment that is stepped there. */
import { Agent, type WorkersRun } from "@bellman/agent";
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

/** Settings of all workers of a training. */
export interface WorkerSettings extends
  Pick<
    WorkersRun,
    | "seed"
    | "totalTimesteps"
    | "workers"
    | "stepTimeoutMs"
    | "engine"
    | "backend"
  > {
  readonly method: string;
  readonly config: AsyncConfig;
  readonly source: CheckedSource;
  /** True to step the environment in a process of its own. */
  readonly isInProcess: boolean;
  readonly memory: ParameterMemory;
}

/** Makes the worker of a thread. */
export default async function makeWorker(
  options: GroupOptions,
): Promise<VecEnv> {
  const settings = options as unknown as WorkerSettings & GroupOptions;
  const { source, isInProcess, stepTimeoutMs, first, backend } = settings;
  await selectBackend(backend);
  const numEnvs = 1;
  const env = isInProcess
    ? new SubprocessVecEnv(source, { numEnvs, processes: 1, stepTimeoutMs })
    : await makeGroup(source, { numEnvs, first });
  return workerIn(new VecRecordEpisodeStatistics(env), settings);
}

/**
 * Makes an agent that learns with the shared parameters, as an environment: one step
 * of it is as many steps of the agent in its environment as it can claim.
 */
function workerIn(
  env: VecEnv,
  settings: WorkerSettings & GroupOptions,
): VecEnv {
  const { method, config, workers, memory, first, guard } = settings;
  const shared = new SharedParameters(memory, { ...config, workers });
  const server = shared.connect(first, guard);
  const { statistics: names, with: define } = methodNamed(method);
  const seed = deriveSeed(
    deriveSeed(settings.seed, first),
    shared.start(first),
  );
  const agent = new Agent<AsyncConfig>(define(() => server), env, {
    ...settings,
    seed,
    threads: 1,
  });
  const nothing = new Int32Array(1), flag = new Uint8Array(1);
  const learn = (): VecStep => {
    const episodes = [], rewards = new Float64Array(1);
    for (; server.claim(); rewards[0]++) {
      const step = env.step(agent.act(env.observations()));
      agent.observe(step);
      episodes.push(...step.episodes!);
      const statistics = agent.update();
      if (statistics) server.report(names.map((name) => statistics[name]));
    }
    return {
      observations: nothing,
      finalObservations: nothing,
      // The steps that it took.
      rewards,
      terminated: flag,
      truncated: flag,
      episodes,
    };
  };
  return {
    numEnvs: 1,
    observationSpace: discrete(1),
    actionSpace: discrete(1),
    reset() {
      env.reset({ seed: deriveSeed(seed, 0) });
      return nothing;
    },
    step: learn,
    save: () => ({ agent: agent.save(), env: env.save() }),
    load(state: StateTree) {
      const saved = state as Record<string, StateTree>;
      agent.load(saved.agent);
      env.load(saved.env);
    },
    observations: () => nothing,
    close() {
      agent.close();
      env.close();
    },
  };
}
