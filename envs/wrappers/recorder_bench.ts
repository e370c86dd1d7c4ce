import type { VecEnv } from "@bellman/types";
import { makeVec, Recorder } from "../mod.ts";

const STEPS = 1000;
const ENVS = 8;

const actions = Array.from(
  { length: 64 },
  (_, t) => Int32Array.from({ length: ENVS }, (_, i) => (t * 7 + i * 3) & 1),
);

const bare = makeVec("CartPole-v1", { numEnvs: ENVS });
const recorder = new Recorder(makeVec("CartPole-v1", { numEnvs: ENVS }));

function run(env: VecEnv): void {
  for (let t = 0; t < STEPS; t++) env.step(actions[t & 63]);
}

bare.reset({ seed: 0 });
recorder.reset({ seed: 0 });

const group = `${STEPS} steps of ${ENVS} CartPoles`;

Deno.bench("without a recorder", { group, baseline: true }, () => run(bare));
Deno.bench("with a recorder", { group }, () => {
  run(recorder);
  recorder.episodes.length = 0;
});
