/** CartPole whose steps take a while and are counted in a file, a line each. */
import { makeVec } from "@bellman/envs";
import type { VecEnv } from "@bellman/types";

/** What the environments of a group do. */
export interface Counted {
  numEnvs: number;
  /** Milliseconds of sleep a step. */
  ms: number;
  /** File of the lines, of all groups. */
  trace: string;
}

const cell = new Int32Array(new SharedArrayBuffer(4));
const LINE = new TextEncoder().encode("step\n");

export default function make({ numEnvs, ms, trace }: Counted): VecEnv {
  const env = makeVec("CartPole-v1", { numEnvs, recordEpisodes: false });
  const file = Deno.openSync(trace, { append: true });
  const step = env.step.bind(env);
  env.step = (actions) => {
    Atomics.wait(cell, 0, 0, ms);
    const result = step(actions);
    file.writeSync(LINE);
    return result;
  };
  return env;
}
