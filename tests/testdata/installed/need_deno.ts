/** Asks for what needs Deno, and prints what is said about it. */
import { openXla } from "@bellman/compute/xla";
import { installXla } from "@bellman/compute/xla/install";
import { make } from "@bellman/envs";
import { AtariVecEnv, isAtariInstalled } from "@bellman/envs/atari";
import { GymnasiumVecEnv, hasGymnasium } from "@bellman/envs/gymnasium";
import "@bellman/envs/mujoco";
import { SubprocessVecEnv } from "@bellman/envs/workers";
import process from "node:process";

const say = (line: unknown) => process.stdout.write(`${line}\n`);
const numEnvs = 1;
const hopper = (engine: string) => () =>
  make("Hopper-v5", { kwargs: { engine } });
for (
  const ask of [
    openXla,
    () => new SubprocessVecEnv("CartPole-v1", { numEnvs }),
    () => new GymnasiumVecEnv("CartPole-v1", { numEnvs }),
    () => new AtariVecEnv("pong", { numEnvs }),
    hopper("native"),
    hopper("auto"),
  ]
) {
  try {
    say(ask());
  } catch (error) {
    say(error);
  }
}
say([isAtariInstalled(), hasGymnasium()]);
say(await installXla([], { log: say, error: say }));
