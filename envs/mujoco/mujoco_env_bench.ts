import { SeededRandom } from "../random.ts";
import { TASKS } from "./tasks/tasks.ts";
import { isMujocoInstalled, type MujocoTaskName, MujocoVecEnv } from "./mod.ts";

const COPIES = 16;
const BATCHES = 32;

for (const name of Object.keys(TASKS) as MujocoTaskName[]) {
  if (!isMujocoInstalled()) break;
  const env = new MujocoVecEnv(name, {
    numEnvs: COPIES,
    maxEpisodeSteps: 1000,
  });
  const size = COPIES * env.actionSpace.shape[0];
  const random = new SeededRandom(0);
  const actions = Array.from(
    { length: BATCHES },
    () => Float32Array.from({ length: size }, () => random.uniform(-1, 1)),
  );
  let turn = 0;
  env.reset({ seed: 0 });
  Deno.bench(`${name}, step of ${COPIES} copies`, () => {
    env.step(actions[turn++ % BATCHES]);
  });
}
