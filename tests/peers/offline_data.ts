// deno-lint-ignore-file no-console -- a program that prints
/**
 * Writes recorded episodes of weak and strong agents, for offline_learning.ts:
 *
 *     deno run -A tests/peers/offline_data.ts NAME FOLDER
 *
 * NAME is CartPole-v1, Pendulum-v1 or HalfCheetah-v5. Agents of the middle are trained
 * first, which takes some minutes for HalfCheetah.
 */
import { openDataset, writeMinari } from "@bellman/buffers/datasets";
import { RandomStream } from "@bellman/compute";
import { make, Recorder, sample } from "@bellman/envs";
import "@bellman/envs/mujoco";
import { findAgent, recordRuns } from "@bellman/runs/training";

/** Episodes of random actions, and of an agent each. */
interface Mixture {
  readonly random: number;
  /** Episodes of agents of the zoo. */
  readonly zoo: Readonly<Record<string, number>>;
  /** Episodes of agents that SAC trains so many steps. */
  readonly trained?: Readonly<Record<number, number>>;
  /** Settings of this training. */
  readonly settings?: readonly string[];
}

const MIXTURES: Readonly<Record<string, Mixture>> = {
  "CartPole-v1": { random: 200, zoo: { "zoo:a2c/CartPole-v1": 10 } },
  "Pendulum-v1": {
    random: 30,
    trained: { 1000: 17, 2000: 17 },
    zoo: { "zoo:sac/Pendulum-v1": 16 },
  },
  "HalfCheetah-v5": {
    random: 5,
    trained: { 30_000: 30 },
    settings: ["method=crossq"],
    zoo: { "zoo:sac/HalfCheetah-v5": 5 },
  },
};

/** Trains SAC and returns its run folder. */
async function trainSac(
  id: string,
  steps: number,
  settings: readonly string[] = [],
): Promise<string> {
  const out = `${await Deno.makeTempDir()}/run`;
  const options = settings.flatMap((it) => ["--set", it]);
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "-q", "train", "sac", "--env", id, "--steps", `${steps}`]
      .concat(["--seed", "11", "--quiet", "--out", out], options),
  }).spawn().status;
  if (!success) throw new Error(`Cannot train SAC on ${id} for ${steps} steps`);
  return out;
}

const [id, out] = Deno.args;
const { random, zoo, trained = {}, settings } = MIXTURES[id];
const env = new Recorder(make(id));
const chance = new RandomStream(1);
for (let i = 0; i < random; i++) {
  env.reset({ seed: 1000 + i });
  for (let ended = false; !ended;) {
    const step = env.step(sample(env.actionSpace, chance) as never);
    ended = step.terminated || step.truncated;
  }
}
await writeMinari(out, env.episodes, {
  observationSpace: env.observationSpace,
  actionSpace: env.actionSpace,
});
const agents = Object.entries(zoo);
for (const [steps, episodes] of Object.entries(trained)) {
  agents.push([await trainSac(id, Number(steps), settings), episodes]);
}
for (const [dir, episodes] of agents) {
  const agent = findAgent(dir, { command: "record", checkpoint: "latest" });
  const options = { out, episodes, append: true };
  const { summary } = await recordRuns([agent], options);
  console.log(`${dir}: ${summary}`);
}
const { numEpisodes, meanReturn, bestReturn } = await openDataset(out, {
  holdout: 0,
});
console.log(JSON.stringify({ numEpisodes, meanReturn, bestReturn }));
