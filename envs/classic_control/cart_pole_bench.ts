import type { VecEnv } from "@bellman/types";
import { SyncVecEnv } from "../sync_vec_env.ts";
import { TimeLimit } from "../wrappers/time_limit.ts";
import { CART_POLE } from "./cart_pole.ts";
import { DynamicsEnv, DynamicsVecEnv } from "./dynamics.ts";

const STEPS = 1000;
const ENVS = 16;

const actions = Array.from(
  { length: 64 },
  (_, t) => Int32Array.from({ length: ENVS }, (_, i) => (t * 7 + i * 3) & 1),
);

function run(env: VecEnv, steps: number): void {
  for (let t = 0; t < steps; t++) env.step(actions[t & 63]);
}

const batched = new DynamicsVecEnv(CART_POLE, {
  numEnvs: ENVS,
  maxEpisodeSteps: 500,
});
batched.reset({ seed: 0 });
const single = () => new TimeLimit(new DynamicsEnv(CART_POLE), 500);
const sync = new SyncVecEnv(Array.from({ length: ENVS }, () => single));
sync.reset({ seed: 0 });

const group = "CartPole, 16000 steps (16 environments, resets included)";

Deno.bench("batched", { group, baseline: true }, () => run(batched, STEPS));
Deno.bench("one after the other", { group }, () => run(sync, STEPS));

/** Steps a second and bytes of heap a step, over a million steps. */
function report(): string {
  const rounds = 1_000_000 / ENVS;
  run(batched, rounds);
  const heap = Deno.memoryUsage().heapUsed, start = performance.now();
  run(batched, rounds);
  const seconds = (performance.now() - start) / 1000;
  const grown = Deno.memoryUsage().heapUsed - heap;
  const rate = (1 / seconds).toFixed(1);
  return `CartPole, ${ENVS} environments on one core: ${rate} million steps a second; ` +
    `the heap grew by ${(grown / 1024).toFixed(0)} KiB in a million steps`;
}

// deno-lint-ignore no-console
console.log(report());
