/** CartPole with a host that fails at random: it throws, exits, is killed, waits or computes forever. */
import { make, SeededRandom, SyncVecEnv } from "@bellman/envs";
import type { GroupOptions } from "@bellman/envs/workers";
import type { Env, VecEnv } from "@bellman/types";

type Failure = "throw" | "exit" | "kill" | "wait" | "spin";

interface FragileOptions {
  /** Chance that a step fails. */
  readonly chance: number;
  readonly failures: readonly Failure[];
  /** Number of the first worker whose host fails; all do without one. */
  readonly from?: number;
}

function fail(failure: Failure): void {
  switch (failure) {
    case "throw":
      throw new Error("the pole broke");
    case "exit":
      return Deno.exit();
    case "kill":
      // In a process of its own.
      return Deno.kill(Deno.pid, "SIGKILL");
    case "wait":
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      return;
    case "spin":
      for (;;);
  }
}

function fragile({ chance, failures }: FragileOptions): Env {
  const env = make("CartPole-v1");
  const reset = env.reset.bind(env), step = env.step.bind(env);
  let random = new SeededRandom(0);
  return Object.assign(env, {
    reset(options?: { seed?: number }) {
      if (options?.seed !== undefined) random = new SeededRandom(options.seed);
      return reset(options);
    },
    step(action: number) {
      if (random.uniform() < chance) {
        fail(failures[random.integer(failures.length)]);
      }
      return step(action);
    },
  });
}

export default (
  { first, from = 0, chance, ...options }: FragileOptions & GroupOptions,
): VecEnv => {
  const own = first < from ? 0 : chance;
  return new SyncVecEnv([() => fragile({ ...options, chance: own })]);
};
