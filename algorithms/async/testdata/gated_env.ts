/** CartPole with a first host that fails while a file exists; the next one waits until it is gone. */
import { make, SyncVecEnv } from "@bellman/envs";
import type { GroupOptions } from "@bellman/envs/workers";
import type { VecEnv } from "@bellman/types";

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

export default ({ gate, first }: GroupOptions & { gate: string }): VecEnv => {
  const env = make("CartPole-v1"), step = env.step.bind(env);
  if (first > 0) return new SyncVecEnv([() => env]);
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  while (exists(gate)) Atomics.wait(sleeper, 0, 0, 5);
  return new SyncVecEnv([() =>
    Object.assign(env, {
      step(action: number) {
        if (exists(gate)) throw new Error("the gate is shut");
        return step(action);
      },
    })]);
};
