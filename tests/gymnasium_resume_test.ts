import { A2C } from "@bellman/a2c";
import { selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { hasGymnasium, registerGymnasium } from "@bellman/envs/gymnasium";
import { CheckpointStore, train } from "@bellman/training";
import type { StateTree } from "@bellman/types";
import { assert, assertEquals } from "@std/assert";

const STEPS = 1200;

/** Trains from the start, or goes on from a checkpoint, in a new process. */
async function run(
  { steps, store, resume = false }: {
    steps: number;
    store?: CheckpointStore;
    resume?: boolean;
  },
): Promise<StateTree> {
  const env = makeVec(registerGymnasium("CartPole-v1"), { numEnvs: 4 });
  const agent = new A2C(env, { totalTimesteps: STEPS, seed: 1 });
  await train(agent, env, {
    totalTimesteps: steps,
    seed: 1,
    checkpoints: store && { store },
    resumeFrom: resume ? store!.load("latest").state : undefined,
  });
  const state = agent.save();
  agent.close();
  env.close();
  return state;
}

Deno.test(
  "a run over the bridge to Gymnasium resumes bit for bit [Gymnasium]",
  {
    ignore: !hasGymnasium(),
  },
  async () => {
    await selectBackend("wasm");
    const folder = await Deno.makeTempDir();
    const store = new CheckpointStore(folder);
    await run({ steps: STEPS / 2, store });
    const resumed = await run({ steps: STEPS, store, resume: true });
    const straight = await run({ steps: STEPS });
    assert(Object.keys(straight as object).length > 0);
    assertEquals(resumed, straight);
    await Deno.remove(folder, { recursive: true });
  },
);
