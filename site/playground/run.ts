import { Agent } from "@bellman/agent";
import { make, makeVec, SyncVecEnv } from "@bellman/envs";
import { stopOnRewardThreshold } from "@bellman/training";
import type { ExposedRun, ExposedTraining } from "@bellman/training/worker";
import type { RgbImage, VecEnv } from "@bellman/types";
import { policyMetadata } from "../../lab/runs/settings/policy_metadata.ts";
import { scaledEnvironments } from "../../lab/runs/training/scaled_environments.ts";
import type { Resolved } from "./settings.ts";
import { PICTURE } from "./tasks.ts";

/** Functions of the worker that trains. */
export type RunCalls = {
  /**
   * Lets the present policy act for a time, and draws where that leads.
   *
   * @param seconds Time of the environment.
   */
  watch(seconds: number): Promise<RgbImage>;
  /** Sets the most environment steps a second. */
  pace(stepsPerSecond: number): void;
};

/** Most steps of the watched environment at once, such as after a slow update. */
const MOST_STEPS = 10;

/**
 * Makes agent and environments; the backend has been selected. An evaluation with the
 * goal as its mean return ends the run, unless it goes on after its end.
 */
export function exposedRun(
  { env, goal, stepsPerSecond, definition, settings }: Resolved,
  { isContinued }: Pick<ExposedRun, "isContinued">,
): ExposedTraining {
  const { numEnvs, seed, totalTimesteps, evaluationEpisodes: episodes } =
    settings;
  const { hasReplay = false } = definition.meta;
  const maxEpisodeSteps = settings.maxEpisodeSteps ?? undefined;
  const { training, wrapped, normalization } = scaledEnvironments(
    makeVec(env, { numEnvs, maxEpisodeSteps }),
    { ...settings, hasReplay },
  );
  const keys = Object.keys(definition.meta.schema.properties);
  const agent = new Agent(definition, training, {
    config: Object.fromEntries(keys.map((key) => [key, settings[key]])),
    ...{ seed, totalTimesteps, engine: "eager", normalization },
  });
  const { evaluationInterval: interval } = settings;
  const everyTimesteps = interval === 0
    ? totalTimesteps
    : interval ?? undefined;
  const judged = wrapped(makeVec(env, { numEnvs: episodes, maxEpisodeSteps }));
  const pacer = new Pacer(stepsPerSecond);
  return {
    algorithm: agent,
    env: training,
    options: {
      seed,
      episodeWindow: 20,
      evaluation: { env: judged, episodes, everyTimesteps },
      callbacks: [
        { onStep: () => pacer.wait(numEnvs) },
        ...isContinued ? [] : [stopOnRewardThreshold(goal)],
      ],
      // The same state has the same bytes, however fast it was reached.
      now: () => 0,
    },
    policyOptions: {
      metadata: policyMetadata({
        ...{ algorithm: definition.meta.name, env },
        frameStack: settings.frameStack,
      }),
    },
    calls: {
      watch: watcher(agent, { env, seed, wrapped }),
      pace: (stepsPerSecond) => void (pacer.stepsPerSecond = stepsPerSecond),
    } satisfies RunCalls,
  };
}

/** Keeps a run from taking more steps a second than people can follow. */
class Pacer {
  /** Time of the next step. */
  #due = 0;

  constructor(public stepsPerSecond: number) {}

  /** Waits until it is time for so many more steps. */
  wait(steps: number): Promise<void> | undefined {
    const now = performance.now();
    // After a pause nothing is made up for.
    this.#due = Math.max(this.#due, now - 100) +
      1000 * steps / this.stepsPerSecond;
    const rest = this.#due - now;
    if (rest < 1) return undefined;
    return new Promise((resolve) => setTimeout(resolve, rest));
  }
}

/** Returns a function that watches the present policy in an environment of its own. */
function watcher(
  agent: Agent,
  { env, seed, wrapped }: {
    env: string;
    seed: number;
    wrapped(env: VecEnv): VecEnv;
  },
): RunCalls["watch"] {
  const one = make(env), { framesPerSecond = 30 } = one;
  const vec = wrapped(new SyncVecEnv([() => one]));
  const actor = agent.policy({ deterministic: true, numEnvs: 1, seed });
  let observations = vec.reset({ seed }), due = 0;
  return async (seconds) => {
    due = Math.min(MOST_STEPS, due + seconds * framesPerSecond);
    for (; due >= 1; due--) {
      const step = vec.step(await actor.act(observations));
      actor.observe?.(step);
      observations = step.observations;
    }
    return one.render(PICTURE);
  };
}
