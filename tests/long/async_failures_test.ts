import { AsyncTraining } from "@bellman/async";
import { selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { evaluate, train } from "@bellman/training";
import { assert, assertEquals } from "@std/assert";

Deno.test("A3C learns to balance while 100 workers die or hang", async () => {
  await selectBackend("cpu");
  const env = makeVec("CartPole-v1", { numEnvs: 10 });
  const totalTimesteps = 200_000;
  const notices: string[] = [];
  const training = await AsyncTraining.start("a3c", {
    source: {
      module: import.meta.resolve(
        "../../algorithms/async/testdata/fragile_env.ts",
      ),
      options: {
        chance: 1 / 1000,
        // No thread stops one that calculates for ever: it would take a core.
        failures: ["throw", "exit", "wait"],
      },
    },
    spaces: env,
    workers: 4,
    stepTimeoutMs: 1000,
    restarts: 1000,
    totalTimesteps,
    config: {
      maxSteps: 5,
      learningRate: 0.002,
      rmspropEpsilon: 1e-3,
      valueNetwork: "shared",
    },
    onNotice: (line) => notices.push(line),
  });
  const { step } = await train(training, undefined, { totalTimesteps });
  assertEquals([step, training.steps], [totalTimesteps, totalTimesteps]);
  assert(notices.length >= 100, `${notices.length} failures`);
  const { shared } = training.save() as { shared: { params: Float32Array } };
  assert(shared.params.every(Number.isFinite));
  const actor = training.policy({ deterministic: true, numEnvs: 10 });
  const { meanReturn } = await evaluate(actor, env, { episodes: 20, seed: 1 });
  // The order of the workers' updates is another one each time: most runs end at 500,
  // a policy that has not learned at about 10.
  assert(meanReturn >= 150, `mean return ${meanReturn}`);
  training.close();
});
