/** Training in workers and processes resumes bit for bit, restarts included. */
import { A2C } from "@bellman/a2c";
import { selectBackend } from "@bellman/compute";
import {
  type AsyncVecEnv,
  SubprocessVecEnv,
  WorkerVecEnv,
} from "@bellman/envs/workers";
import { CheckpointStore, train } from "@bellman/training";
import type { StateTree } from "@bellman/types";
import { assert, assertEquals } from "@std/assert";

/** Environments that throw now and then. */
const SOURCE = {
  module: import.meta.resolve("./crashing_cart_pole.ts"),
  options: { chances: { throw: 0.002 } },
};
const TOTAL = 3_000;

const KINDS: Record<string, (onRestart: () => void) => AsyncVecEnv> = {
  workers: (onRestart) =>
    new WorkerVecEnv(SOURCE, { numEnvs: 6, workers: 2, onRestart }),
  processes: (onRestart) =>
    new SubprocessVecEnv(SOURCE, { numEnvs: 6, processes: 2, onRestart }),
};

for (const [name, make] of Object.entries(KINDS)) {
  Deno.test(`a run in ${name} that is resumed is the whole run`, async () => {
    await selectBackend("wasm");
    const folder = Deno.makeTempDirSync();
    let restarts = 0;
    const run = async (
      part: string,
      { steps, resume }: { steps: number; resume: boolean },
    ): Promise<StateTree> => {
      const env = make(() => restarts++);
      const agent = new A2C(env, {
        config: { hiddenSizes: [8] },
        totalTimesteps: TOTAL,
      });
      const store = new CheckpointStore(`${folder}/${part}`);
      try {
        await train(agent, env, {
          totalTimesteps: steps,
          seed: 3,
          checkpoints: { store },
          resumeFrom: resume ? store.load("latest").state : undefined,
        });
        return agent.save();
      } finally {
        agent.close();
        env.close();
      }
    };
    try {
      const whole = await run("whole", { steps: TOTAL, resume: false });
      assert(restarts > 2);
      const inOneGo = restarts;
      restarts = 0;
      await run("parts", { steps: 1_500, resume: false });
      const last = await run("parts", { steps: TOTAL, resume: true });
      assertEquals(last, whole);
      assertEquals(restarts, inOneGo);
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  });
}
