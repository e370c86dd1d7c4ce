// deno-lint-ignore-file no-console -- a program that prints
/** Steps a second of A3C on CartPole-v1 by workers, everything included. */
import { AsyncTraining } from "@bellman/async";
import { selectBackend } from "@bellman/compute";
import { makeVec } from "@bellman/envs";

const { workers, warmup, steps } = JSON.parse(Deno.args[0]);

await selectBackend("cpu");
const training = await AsyncTraining.start("a3c", {
  source: "CartPole-v1",
  spaces: makeVec("CartPole-v1", { numEnvs: 1 }),
  workers,
  totalTimesteps: warmup + steps,
  config: { maxSteps: 5, valueNetwork: "shared" },
});
const run = (count: number): number => {
  const start = performance.now();
  const end = training.steps + count;
  while (training.steps < end) training.advance(500);
  return (performance.now() - start) / 1000;
};
run(warmup);
console.log(steps / run(steps));
training.close();
