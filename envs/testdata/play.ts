import type { Batch, Env, VecEnv } from "@bellman/types";
import { SeededRandom } from "../random.ts";
import {
  allocateBatch,
  cloneBatch,
  readRow,
  writeRow,
} from "../spaces/batch.ts";
import { sample } from "../spaces/values.ts";

/** Actions of all copies, drawn from a stream. */
export function randomActions(env: VecEnv, random: SeededRandom): Batch {
  const batch = allocateBatch(env.actionSpace, env.numEnvs);
  for (let row = 0; row < env.numEnvs; row++) {
    writeRow(env.actionSpace, sample(env.actionSpace, random), { batch, row });
  }
  return batch;
}

/** All that came of stepping with random actions, copied. */
export function playVec(env: VecEnv, steps: number, seed = 0): unknown[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: steps }, () => {
    const step = env.step(randomActions(env, random));
    // Of the final observations, the rows that did not end are stale.
    const ended = [...step.terminated.keys()]
      .filter((row) => step.terminated[row] || step.truncated[row]);
    return {
      observations: cloneBatch(step.observations),
      rewards: step.rewards.slice(),
      terminated: step.terminated.slice(),
      truncated: step.truncated.slice(),
      finalObservations: ended.map((row) =>
        readRow(env.observationSpace, { batch: step.finalObservations, row })
      ),
      episodes: [...step.episodes ?? []],
    };
  });
}

/** All that came of stepping with random actions, resetting at ends. */
export function playEnv(env: Env, steps: number, seed = 0): unknown[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: steps }, () => {
    const result = env.step(sample(env.actionSpace, random));
    const ended = result.terminated || result.truncated;
    return [result, ended ? env.reset() : null];
  });
}
