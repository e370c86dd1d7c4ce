import type { Batch, Env, VecEnv } from "@bellman/types";
import { SeededRandom } from "../random.ts";
import {
  allocateBatch,
  cloneBatch,
  readRow,
  writeRow,
} from "../spaces/batch.ts";
import { sample } from "../spaces/values.ts";

/** Allowed actions of all copies, drawn from a stream. */
export function randomActions<A extends Batch>(
  env: VecEnv<Batch, A>,
  random: SeededRandom,
): A {
  const { actionSpace, numEnvs, actionMasks } = env;
  const batch = allocateBatch(actionSpace, numEnvs);
  const size = (actionMasks?.length ?? 0) / numEnvs;
  for (let row = 0; row < numEnvs; row++) {
    const masks = actionMasks?.subarray(row * size, (row + 1) * size);
    writeRow(actionSpace, sample(actionSpace, random, masks), { batch, row });
  }
  return batch as A;
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
      ...step.actionMasks && {
        actionMasks: step.actionMasks.slice(),
        finalActionMasks: ended.map((row) => {
          const size = step.finalActionMasks!.length / env.numEnvs;
          return step.finalActionMasks!.slice(row * size, (row + 1) * size);
        }),
      },
      episodes: [...step.episodes ?? []],
    };
  });
}

/** All that came of stepping with random actions, resetting at ends. */
export function playEnv(env: Env, steps: number, seed = 0): unknown[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: steps }, () => {
    const result = env.step(
      sample(env.actionSpace, random, env.actionMasks?.()),
    );
    const ended = result.terminated || result.truncated;
    return [result, ended ? env.reset() : null];
  });
}
