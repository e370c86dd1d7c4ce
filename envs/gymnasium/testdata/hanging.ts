/** Waits for a step that never ends, after one line; its argument says how. */
import { GymnasiumEnv } from "../gymnasium_env.ts";
import { PYTHON } from "./python.ts";

const env = new GymnasiumEnv("odd_envs:odd/Counter-v1", {
  python: PYTHON,
  kwargs: { odd: Deno.args[0] },
});
env.reset({ seed: 0 });
env.step(0);
env.step(0);
await Deno.stdout.write(new TextEncoder().encode("begun\n"));
env.step(1);
