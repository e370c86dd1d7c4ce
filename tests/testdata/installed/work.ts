/** Steps environments in workers, and trains with asynchronous ones. */
import { AsyncTraining } from "@bellman/async";
import { selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";
import { WorkerVecEnv } from "@bellman/envs/workers";
import { evaluate, train } from "@bellman/training";
import process from "node:process";

const say = (line: string) => process.stdout.write(`${line}\n`);

const id = "CartPole-v1";
const hosted = new WorkerVecEnv(id, { numEnvs: 4, workers: 2 });
hosted.reset({ seed: 1 });
for (let i = 0; i < 100; i++) hosted.step(Int32Array.of(0, 1, 0, 1));
say(String(hosted.observations()));
hosted.close();

await selectBackend("cpu");
const env = makeVec(id, { numEnvs: 1 });
for (const engine of ["eager", "onnx"] as const) {
  for (const method of ["a3c", "async-q"]) {
    const training = await AsyncTraining.start(method, {
      source: id,
      spaces: env,
      workers: 2,
      totalTimesteps: 2000,
      engine,
      // The workers take turns, so that the same comes of it each time.
      config: { workerOrder: "fixed", hiddenSizes: [16] },
    });
    await train(training, undefined, { totalTimesteps: 2000 });
    const { meanReturn } = await evaluate(training.policy(), env, { seed: 2 });
    say(`${method} on ${engine}: ${training.steps} steps, ${meanReturn}`);
    training.close();
  }
}
