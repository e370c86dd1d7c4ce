/** Folders of recorded episodes of random actions, by the environment. */
import { writeMinari } from "@bellman/buffers/datasets";
import { make, Recorder, sample, SeededRandom } from "@bellman/envs";

const root = await Deno.makeTempDir({ prefix: "bellman-recorded-" });
addEventListener("unload", () => Deno.removeSync(root, { recursive: true }));

async function record(id: string): Promise<string> {
  const env = new Recorder(make(id)), random = new SeededRandom(1);
  const { observationSpace, actionSpace } = env;
  for (let seed = 0; seed < 12; seed++) {
    env.reset({ seed });
    for (let ended = false; !ended;) {
      const step = env.step(sample(actionSpace, random) as never);
      ended = step.terminated || step.truncated;
    }
  }
  const folder = `${root}/${id}`;
  await writeMinari(folder, env.episodes, { observationSpace, actionSpace });
  return folder;
}

/** Recorded episodes of discrete actions, and of box actions. */
export const RECORDED = {
  discrete: await record("CartPole-v1"),
  box: await record("Pendulum-v1"),
};
