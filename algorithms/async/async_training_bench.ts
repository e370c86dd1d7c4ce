/**
 * Steps of A3C by two workers and by one: the ratio says how far two cores go. With as
 * many idle cores as workers, it is the scaling of one machine. And the parts that
 * a model of more workers is made of: a push alone, which is all that workers share.
 */
import { selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import type { VecEnv } from "@bellman/types";
import { AsyncTraining, type AsyncTrainingOptions } from "./async_training.ts";
import { SharedParameters } from "./parameter_server.ts";

await selectBackend("cpu");

interface Task {
  readonly name: string;
  readonly env: VecEnv;
  readonly steps: number;
  readonly source: AsyncTrainingOptions["source"];
  readonly config?: AsyncTrainingOptions["config"];
}

const tasks: Task[] = [{
  name: "CartPole-v1, mlp 64-64",
  env: makeVec("CartPole-v1", { numEnvs: 1 }),
  steps: 4000,
  source: "CartPole-v1",
}];
try {
  await import("@bellman/envs/atari");
  const id = "ALE/Pong-v5", kwargs = { preprocessing: "baselines" };
  tasks.push({
    name: "ALE/Pong-v5, cnn, windows of 20 steps",
    env: makeVec(id, { numEnvs: 1, kwargs }),
    steps: 200,
    source: { id, kwargs },
    config: { network: "cnn", maxSteps: 20 },
  });
} catch {
  // The Arcade Learning Environment is not installed.
}

for (const { name, env, steps, source, config } of tasks) {
  for (const workers of [2, 1]) {
    Deno.bench({
      name: workers === 2 ? "two workers" : "one worker",
      group: `${steps} steps of A3C on ${name}`,
      baseline: workers === 2,
      n: 10,
      warmup: 2,
      fn: async (b) => {
        const training = await trainingOf(workers);
        b.start();
        training.advance(steps);
        b.end();
      },
    });
    const started = new Map<number, Promise<AsyncTraining>>();
    const trainingOf = (workers: number): Promise<AsyncTraining> => {
      const training = started.get(workers) ?? AsyncTraining.start("a3c", {
        source,
        spaces: env,
        workers,
        config: { ...config, stepsPerStop: steps },
      });
      started.set(workers, training);
      return training;
    };
  }
}

for (const [name, size] of [["mlp 64-64", 4675], ["cnn", 1_687_719]] as const) {
  const server = SharedParameters.from(new Float32Array(size), {
    optimizer: "shared_rmsprop",
    decay: 0.99,
    rmspropEpsilon: 0.1,
    workers: 1,
  }).connect(0);
  const gradient = new Float32Array(size).fill(0.1);
  const params = new Float32Array(size);
  Deno.bench(`push and pull, ${name}`, () => {
    server.push(gradient, 1e-3);
    server.pull(params, "params");
  });
}
