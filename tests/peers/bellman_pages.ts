// deno-lint-ignore-file no-console -- a program that prints
/**
 * Rounds of worlds in one page beside those of one process, in blocks that take turns:
 * the best and the median block of each, in microseconds.
 */
import { PageVecEnv } from "@bellman/envs/pages";
import { SubprocessVecEnv } from "@bellman/envs/workers";
import type { VecEnv } from "@bellman/types";
import { bundle, servePage } from "../../envs/pages/testdata/page_server.ts";

const BLOCKS = 60, ROUNDS = 100, WARM_UP = 20;

const gameOf = (name: string) =>
  bundle(new URL(`../../envs/pages/testdata/${name}.ts`, import.meta.url));

/** Times blocks of rounds of several environments, which take turns. */
function roundsOf(envs: Record<string, VecEnv>): Record<string, number> {
  const times: Record<string, number[]> = {};
  const actions = new Map<string, Int32Array>();
  for (const [name, env] of Object.entries(envs)) {
    env.reset({ seed: 0 });
    times[name] = [];
    // Every other cart is pushed the other way.
    actions.set(
      name,
      Int32Array.from({ length: env.numEnvs }, (_, i) => i % 2),
    );
  }
  for (let block = -WARM_UP; block < BLOCKS; block++) {
    for (const [name, env] of Object.entries(envs)) {
      const from = performance.now();
      for (let i = 0; i < ROUNDS; i++) env.step(actions.get(name)!);
      const us = 1_000 * (performance.now() - from) / ROUNDS;
      if (block >= 0) times[name].push(us);
    }
  }
  const figures: Record<string, number> = {};
  for (const [name, all] of Object.entries(times)) {
    all.sort((a, b) => a - b);
    figures[name] = all[0];
    figures[`${name} median`] = all[all.length >> 1];
    envs[name].close();
  }
  return figures;
}

const id = "CartPole-v1";
await using carts = await servePage(await gameOf("own_game"));
await using frames = await servePage(await gameOf("frames_game"));
const page = (numEnvs: number) =>
  new PageVecEnv(`page:${carts.url}`, { numEnvs, kwargs: { id } });
const figures: Record<string, number> = {};
for (const numEnvs of [1, 16, 64]) {
  const sides = {
    [`page ${numEnvs}`]: page(numEnvs),
    [`process ${numEnvs}`]: new SubprocessVecEnv(id, { numEnvs, processes: 1 }),
  };
  Object.assign(figures, roundsOf(sides));
}
const drawn = roundsOf({
  frames: new PageVecEnv(`page:${frames.url}`, { numEnvs: 64 }),
});
figures["steps 16"] = 16e6 / figures["page 16"];
figures["steps 64"] = 64e6 / figures["page 64"];
figures["frames"] = 64e6 / drawn.frames;
console.log(JSON.stringify(figures));
