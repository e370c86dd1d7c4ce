/** An identity environment that refuses actions which its masks forbid. */
import { make, SyncVecEnv } from "@bellman/envs";
import type { Env, VecEnv } from "@bellman/types";

function strict(kwargs: Record<string, unknown>): Env {
  const env = make("Identity-v0", { kwargs }), step = env.step.bind(env);
  return Object.assign(env, {
    step(action: number) {
      if (env.actionMasks!()[action] === 1) return step(action);
      throw new Error(`action ${action} is forbidden`);
    },
  });
}

interface MaskedOptions {
  readonly kwargs: Record<string, unknown>;
}

export default ({ kwargs }: MaskedOptions): VecEnv =>
  new SyncVecEnv([() => strict(kwargs)]);
