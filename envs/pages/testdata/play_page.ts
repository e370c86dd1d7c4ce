// deno-lint-ignore-file no-console -- a program that prints
/** Plays games of an id until it is killed. */
import { PageVecEnv, type PageVecEnvOptions } from "../mod.ts";

const [id, options] = Deno.args;
const env = new PageVecEnv(id, JSON.parse(options) as PageVecEnvOptions);
env.reset({ seed: 0 });
console.log(JSON.stringify(env.pids()));
for (;;) {
  env.step(new Int32Array(env.numEnvs).fill(1));
  await new Promise((resolve) => setTimeout(resolve, 10));
}
