/** Time of a step through named pipes, beside that through a process's own pipes. */
import { GymnasiumVecEnv } from "./gymnasium_vec_env.ts";
import { hasGymnasium } from "./python.ts";

const STEPS = 100;
const SIZES = hasGymnasium() ? [1, 8, 64] : [];

function bench(name: string, baseline: boolean): void {
  for (const numEnvs of SIZES) {
    const env = new GymnasiumVecEnv("CartPole-v1", { numEnvs });
    env.reset({ seed: 0 });
    const actions = new Int32Array(numEnvs);
    const group = `${STEPS} steps of CartPole, ${numEnvs} at a time`;
    Deno.bench(name, { group, baseline }, () => {
      for (let i = 0; i < STEPS; i++) env.step(actions);
    });
  }
}

bench("named pipes", true);
// Named pipes are made where files may be written.
Deno.permissions.revokeSync({ name: "write" });
bench("the process's own pipes", false);
