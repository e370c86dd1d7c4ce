/** Time of a step through a process of Python. */
import { GymnasiumVecEnv } from "./gymnasium_vec_env.ts";
import { hasGymnasium } from "./python.ts";

const STEPS = 100;

for (const numEnvs of hasGymnasium() ? [1, 8, 64] : []) {
  const env = new GymnasiumVecEnv("CartPole-v1", { numEnvs });
  env.reset({ seed: 0 });
  const actions = new Int32Array(numEnvs);
  Deno.bench(`${STEPS} steps of CartPole, ${numEnvs} at a time`, () => {
    for (let i = 0; i < STEPS; i++) env.step(actions);
  });
}
